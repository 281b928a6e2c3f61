"""One result for each call, in order, whatever the tools do; and nothing is left running."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from datetime import date
from typing import Any

import pytest

from analyzer.agent import (
    IdempotencyKey,
    Limits,
    Registry,
    check,
    idempotency_keys,
    run,
)
from analyzer.chat import Message, ToolCall
from analyzer.errors import UsageError
from tests.agent.common import call, message
from tests.agent.running import PATIENCE, weather


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
        ("half \ud800", "half \ufffd"),
        (["name \udcff.txt"], '["name \ufffd.txt"]'),
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


@pytest.mark.parametrize("answer", [True, False, 3, ""])
def test_a_refusal_without_a_reason(answer: Any) -> None:
    """Anything but None is a refusal: a mistake of who asks lets nothing run, and stops no batch."""
    [result] = run(weather(), message(call("get_weather", city="Oslo")), refuse=lambda _: answer)

    assert (result.status, result.content) == ("skipped", "not run: it was refused")


def test_a_question_that_is_cancelled() -> None:
    """It is no cancellation of the batch: its call is not run, the other one is."""

    async def ask(checked: Any) -> None:
        if checked.index == 0:
            raise asyncio.CancelledError

    calls = message(call("get_weather", city="Oslo"), call("get_weather", city="Rome"))
    first, second = run(weather(), calls, refuse=ask)

    assert (first.status, second.status) == ("skipped", "ok")


@pytest.mark.parametrize("name", ["plain", "task", "stopped"])
def test_panics_stay_in_their_call(name: str) -> None:
    """Exceptions that are no `Exception`, and ones that cannot even be printed."""
    tools = Registry()

    class Unprintable(BaseException):
        def __str__(self) -> str:
            raise SystemExit

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
