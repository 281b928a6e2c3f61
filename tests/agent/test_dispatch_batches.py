"""Any batch, cancelled or not: one result for each call, in order, and nothing is left running."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.agent import (
    Cancellation,
    Limits,
    Registry,
    ToolResult,
    dispatch,
    in_call_order,
)
from analyzer.chat import ToolCall
from tests.agent.common import call, message
from tests.agent.running import PATIENCE, threads
from tests.budget import examples


@pytest.mark.parametrize("times", [1, 5])
def test_cancelling_leaves_nothing(times: int) -> None:
    """Tasks, threads and what waits its turn are gone when the cancellation arrives, however often it is repeated."""
    tools = Registry()
    started = threading.Event()

    @tools.tool
    def thread() -> None:
        started.set()
        while True:
            time.sleep(0.001)

    @tools.tool
    async def task() -> None:
        await asyncio.sleep(60)

    @tools.tool(writer=True)
    async def writer() -> None:
        await asyncio.sleep(60)

    calls = message(*[call(name) for name in ("thread", "task", "writer", "writer", "thread")])

    async def cancel() -> None:
        batch = asyncio.ensure_future(dispatch(tools, calls, limits=Limits(grace=PATIENCE)))
        await asyncio.to_thread(started.wait, PATIENCE)
        for _ in range(times):
            batch.cancel()
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await batch
        assert threads() == []
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(cancel())

    answered = in_call_order(calls.tool_calls, [])
    assert {result.content.split(":")[0] for result in answered} == {"not run"}


BEHAVIOURS = (
    "ok",
    "raise",
    "exit",
    "unprintable",
    "huge",
    "halves",
    "sleep",
    "hang",
    "spin",
    "listen",
    "unfit",
    "unknown",
    "broken",
    "stubborn",
)


class UnprintableError(Exception):
    """Ends the program of whoever prints it."""

    def __str__(self) -> str:
        raise SystemExit


def zoo() -> Registry:
    """A tool for each way to behave, as a task and as a thread."""
    tools = Registry()

    def add(name: str, plain: Any, later: Any) -> None:
        tools.add(plain, name=f"plain_{name}")
        tools.add(later, name=f"task_{name}")
        tools.add(plain, name=f"writer_{name}", writer=True)

    def failing(error: type[BaseException]) -> tuple[Any, Any]:
        def plain(n: int) -> str:
            raise error(n)

        async def later(n: int) -> str:
            await asyncio.sleep(0)
            raise error(n)

        return plain, later

    def sleeping(seconds: float) -> tuple[Any, Any]:
        def plain(n: int) -> str:
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                time.sleep(0.001)
            return str(n)

        async def later(n: int) -> str:
            await asyncio.sleep(seconds)
            return str(n)

        return plain, later

    def huge(n: int) -> str:
        return "é" * 50_000 + str(n)

    async def huge_later(n: int) -> str:
        return huge(n)

    def halves(n: int) -> list[str]:
        return ["\ud800" * n, "\udc00"]

    async def halves_later(n: int) -> str:
        return "".join(halves(n))

    def spin(n: int) -> None:
        while True:
            n += 1

    def listen(n: int, cancel: Cancellation) -> str:
        cancel.wait(60)
        return str(n)

    def stubborn(n: int) -> None:
        for _ in range(3):
            try:
                while True:
                    time.sleep(0.001)
            except BaseException:  # noqa: BLE001, PERF203  (as stubborn as a tool can be)
                n += 1

    async def stubborn_later(n: int) -> None:
        for _ in range(3):
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:  # noqa: PERF203  (as stubborn as a tool can be)
                n += 1

    add("ok", *sleeping(0))
    add("raise", *failing(ValueError))
    add("exit", *failing(SystemExit))
    add("unprintable", *failing(UnprintableError))
    add("huge", huge, huge_later)
    add("halves", halves, halves_later)
    add("sleep", *sleeping(0.01))
    add("hang", *sleeping(60))
    add("spin", spin, sleeping(60)[1])
    add("listen", listen, sleeping(60)[1])
    add("stubborn", stubborn, stubborn_later)
    add("unfit", *sleeping(0))
    add("broken", *sleeping(0))
    return tools


ZOO = zoo()
CALLS = st.lists(
    st.tuples(st.sampled_from(["plain", "task", "writer"]), st.sampled_from(BEHAVIOURS), st.integers(0, 9)),
    max_size=7,
)


def made(index: int, kind: str, behaviour: str, number: int) -> ToolCall:
    """The call of one tool of the zoo."""
    arguments = {"unfit": '{"n": "x"}', "broken": '{"n": '}.get(behaviour, f'{{"n": {number}}}')
    return ToolCall(f"{kind}_{behaviour}", arguments, f"id{index}" if number % 3 else None)


@given(picked=CALLS, concurrent=st.integers(1, 4), cancel_after=st.none() | st.floats(0, 0.05))
@settings(max_examples=examples(40))
def test_any_batch(picked: list[tuple[str, str, int]], concurrent: int, cancel_after: float | None) -> None:
    """Any mix of tools: one result for each call, in order, in time, nothing left; cancelling leaves nothing either."""
    calls = tuple(made(index, *item) for index, item in enumerate(picked))
    limits = Limits(timeout=0.05, max_bytes=1000, concurrent=concurrent, grace=PATIENCE)

    async def batch() -> tuple[ToolResult, ...] | None:
        task = asyncio.ensure_future(dispatch(ZOO, message(*calls), limits=limits))
        if cancel_after is not None:
            await asyncio.sleep(cancel_after)
            task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            return None
        finally:
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert threads() == []

    started = time.monotonic()
    results = asyncio.run(batch())

    assert time.monotonic() - started < PATIENCE
    if results is None:
        assert cancel_after is not None
        results = in_call_order(calls, [])
    assert [(result.index, result.id, result.name) for result in results] == [
        (index, one.id, one.name) for index, one in enumerate(calls)
    ]
    assert all(len(result.content.encode()) < 1200 for result in results)
    assert not any(result.left_running for result in results)
