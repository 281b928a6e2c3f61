"""What plug-ins read out of a request, and the tag that they make for it."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.chat import Tool
from analyzer.engines import calls_text, load
from analyzer.errors import ExportError, UsageError
from analyzer.integrations.plugins import Asked, tag_for
from analyzer.runtime import Options
from analyzer.spec import load_spec
from tests.export.samples import OWN, TOOLS, written
from tests.integrations.replay import own

CHAT = {"type": "function", "function": {"name": "f", "description": "d", "parameters": {}, "strict": True}}
RESPONSES = {"type": "function", "name": "f", "description": "d", "parameters": {}, "strict": True}


@pytest.mark.parametrize("tool", [CHAT, RESPONSES])
def test_tools_of_both_apis(tool: dict[str, Any]) -> None:
    """Are the same tool."""
    assert Asked((Tool("f", "d", {}),), strict=True) == Asked.of([tool])


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, "auto"),
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "function": {"name": "f"}}, "f"),
        ({"type": "function", "name": "f"}, "f"),
        ({"type": "allowed_tools"}, "auto"),
    ],
)
def test_choices(choice: Any, expected: str) -> None:
    """The words, and both forms of a name; what says nothing of one tool is `auto`."""
    assert expected == Asked.of([CHAT], choice).choice


def test_tools_that_are_no_functions() -> None:
    """Are run by the provider, and none of ours."""
    assert () == Asked.of([{"type": "web_search"}, 3, None]).tools


@pytest.mark.parametrize(
    ("asked", "constrained"),
    [
        (Asked(TOOLS), False),
        (Asked(TOOLS, strict=True), True),
        (Asked(TOOLS, parallel=False), True),
        (Asked(TOOLS, "required"), True),
        (Asked(TOOLS, "ping"), True),
        (Asked(TOOLS, "none", parallel=False, strict=True), False),
        (Asked((), "required"), False),
    ],
)
def test_when_calls_are_held_to_a_grammar(asked: Asked, constrained: bool) -> None:  # noqa: FBT001
    """When one is certain, or a tool is strict, or only one is allowed."""
    tag = tag_for(own("json_tag_per_call"), asked)

    assert constrained == asked.constrained == (tag is not None)


def test_how_a_reply_is_parsed() -> None:
    """`none` leaves calls in the text, and one call is all where only one is allowed."""
    assert Options() == Asked(TOOLS).options()
    assert Options(calls="text") == Asked(TOOLS, "none").options()
    assert Options(parallel=False) == Asked(TOOLS, parallel=False).options()


def test_an_unknown_name_is_refused() -> None:
    """With the tools that are offered."""
    with pytest.raises(UsageError, match="pong"):
        tag_for(own("json_tag_per_call"), Asked(TOOLS, "pong"))


@pytest.mark.engine
@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_forced_call_behind_reasoning(path: Any) -> None:
    """The grammar starts behind the closer's marker, so the white space of the closer may stand there, and need not."""
    pytest.importorskip("xgrammar", reason="xgrammar is not installed: the structural tag is not checked")
    spec = load_spec(path)
    if spec.calls is None or not spec.reasoning:
        pytest.skip("the format has no calls behind reasoning")
    try:
        matcher = load("structural-tag", tag_for(spec, Asked(TOOLS, "required")))
    except ExportError as error:
        pytest.skip(f"not expressible: {error}")
    closer = next((item.close for item in spec.reasoning if item.close.strip()), "")
    white = closer[len(closer.rstrip()) :]
    [one] = [calls_text(spec, item.message) for item in written(spec) if item.sample.name == "one"]

    assert matcher.accepts(one)
    assert matcher.accepts(white + one)
    assert not matcher.accepts(f"{white}Hello")
