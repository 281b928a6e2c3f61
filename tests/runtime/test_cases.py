"""Cases as data: one file a subject, each case run whole, character by character and at every split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.runtime import Event, Options, Parser, assemble, coalesce
from analyzer.runtime.adapters import BytesParser
from tests.runtime.checks import check_all_splits, run, tool
from tests.runtime.specs import spec

HERE = Path(__file__).parent / "cases"
LEDGER = {
    entry["id"]: entry["reason"] for entry in yaml.safe_load((HERE / "ledger.yaml").read_text("utf-8")) or []
}
CASES = [
    pytest.param(case, id=f"{path.stem}: {case['id']}")
    for path in sorted(HERE.glob("*.yaml"))
    if path.stem != "ledger"
    for case in yaml.safe_load(path.read_text("utf-8"))
]


def test_there_are_cases() -> None:
    """The files are found, and the ledger speaks of cases that exist."""
    ids = [param.values[0]["id"] for param in CASES]

    assert len(CASES) >= 100
    assert len(set(ids)) == len(ids)
    assert set(LEDGER) <= set(ids)


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any]) -> None:
    """A case comes out as it says; one that the ledger excuses must not."""
    if case["id"] in LEDGER:
        with pytest.raises(AssertionError):
            check(case)
    else:
        check(case)


def check(case: dict[str, Any]) -> None:
    """Run one case."""
    declared = case.get("tools")
    tools = None if declared is None else [tool(name, schema) for name, schema in declared.items()]
    defs = case.get("defs")
    if defs and tools:
        tools = [tool(name, schema, **{"$defs": defs}) for name, schema in declared.items()]
    finish = case.get("finish", "stop")
    more: dict[str, Any] = {"options": Options(**case.get("options", {}))}
    if "prompt" in case:
        more["prompt"] = case["prompt"]
    one = spec(case["spec"])
    events = check_all_splits(one, case["text"], tools, finish, **more)
    for extra in case.get("more_texts", []):
        check_all_splits(one, extra, tools, finish, **more)
    if "chunks" in case:
        assert "".join(case["chunks"]) == case["text"]
        assert coalesce(run(one, case["chunks"], tools, finish, **more)) == events

    assert coalesce(by_bytes(case["text"], BytesParser(Parser(one, tools, **more)), finish)) == events

    parsed = assemble(events)
    message = parsed.message
    calls = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    assert message.content == case.get("content")
    assert message.reasoning_content == case.get("reasoning")
    assert calls == [(call["name"], call["arguments"]) for call in case.get("calls", [])]
    for call, expected in zip(message.tool_calls, case.get("calls", []), strict=True):
        assert call.id == expected.get("id")
        assert _types(json.loads(call.arguments)) == _types(expected["arguments"])
    if "ends" in case:
        assert parsed.finish_reason == case["ends"]
    assert sorted({problem.kind for problem in parsed.problems}) == sorted(case.get("problems", []))


def by_bytes(text: str, parser: BytesParser, finish: str) -> list[Event]:
    """Parse a text byte by byte, in the middle of characters too."""
    events: list[Event] = []
    for byte in text.encode():
        events += parser.feed(bytes([byte]))
    return events + parser.finish(finish)


def _types(value: Any) -> Any:
    """True is not 1 and 5.0 is not 5."""
    if isinstance(value, dict):
        return {key: _types(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_types(item) for item in value]
    return type(value).__name__
