"""One result for each call, in order, whatever the tools do; and nothing is left running."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from typing import Any, Final, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.agent import (
    Cancellation,
    IdempotencyKey,
    Limits,
    Registry,
    ToolError,
    ToolResult,
    check,
    dispatch,
    idempotency_keys,
    in_call_order,
    run,
)
from analyzer.chat import Message, ToolCall
from analyzer.errors import UsageError
from tests.agent.common import call, message
from tests.budget import examples

PATIENCE: Final = 60.0
"""Seconds after which what should happen counts as not happening, on a machine that has a lot else to do."""


def threads() -> list[threading.Thread]:
    """The threads of tools that run now."""
    return [thread for thread in threading.enumerate() if thread.name == "tool"]


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    """No test leaves a thread, except inside a blocking call that ends by itself."""
    yield
    join()
    assert threads() == []


def join() -> None:
    """Wait for the threads of tools that nothing holds any more."""
    for thread in threads():
        thread.join(PATIENCE)


def weather() -> Registry:
    """The tools of the ten cases."""
    tools = Registry()

    @tools.tool
    def get_weather(city: str, unit: Literal["c", "f"] = "c", days: int = 1) -> str:
        return f"15 {unit.upper()} in {city} for {days}"

    @tools.tool
    def fail(why: str) -> str:
        raise ToolError(f"no such station {why}; try another")

    @tools.tool
    def panic() -> str:
        raise SystemExit(101)

    return tools


def test_ten_calls() -> None:
    """Two valid ones among every kind of mistake: ids and order kept, only the two succeed."""
    calls = (
        call("get_weather", "c0", city="Oslo"),
        call("get_weather", "c1"),
        call("get_weather", "c2", city="Oslo", planet="Mars"),
        call("get_weather", "c3", city="Oslo", days="two"),
        call("get_weather", "c4", city="Oslo", unit="k"),
        call("get_wether", "c5", city="Oslo"),
        ToolCall("get_weather", '{"city": "Os', "c6"),
        call("fail", "c7", why="Oslo"),
        call("panic", "c8"),
        call("get_weather", "c9", city="Rome", unit="f", days=2),
    )
    results = run(weather(), message(*calls))

    assert [result.id for result in results] == [f"c{number}" for number in range(10)]
    assert [result.index for result in results] == list(range(10))
    assert [result.content for result in results if not result.is_error] == [
        "15 C in Oslo for 1",
        "15 F in Rome for 2",
    ]
    assert [(result.status, result.content) for result in results[1:9]] == [
        ("invalid", "missing required argument 'city'"),
        ("invalid", "unknown argument 'planet' (allowed: city, unit, days)"),
        ("invalid", "argument 'days' must be an integer, not the string \"two\""),
        ("invalid", 'argument \'unit\' must be one of "c", "f", not "k"'),
        ("invalid", "unknown tool 'get_wether' (did you mean get_weather?)"),
        (
            "invalid",
            "arguments are not valid JSON (Unterminated string starting at at character 9)",
        ),
        ("failed", "no such station Oslo; try another"),
        ("failed", "SystemExit: 101"),
    ]


def test_an_oversized_result() -> None:
    """It is cut between two characters, and says so."""
    tools = Registry()
    tools.add(lambda: "é" * 1000, name="read", parameters={})
    [result] = run(tools, message(call("read", "a")), limits=Limits(max_bytes=101))

    assert result.content == "é" * 50 + "\n[truncated: the first 100 of 2000 bytes; narrow the request]"
    assert result.truncated
    assert not result.is_error


def test_a_result_of_exactly_the_cap() -> None:
    """It is whole; one byte less cuts a character."""
    tools = Registry()
    tools.add(lambda: "a€", name="exact", parameters={}, max_bytes=4)
    tools.add(lambda: "a€", name="short", parameters={}, max_bytes=3)
    exact, short = run(tools, message(call("exact"), call("short")))

    assert (exact.content, exact.truncated) == ("a€", False)
    assert short.content.splitlines()[0] == "a"


def test_errors_are_capped_too() -> None:
    """What a tool raises can be as long as what it returns."""
    tools = Registry()

    @tools.tool
    def fail() -> None:
        raise ValueError("x" * 1000)

    [result] = run(tools, message(call("fail")), limits=Limits(max_bytes=20))

    assert result.content.startswith("ValueError: xxxxxxxx\n[truncated")
    assert result.truncated


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        ("", ""),
        (b"bytes \xff", "bytes \ufffd"),
        (None, "null"),
        ({"a": [1, True]}, '{"a":[1,true]}'),
        (Message("x"), '{"content":"x","reasoning_content":null,"tool_calls":[],"role":"assistant"}'),
    ],
)
def test_values_become_text(value: Any, text: str) -> None:
    """Text as it is, all else as JSON."""
    tools = Registry()
    tools.add(lambda: value, name="give", parameters={})

    assert run(tools, message(call("give")))[0].content == text


def test_async_and_plain_tools_run_at_the_same_time() -> None:
    """The batch takes the time of the slowest."""
    tools = Registry()
    met = threading.Barrier(3, timeout=PATIENCE)

    @tools.tool
    def plain() -> str:
        met.wait()
        return "plain"

    @tools.tool
    async def task() -> str:
        await asyncio.get_running_loop().run_in_executor(None, met.wait)
        return "task"

    results = run(tools, message(call("plain"), call("task"), call("plain")))

    assert [result.content for result in results] == ["plain", "task", "plain"]


def test_writers_run_one_after_another_in_call_order() -> None:
    """Readers do not wait for them."""
    tools = Registry()
    log: list[str] = []

    @tools.tool(writer=True)
    def write(what: str) -> None:
        log.append(f"+{what}")
        time.sleep(0.01)
        log.append(f"-{what}")

    @tools.tool(writer=True)
    async def write_async(what: str) -> None:
        log.append(f"+{what}")
        await asyncio.sleep(0.01)
        log.append(f"-{what}")

    calls = [call("write" if number % 2 else "write_async", what=str(number)) for number in range(6)]
    run(tools, message(*calls))

    assert log == [f"{sign}{number}" for number in range(6) for sign in "+-"]


def test_no_more_calls_at_a_time_than_allowed() -> None:
    """The limit counts what runs."""
    tools = Registry()
    now, most = 0, 0

    @tools.tool
    async def work() -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.001)
        now -= 1

    run(tools, message(*[call("work") for _ in range(20)]), limits=Limits(concurrent=3))

    assert most == 3


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


@pytest.mark.parametrize("kind", ["plain", "async"])
def test_a_call_may_be_refused(kind: str) -> None:
    """Approval stands before the tool; a refused call is answered with the reason."""
    tools = weather()

    def refuse(checked: Any) -> str | None:
        return "the user said no" if checked.arguments["city"] == "Rome" else None

    async def refuse_later(checked: Any) -> str | None:
        await asyncio.sleep(0)
        return refuse(checked)

    calls = message(call("get_weather", city="Oslo"), call("get_weather", city="Rome"))
    first, second = run(tools, calls, refuse=refuse_later if kind == "async" else refuse)

    assert not first.is_error
    assert (second.status, second.content) == ("skipped", "the user said no")


def test_nobody_to_ask_is_a_refusal() -> None:
    """A broken approval step lets nothing run."""

    def refuse(_: Any) -> str | None:
        raise OSError("no terminal")

    [result] = run(weather(), message(call("get_weather", city="Oslo")), refuse=refuse)

    assert result.status == "skipped"
    assert "no terminal" in result.content


@pytest.mark.parametrize("name", ["plain", "task", "stopped"])
def test_panics_stay_in_their_call(name: str) -> None:
    """Exceptions that are no `Exception`, and ones that cannot even be printed."""
    tools = Registry()

    class Unprintable(BaseException):
        def __str__(self) -> str:
            raise RuntimeError

    def plain() -> None:
        raise Unprintable

    async def task() -> None:
        raise Unprintable

    async def stopped() -> None:
        raise asyncio.CancelledError

    tools.add(plain)
    tools.add(task)
    tools.add(stopped)
    [result] = run(tools, message(call(name)))

    assert result.status == "failed"
    assert result.content in {"Unprintable", "CancelledError"}


def test_values_that_have_no_text() -> None:
    """A result that cannot be written is the tool's failure."""
    tools = Registry()
    loop: list[Any] = []
    loop.append(loop)
    tools.add(lambda: loop, name="loops", parameters={})

    assert run(tools, message(call("loops")))[0].status == "failed"


def test_something_to_await_from_a_plain_function() -> None:
    """It is the tool's mistake, and leaves nothing that was never awaited."""
    tools = Registry()

    async def inner() -> None:
        """Never started."""

    tools.add(lambda: inner() or None, name="wrong", parameters={})

    assert "returns something to await" in run(tools, message(call("wrong")))[0].content


def test_arguments_become_what_the_function_takes() -> None:
    """Pydantic has the last word on values; its complaint is the call's."""
    tools = Registry()

    @tools.tool
    def weekday(day: date) -> str:
        return day.strftime("%A")

    first, second = run(tools, message(call("weekday", day="2025-01-31"), call("weekday", day="soon")))

    assert first.content == "Friday"
    assert second.status == "invalid"
    assert second.content.startswith("argument 'day': Input should be a valid date")


def test_context_goes_along() -> None:
    """A tool sees the context variables of whoever asked."""
    who = contextvars.ContextVar("who", default="nobody")
    tools = Registry()
    tools.add(who.get, name="ask", parameters={})
    who.set("me")

    assert run(tools, message(call("ask")))[0].content == "me"


def test_idempotency_keys() -> None:
    """The same turn run again has the same keys, even with other ids; two equal calls in it differ."""
    tools = Registry()
    keys: list[str] = []

    @tools.tool(writer=True)
    def pay(amount: int, key: IdempotencyKey) -> None:
        assert amount == 1
        keys.append(key)

    assert "key" not in tools.tools[0].parameters["properties"]  # type: ignore[index]

    def pay_twice(ids: str, turn: str | None) -> list[str]:
        keys.clear()
        run(tools, message(call("pay", ids[0], amount=1), call("pay", ids[1], amount=1)), turn=turn)
        return keys[:]

    first = pay_twice("ab", "turn 1")
    assert len(set(first)) == 2
    assert pay_twice("cd", "turn 1") == first
    assert not set(pay_twice("ab", "turn 2")) & set(first)
    assert pay_twice("ab", None) == pay_twice("ab", None)
    assert not set(pay_twice("ab", None)) & set(pay_twice("cd", None))


def test_keys_without_ids_never_come_again() -> None:
    """Nothing says that it is the same call."""
    checked = check(message(call("pay", amount=1)), [])

    assert idempotency_keys(checked) != idempotency_keys(checked)


def test_no_calls_no_results() -> None:
    """An answer needs nothing."""
    assert run(Registry(), Message("hello")) == ()


def test_run_is_for_code_that_is_not_async() -> None:
    """Inside an event loop it says what to do."""

    async def inside() -> None:
        run(Registry(), Message())

    with pytest.raises(UsageError, match="event loop"):
        asyncio.run(inside())


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
    "huge",
    "sleep",
    "hang",
    "spin",
    "listen",
    "unfit",
    "unknown",
    "broken",
    "stubborn",
)


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
    add("huge", huge, huge_later)
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
