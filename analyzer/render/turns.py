"""Taking turns at one renderer: while it renders for one task, another task works on what it was given.

The renderer is another process, and a task that waits for it does nothing.  So tasks that know nothing of each other run
side by side, and one hands over to the next whenever it has sent requests; when it is its turn again, the outcomes are
there, or soon will be.  Only one task runs at a time, and they change places at renders alone: everything happens in the
same order each time, and nothing the tasks share needs a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import TypeAlias, TypeVar

from analyzer.render.outcome import Outcome, RenderRequest
from analyzer.render.worker import PipelinedRenderer, Renderer

Result = TypeVar("Result")
Task: TypeAlias = Callable[[Renderer], Result]


def in_turns(renderer: Renderer, tasks: Sequence[Task[Result]]) -> list[Result]:
    """What the tasks return, in order; each is called with a renderer of its own.

    They run one after the other where ``renderer`` does not work while its caller does.  When one fails, the others end
    at their next render, and what it raised is raised.
    """
    if not isinstance(renderer, PipelinedRenderer):
        return [task(renderer) for task in tasks]
    turns = _Turns(len(tasks))
    results: dict[int, Result] = {}

    def run(number: int) -> None:
        try:
            turns.take(number)
            results[number] = tasks[number](_Seat(renderer, turns, number))
            turns.leave(number)
        except BaseException as error:  # noqa: BLE001  (raised below)
            turns.abandon(error)

    others = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(1, len(tasks))]
    for thread in others:
        thread.start()
    try:
        run(0)
        for thread in others:
            thread.join()
    except BaseException as error:  # an interrupt
        turns.abandon(error)
        raise
    if turns.error is not None:
        raise turns.error
    return [results[number] for number in range(len(tasks))]


class _Turns:
    """Whose turn it is: that of the first task, to begin with."""

    def __init__(self, count: int) -> None:
        self._gates = [threading.Semaphore(0) for _ in range(count)]
        self._present = list(range(count))
        self.error: BaseException | None = None
        """What ended them all."""
        self._gates[0].release()

    def take(self, number: int) -> None:
        """Waits for the turn of a task; raises `CancelledError` when there will be none."""
        self._gates[number].acquire()
        if self.error is not None:
            raise CancelledError

    def pass_on(self, number: int) -> None:
        """Ends the turn of a task and waits for its next one."""
        self._gates[self._next(number)].release()
        self.take(number)

    def leave(self, number: int) -> None:
        """Ends the last turn of a task."""
        following = self._next(number)
        self._present.remove(number)
        self._gates[following].release()

    def abandon(self, error: BaseException) -> None:
        """Ends all tasks because of the first error, each at its next render."""
        self.error = self.error or error
        for gate in self._gates:
            gate.release()

    def _next(self, number: int) -> int:
        at = self._present.index(number) + 1
        return self._present[at % len(self._present)]


class _Seat:
    """The renderer of one task, which hands over while it waits."""

    def __init__(self, renderer: PipelinedRenderer, turns: _Turns, number: int) -> None:
        self._renderer, self._turns, self._number = renderer, turns, number

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """See `Renderer`."""
        if not requests:
            return []
        fetch = self._renderer.submit(source, requests, mutable=mutable)
        self._turns.pass_on(self._number)
        return fetch()
