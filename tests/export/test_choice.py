"""The tool choice, for all targets."""

from __future__ import annotations

import pytest

from analyzer.errors import ExportError, UsageError
from analyzer.export import Options, export
from analyzer.export.choice import resolve
from analyzer.export.result import Losses
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT, TOOLS

SPEC = load_spec(ROOT / "generated" / "own" / "json_tag_per_call.yaml")
NO_CALLS = load_spec(ROOT / "generated" / "own" / "no_tools.yaml")


@pytest.mark.parametrize(
    ("word", "parallel", "expected"),
    [
        ("auto", True, ("auto", ["get_weather", "ping"], False)),
        ("auto", False, ("auto", ["get_weather", "ping"], True)),
        ("none", True, ("none", [], False)),
        ("required", True, ("forced", ["get_weather", "ping"], False)),
        ("ping", True, ("forced", ["ping"], True)),
    ],
)
def test_each_choice(word: str, parallel: bool, expected: tuple[str, list[str], bool]) -> None:  # noqa: FBT001
    """The mode, the tools that stay, and whether one call is all."""
    found = resolve(SPEC, TOOLS, Options(word, parallel), Losses(), "x")

    assert expected == (found.mode, [tool.name for tool in found.tools], found.single)


def test_anything_else_says_what_is_allowed() -> None:
    """A misspelt name is no choice."""
    with pytest.raises(UsageError, match=r"'pong'.*auto, none, required.*Offered: get_weather, ping"):
        resolve(SPEC, TOOLS, Options("pong"), Losses(), "x")


def test_a_call_needs_a_tool() -> None:
    """Nothing can be required of no tools."""
    with pytest.raises(UsageError, match="needs tools"):
        resolve(SPEC, (), Options("required"), Losses(), "x")


@pytest.mark.parametrize("target", ["structural-tag", "gbnf", "lark"])
@pytest.mark.parametrize("word", ["auto", "required", "pong"])
def test_a_format_without_calls_asks_for_no_tools(target: str, word: str) -> None:
    """They would not help: that there are no calls is said at once, and what needs none is exported."""
    with pytest.raises(ExportError, match="the spec has no calls"):
        export(target, NO_CALLS, (), Options(word))

    assert export(target, NO_CALLS, (), Options("none")).payload


def test_calls_by_prompt_need_tools_and_no_calls() -> None:
    """The target for models without calls of their own."""
    with pytest.raises(UsageError, match="needs tools"):
        export("json-schema", NO_CALLS)

    assert "json_schema" in export("json-schema", NO_CALLS, TOOLS).payload


def test_an_unknown_target_names_the_known_ones() -> None:
    """So does the registry."""
    with pytest.raises(UsageError, match="response-template"):
        export("regex", SPEC)


@pytest.mark.parametrize(
    ("target", "options", "told"),
    [
        ("gbnf", Options(tokens={"<tool_call>": 7}), True),
        ("lark", Options(tokens={"<tool_call>": 7}), False),
        ("lark", Options(legacy=True), True),
        ("structural-tag", Options(legacy=True), False),
        ("gbnf", Options(exclude_closers=True), True),
    ],
)
def test_an_option_that_changes_nothing_is_told(target: str, options: Options, told: bool) -> None:  # noqa: FBT001
    """Nothing that was asked for is left out in silence."""
    kinds = {loss.kind for loss in export(target, SPEC, TOOLS, options).losses}

    assert told == ("unused_option" in kinds)
