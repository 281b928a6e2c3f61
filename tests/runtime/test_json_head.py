"""The head of a JSON call in its template's own spelling is read by a shortcut: it changes nothing but the time."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.runtime import CallStart, Options, Parser, coalesce
from analyzer.runtime.compile import compile_spec
from analyzer.runtime.json_head import UsualHead, usual_head
from analyzer.runtime.layouts import JsonProgram
from analyzer.runtime.options import DEFAULT
from analyzer.spec.model import Spec
from tests.budget import examples
from tests.runtime.checks import run
from tests.runtime.golden import golden_specs
from tests.runtime.specs import spec
from tests.runtime.test_properties import TOOLS, cut

SLOWLY = Options(max_call_chars=1 << 30)
"""A call of a longest size is read without the shortcut."""


def heads(one: Spec) -> list[UsualHead]:
    """The heads of a spec's layouts."""
    layouts = compile_spec(one, DEFAULT).layouts
    return [
        layout.usual for layout in layouts if isinstance(layout, JsonProgram) and layout.usual is not None
    ]


def with_heads() -> dict[str, Spec]:
    """A spec for each way in which a template writes a head, by its name."""
    found: dict[tuple[str, str, bool], tuple[str, Spec]] = {}
    golden = [(one.name, one.spec) for one in golden_specs()]
    for name, one in [("json_tags", spec("json_tags")), *golden]:
        for head in heads(one):
            found.setdefault((head.before, head.between, compile_spec(one, DEFAULT).array), (name, one))
    return dict(found.values())


SPECS: Final = with_heads()


@st.composite
def calls(draw: st.DrawFn, one: Spec) -> str:
    """A call whose head is the template's, or that with something changed, left out or put in."""
    head = draw(st.sampled_from(heads(one)))
    called = draw(
        st.sampled_from(["ping", "put", "get_weather", "p\\u0069ng", "a\nb", "", "x" * 300, 'a"b', "é"])
    )
    text = f'{head.before}{called}"{head.between}{json.dumps({"city": draw(st.text(max_size=3))})}}}'
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        put = draw(st.sampled_from(["", " ", "\n", '"', "{", "}", ",", '"id": "1", ', "null", "\\", "x"]))
        text = text[:at] + put + text[at + draw(st.integers(0, 3)) :]
    compiled = compile_spec(one, DEFAULT)
    layout = compiled.layouts[0]
    text = f"{layout.opener.text}{text}{layout.closer.text}"
    if compiled.array:
        text = f"[{text}]"
    return f"{compiled.section[0].text}{text}{compiled.section[1].text}"


def test_the_usual_ways_of_writing_have_heads() -> None:
    """The property below is about something."""
    written = {head.between.strip(', ":') for one in SPECS.values() for head in heads(one)}
    assert written >= {"arguments", "parameters"}
    assert {compile_spec(one, DEFAULT).array for one in SPECS.values()} == {False, True}


@pytest.mark.parametrize("name", sorted(SPECS))
@given(data=st.data())
@settings(max_examples=examples(40))
def test_the_shortcut_changes_nothing(name: str, data: st.DataObject) -> None:
    """Cut anywhere, a call has the same events with and without it."""
    one = SPECS[name]
    text = data.draw(calls(one))
    finish = data.draw(st.sampled_from(["stop", "length"]))
    slowly = coalesce(run(one, [text], TOOLS, finish, options=SLOWLY))
    for chunks in ([text], cut(data.draw, text), list(text)):
        assert coalesce(run(one, chunks, TOOLS, finish)) == slowly


@given(data=st.data())
@settings(max_examples=examples(40))
def test_a_head_is_pending_until_the_name_is_known(data: st.DataObject) -> None:
    """What was taken and not said yet is all there to see; a copy in the middle of it goes on by itself."""
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "x"}}\n</tool_call>'
    parser = Parser(spec("json_tags"), TOOLS)
    fed = ""
    events: list[Any] = []
    for chunk in cut(data.draw, text[: data.draw(st.integers(0, len(text)))]):
        events += parser.feed(chunk)
        fed += chunk
        if not any(isinstance(event, CallStart) for event in events):
            assert parser.pending == fed[events[-1].end if events else 0 :]
    copy = parser.fork()
    rest = text[len(fed) :]
    assert [copy.feed(rest), copy.finish()] == [parser.feed(rest), parser.finish()]


NAME, ARGUMENTS = SimpleNamespace(slot="name"), SimpleNamespace(slot="arguments")
INNER = '{"type": "function", "function": {"name": "'


@pytest.mark.parametrize(
    ("parts", "name", "arguments", "other", "expected"),
    [
        (['{"name": "', NAME, '", "arguments": ', ARGUMENTS, "}"], ("name",), ("arguments",), None,
         ('{"name": "', ', "arguments": ')),
        ([INNER, NAME, '", "arguments": ', ARGUMENTS, "}}"], ("function", "name"), ("function", "arguments"), None,
         (INNER, ', "arguments": ')),
        # the arguments come first
        (['{"arguments": ', ARGUMENTS, ', "name": "', NAME, '"}'], ("name",), ("arguments",), None, None),
        # the two stand in different objects
        (['{"f": {"name": "', NAME, '"}, "arguments": ', ARGUMENTS, "}"], ("f", "name"), ("arguments",), None, None),
        # the paths say something else than the text
        (['{"tool": "', NAME, '", "arguments": ', ARGUMENTS, "}"], ("name",), ("arguments",), None, None),
        # an id stands before the arguments
        (['{"name": "', NAME, '", "id": "0", "arguments": ', ARGUMENTS, "}"], ("name",), ("arguments",), ("id",), None),
        # the name is a part of a longer string
        (['{"name": "f.', NAME, '", "arguments": ', ARGUMENTS, "}"], ("name",), ("arguments",), None, None),
        # no quotes around the name
        (['{"name": ', NAME, ', "arguments": ', ARGUMENTS, "}"], ("name",), ("arguments",), None, None),
    ],
)  # fmt: skip
def test_what_has_a_usual_head(
    parts: list[Any],
    name: tuple[str, ...],
    arguments: tuple[str, ...],
    other: tuple[str, ...] | None,
    expected: tuple[str, str] | None,
) -> None:
    """Two literals around a name, of one object, that say what the paths say."""
    head = usual_head(parts, name, arguments, other)

    assert (None if head is None else (head.before, head.between)) == expected
