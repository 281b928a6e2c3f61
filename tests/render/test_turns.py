"""Tasks that take turns at a renderer: the same results as one after the other, in the same order each time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.render import (
    Fetch,
    InProcessRenderer,
    Outcome,
    Rendered,
    Renderer,
    RenderRequest,
    RenderWorker,
)
from analyzer.render.turns import in_turns
from tests.budget import examples
from tests.render.conversations import request

CONTENT = "{{ messages[0].content }}"


class Noted:
    """A renderer that notes what is sent and fetched, and by which thread."""

    def __init__(self) -> None:
        self.renderer = InProcessRenderer()
        self.log: list[str] = []
        self.threads: set[int] = set()

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """See `Renderer`."""
        return self.submit(source, requests, mutable=mutable)()

    def submit(self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False) -> Fetch:
        """See `PipelinedRenderer`."""
        names = " ".join(str(one.messages[0]["content"]) for one in requests)
        self.log.append(f"send {names}")
        self.threads.add(threading.get_ident())

        def fetch() -> list[Outcome]:
            self.log.append(f"fetch {names}")
            return self.renderer.render(source, requests, mutable=mutable)

        return fetch


def asking(name: str, count: int) -> Callable[[Renderer], list[Outcome]]:
    """A task that renders `count` texts, one after the other."""

    def task(renderer: Renderer) -> list[Outcome]:
        return [
            outcome
            for number in range(count)
            for outcome in renderer.render(CONTENT, [request(f"{name}{number}")])
        ]

    return task


@given(counts=st.lists(st.integers(0, 5), min_size=1, max_size=4))
@settings(max_examples=examples(60))
def test_results_are_those_of_one_task_after_the_other(counts: list[int]) -> None:
    """Whatever the tasks ask, each gets its own outcomes, and everything that is sent is fetched."""
    tasks = [asking("abcd"[number], count) for number, count in enumerate(counts)]
    noted = Noted()

    assert in_turns(InProcessRenderer(), tasks) == in_turns(noted, tasks)
    assert sorted(one.removeprefix("send ") for one in noted.log if one.startswith("send")) == sorted(
        one.removeprefix("fetch ") for one in noted.log if one.startswith("fetch")
    )


def test_while_one_waits_another_one_works() -> None:
    """A task hands over between sending and fetching, and goes on alone when it is the last."""
    noted = Noted()

    in_turns(noted, [asking("a", 1), asking("b", 3)])

    expected = ["send a0", "send b0", "fetch a0", "fetch b0", "send b1", "fetch b1", "send b2", "fetch b2"]
    assert expected == noted.log
    assert len(noted.threads) == 2


def test_a_worker_renders_for_both() -> None:
    """The same with the real process."""
    with RenderWorker() as worker:
        found = in_turns(worker, [asking("a", 4), asking("b", 2)])

    assert [[Rendered(f"a{n}") for n in range(4)], [Rendered(f"b{n}") for n in range(2)]] == found


@pytest.mark.parametrize("failing", [0, 1])
def test_when_one_fails_the_others_end(failing: int) -> None:
    """What one raises is raised, and no other task renders any more."""
    noted = Noted()

    def fails(renderer: Renderer) -> list[Outcome]:
        renderer.render(CONTENT, [request("x")])
        raise LookupError("no")

    tasks = [asking("a", 9), asking("b", 9)]
    tasks[failing] = fails
    before = threading.active_count()

    with pytest.raises(LookupError, match="no"):
        in_turns(noted, tasks)

    assert sum(one.startswith("send") for one in noted.log) <= 3
    assert before == threading.active_count()


def test_an_interrupt_ends_them_all() -> None:
    """Ctrl-C in one task is no different from a failure."""

    def interrupted(_: Renderer) -> list[Outcome]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_turns(Noted(), [interrupted, asking("b", 9)])
