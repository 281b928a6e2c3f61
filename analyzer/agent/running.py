"""A tool while it runs: in a task or in a thread, and how it is stopped.

A task is stopped by cancelling it, again and again if it ignores that. A thread cannot be cancelled: it is told through
its `Cancellation`, and `ToolStoppedError` is raised in it at its next Python instruction, as Ctrl-C is in the main thread. What
is inside a blocking call that nothing wakes (`time.sleep(60)`, a C library) goes on until that call returns and ends
there; nobody waits for it, it keeps no interpreter alive, and its result says that it was left running.
"""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, Final, NamedTuple

from analyzer.agent.functions import Cancellation
from analyzer.agent.results import error_text

_AGAIN: Final = 0.02
"""Seconds between two attempts to stop something that did not stop."""
_PATIENCE: Final = 10
"""How many attempts a tool that listens to its `Cancellation` has to end by itself."""


class ToolStoppedError(SystemExit):
    """Raised inside a tool's thread when nobody waits for it any more; no `except Exception` catches it."""


class Outcome(NamedTuple):
    """What became of a tool."""

    value: Any
    """What it returned, or the text that tells of its failure."""
    error: type[BaseException] | None = None
    """What it raised."""


class Running:
    """One tool that runs; `future` ends with its `Outcome`."""

    future: asyncio.Future[Outcome]

    def stop(self) -> None:
        """Ask it to stop; may be called again."""
        raise NotImplementedError

    @property
    def alive(self) -> bool:
        """Whether it may still do something."""
        return not self.future.done() and not self.future.get_loop().is_closed()

    def join(self) -> None:
        """Wait for what is left to do after `future` has ended: moments."""

    async def stopped(self, grace: float) -> bool:
        """Stop it; return whether it ended within `grace` seconds."""
        loop = asyncio.get_running_loop()
        end = loop.time() + grace
        while not self.future.done():
            self.stop()
            left = end - loop.time()
            if left <= 0:
                break
            await asyncio.wait({self.future}, timeout=min(left, _AGAIN))
        return self.future.done()


class RunningTask(Running):
    """A tool in a task of the event loop."""

    def __init__(self, made: Callable[[], Coroutine[Any, Any, Any]], cancellation: Cancellation) -> None:
        self._cancellation = cancellation
        self.future = asyncio.get_running_loop().create_task(_guarded(made))

    def stop(self) -> None:
        """Tell the tool, and cancel its task."""
        self._cancellation.stop()
        self.future.cancel()


async def _guarded(made: Callable[[], Coroutine[Any, Any, Any]]) -> Outcome:
    try:
        return Outcome(await made())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (a panic in a tool is its call's result)
        return Outcome(error_text(error), type(error))


class RunningThread(Running):
    """A tool in a thread of its own."""

    def __init__(
        self, job: Callable[[], Any], cancellation: Cancellation, *, interrupt: bool, listens: bool
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.future = self._loop.create_future()
        self._job = job
        self._cancellation = cancellation
        self._interrupt = interrupt and _raise_in is not None
        self._patience = _PATIENCE if listens else 0
        self._lock = Lock()
        self._inside = False
        self._context = contextvars.copy_context()
        self._thread = Thread(target=self._main, name="tool", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Tell the tool, and raise in its thread."""
        self._cancellation.stop()
        self._patience -= 1
        if self._patience >= 0:
            return
        with self._lock:
            if self._interrupt and self._inside and _raise_in is not None:
                _raise_in(self._thread.ident, ToolStoppedError)

    @property
    def alive(self) -> bool:
        """Whether the thread is there; it outlives the event loop that nobody waits in any more."""
        return self._thread.is_alive()

    def join(self) -> None:
        """Wait until the thread is gone; it has nothing left to do."""
        self._thread.join(1.0)

    def _main(self) -> None:
        """Run the tool and deliver its outcome; `ToolStoppedError` may come at any instruction until `_leave` is through."""
        outcome = Outcome("the tool was stopped", ToolStoppedError)
        try:
            try:
                self._inside = True
                outcome = self._outcome()
                self._leave()
            except BaseException:  # noqa: BLE001  (raised between the tool and here)
                self._inside = False
                self._leave()
        except BaseException:  # noqa: BLE001  (raised once more, before `_inside` was seen)
            self._leave()
        finally:
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                self._loop.call_soon_threadsafe(self._deliver, outcome)

    def _outcome(self) -> Outcome:
        try:
            return Outcome(self._context.run(self._job))
        except BaseException as error:  # noqa: BLE001  (a panic in a tool is its call's result)
            return Outcome(error_text(error), type(error))

    def _leave(self) -> None:
        """From here on nothing is raised in this thread."""
        with self._lock:
            self._inside = False
            if _raise_in is not None and self._cancellation.is_set():
                _raise_in(self._thread.ident, None)

    def _deliver(self, outcome: Outcome) -> None:
        if not self.future.done():
            self.future.set_result(outcome)


def _find_raise_in() -> Callable[[int | None, type[BaseException] | None], Any] | None:
    """What raises an exception in another thread; None on an interpreter that has no such thing."""
    function = getattr(getattr(ctypes, "pythonapi", None), "PyThreadState_SetAsyncExc", None)
    if function is None:
        return None

    def raise_in(ident: int | None, error: type[BaseException] | None) -> None:
        if ident is not None:
            function(ctypes.c_ulong(ident), None if error is None else ctypes.py_object(error))

    return raise_in


_raise_in: Final = _find_raise_in()
