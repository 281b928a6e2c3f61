"""Time limits, what a blocking call can be told, and calls that are left behind."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress

import pytest

from analyzer.agent import (
    Cancellation,
    Limits,
    Registry,
    ToolResult,
    dispatch,
    run,
)
from tests.agent.common import call, message
from tests.agent.running import PATIENCE, join, threads, weather


def test_timeouts_are_answers() -> None:
    """A task, a thread that runs Python and a thread that listens are stopped; the text says what to try."""
    tools = Registry()
    ended: list[str] = []

    @tools.tool
    async def task() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("task")

    @tools.tool
    def busy() -> None:
        try:
            while True:
                time.sleep(0.001)
        finally:
            ended.append("busy")

    @tools.tool
    def listens(cancel: Cancellation) -> None:
        cancel.wait(60)
        ended.append("listens")

    limits = Limits(timeout=0.1, grace=PATIENCE)
    results = run(tools, message(call("task"), call("busy"), call("listens")), limits=limits)

    assert [(r.status, r.content, r.left_running) for r in results] == [
        ("timed_out", "timed out after 0.1 s, try a narrower query", False)
    ] * 3
    assert sorted(ended) == ["busy", "listens", "task"]
    assert Limits().timeout == 30


def test_a_tool_may_have_a_timeout_of_its_own() -> None:
    """It counts, whatever the batch allows."""
    tools = Registry()

    @tools.tool(timeout=0.05)
    async def slow() -> None:
        await asyncio.sleep(60)

    [result] = run(tools, message(call("slow")))

    assert result.content == "timed out after 0.05 s, try a narrower query"


def test_a_blocking_call_is_left_and_said_so() -> None:
    """Nothing ends a call into the system; the answer does not wait for it."""
    tools = Registry()
    held = threading.Event()
    tools.add(lambda: held.wait(PATIENCE), name="blocks", parameters={})
    [result] = run(tools, message(call("blocks")), limits=Limits(timeout=0.05, grace=0.05))
    running = len(threads())
    held.set()

    assert (result.status, result.left_running, running) == ("timed_out", True, 1)


def test_what_ends_a_blocking_call_can_be_given() -> None:
    """A hook wakes the tool."""
    tools = Registry()

    @tools.tool
    def blocks(cancel: Cancellation) -> None:
        lock = threading.Event()
        cancel.on_stop(lock.set)
        lock.wait(60)

    [result] = run(tools, message(call("blocks")), limits=Limits(timeout=0.05, grace=PATIENCE))

    assert (result.status, result.left_running) == ("timed_out", False)


def test_no_writer_starts_beside_one_that_cannot_be_stopped() -> None:
    """It is skipped, and answered."""
    tools = Registry()
    held = threading.Event()
    tools.add(lambda: held.wait(PATIENCE), name="stuck", parameters={}, writer=True, timeout=0.05)
    tools.add(lambda: "done", name="write", parameters={}, writer=True)
    tools.add(lambda: "read", name="read", parameters={})
    limits = Limits(timeout=PATIENCE, grace=0.05)
    stuck, write, read = run(tools, message(call("stuck"), call("write"), call("read")), limits=limits)

    assert stuck.content.startswith("timed out after 0.05 s; it may have taken effect")
    assert (write.status, read.content) == ("skipped", "read")
    assert "still running" in write.content
    held.set()
    join()
    assert run(tools, message(call("write")))[0].content == "done"


def test_a_writer_left_by_a_cancelled_batch_counts_too() -> None:
    """The next batch does not write beside it."""
    tools = Registry()
    started = threading.Event()
    held = threading.Event()

    @tools.tool(writer=True)
    def stuck() -> None:
        started.set()
        held.wait(PATIENCE)

    tools.add(lambda: "done", name="write", parameters={}, writer=True)
    limits = Limits(grace=0.05)

    async def cancelled() -> ToolResult:
        batch = asyncio.ensure_future(dispatch(tools, message(call("stuck")), limits=limits))
        await asyncio.to_thread(started.wait, PATIENCE)
        batch.cancel()
        with suppress(asyncio.CancelledError):
            await batch
        return (await dispatch(tools, message(call("write"))))[0]

    written = asyncio.run(cancelled())
    held.set()

    assert written.status == "skipped"


def test_no_thread_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call is answered, the others go on."""
    tools = weather()

    @tools.tool
    async def task() -> str:
        return "fine"

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    first, second = run(tools, message(call("get_weather", city="Oslo"), call("task")))

    assert (first.status, second.content) == ("skipped", "fine")


def test_an_async_tool_is_told_too() -> None:
    """Its `Cancellation` is set when its task is cancelled."""
    tools = Registry()
    seen: list[bool] = []

    @tools.tool
    async def task(cancel: Cancellation) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            seen.append(cancel.is_set())

    run(tools, message(call("task")), limits=Limits(timeout=0.02))

    assert seen == [True]


def test_threads_are_only_told_where_raising_is_off() -> None:
    """A tool that must not be interrupted ends when it looks."""
    tools = Registry()
    ended: list[str] = []

    @tools.tool
    def careful(cancel: Cancellation) -> None:
        cancel.wait(PATIENCE)
        ended.append("whole")

    [result] = run(
        tools, message(call("careful")), limits=Limits(timeout=0.02, grace=PATIENCE, interrupt=False)
    )

    assert (result.left_running, ended) == (False, ["whole"])


def test_a_task_that_ignores_being_cancelled() -> None:
    """It is cancelled again and again for a while, then left and said so."""
    tools = Registry()
    stop = False

    @tools.tool
    async def stubborn() -> None:
        while not stop:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    async def both() -> tuple[ToolResult, ...]:
        nonlocal stop
        results = await dispatch(tools, message(call("stubborn")), limits=Limits(timeout=0.02, grace=0.05))
        stop = True
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert len(left) == 1
        await asyncio.wait(left, timeout=PATIENCE)
        assert len(asyncio.all_tasks()) == 1
        return results

    [result] = asyncio.run(both())

    assert result.left_running


def test_the_batch_has_a_time_limit() -> None:
    """What has not started by then is skipped, and answered."""
    tools = Registry()

    @tools.tool
    async def slow() -> None:
        await asyncio.sleep(60)

    limits = Limits(batch_timeout=0.1, concurrent=1)
    first, second = run(tools, message(call("slow", "a"), call("slow", "b")), limits=limits)

    assert (first.status, second.status) == ("timed_out", "skipped")
    assert second.content.startswith("not run: the time for this batch of calls was up")
