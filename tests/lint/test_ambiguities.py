"""Static findings on a spec: what no parser can resolve, and what only some texts run into."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.lint import ambiguities, is_ambiguous
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    End,
    JsonLayout,
    ReasoningSegment,
    SequenceLayout,
    Spec,
    Turn,
)
from analyzer.spec.parts import (
    JSON_TYPES,
    ArgumentsSlot,
    Codecs,
    JsonCodec,
    KeySlot,
    NameSlot,
    TypeSlot,
    ValueSlot,
)

WHOLE = ArgumentsSlot(codec=JsonCodec())


def items(*item: Any, separator: str = "", string: str = "raw") -> ArgumentsSlot:
    """Arguments one by one."""
    return ArgumentsSlot(item=item, separator=separator, codecs=Codecs(string=string))  # type: ignore[arg-type]


def closers(**words: str) -> TypeSlot:
    """What closes a value by its type; what is not given closes with a semicolon."""
    return TypeSlot(words={**dict.fromkeys(JSON_TYPES, ";"), **words})


def spec(
    *parts: Any, content: str = "", reasoning: tuple[str, str] = ("<think>", "</think>"), end: str = "<end>"
) -> Spec:
    """A format with these calls."""
    segments = (
        ReasoningSegment(open=reasoning[0], close=reasoning[1]),
        ContentSegment(open=content, end=End(literal=end)),
        CallsSegment(layouts=(SequenceLayout(parts=parts),), end=End(literal=end)),
    )
    return Spec(turn=Turn(segments=segments))


GOOD = ("<call>", NameSlot(), ":", WHOLE, "</call>")


def test_a_clear_format_has_none() -> None:
    """Markers, names and JSON."""
    assert () == ambiguities(spec(*GOOD))


def test_a_closer_that_follows_the_type_closes_a_raw_value() -> None:
    """A text's is the one that a text may hold."""
    item = items(KeySlot(), "=", ValueSlot(), closers(string="</text>"))
    found = ambiguities(spec("<call>", NameSlot(), ":", item, "</call>"))

    assert [("unescaped_values", ("</text>",), False)] == [
        (one.kind, one.literals, one.fatal) for one in found
    ]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (spec("<call>", NameSlot(), items("", KeySlot(), "=", ValueSlot(), ";"), "</call>"), "unended_value"),
        (spec("<call>", NameSlot(), ":", items(KeySlot(), ValueSlot(), ";"), "</call>"), "unended_value"),
        (spec("<call>", NameSlot(), ":", items(KeySlot(), "=", ValueSlot()), "</call>"), "unended_value"),
        (
            spec(
                "<call>", NameSlot(), ":", items(KeySlot(), "=", ValueSlot(), closers(string="")), "</call>"
            ),
            "unended_value",
        ),
        (
            spec("<call>", NameSlot(), ":", items(KeySlot(), " ", ValueSlot(), "\n"), "</call>"),
            "blank_structure",
        ),
        (spec(*GOOD, content="<call>"), "same_opener"),
        (spec(*GOOD, reasoning=("<call>", "</call>")), "same_opener"),
        (spec(*GOOD, content="<think>"), "same_opener"),
    ],
)
def test_what_no_parser_can_resolve(given: Spec, kind: str) -> None:
    """Two turns are written alike."""
    found = [one for one in ambiguities(given) if one.fatal]

    assert kind in [one.kind for one in found]
    assert is_ambiguous(given)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (
            spec("<call>", NameSlot(), ":", items("<p=", KeySlot(), ">", ValueSlot(), "</p>"), "</call>"),
            "unescaped_values",
        ),
        (spec("\n[", NameSlot(), "(", WHOLE, ")]"), "unmarked_calls"),
        (spec(*GOOD, reasoning=("<t>", "<m>"), content="<m>text:"), "marker_begins_text"),
        (spec(*GOOD, end="call"), "end_in_marker"),
        (spec(*GOOD, reasoning=("###", "###")), "toggle_marker"),
    ],
)
def test_what_only_some_texts_run_into(given: Spec, kind: str) -> None:
    """Said, and not fatal."""
    assert kind in [one.kind for one in ambiguities(given)]
    assert not is_ambiguous(given)


def test_paths_lead_to_the_field() -> None:
    """The path is one of the spec's own."""
    layout = JsonLayout(
        name=("name",),
        arguments=("arguments",),
        parts=('{"name": "', NameSlot(), '", "arguments": ', WHOLE, "}"),
    )
    given = Spec(turn=Turn(segments=(ContentSegment(close="\n"), CallsSegment(layouts=(layout,)))))

    assert ["turn.segments[1].open"] == [one.path for one in ambiguities(given)]


@pytest.mark.parametrize(("close", "fatal"), [("", [True]), ("\n", [False])])
def test_calls_without_a_marker_in_the_line_of_a_text_are_read_as_it(close: str, fatal: list[bool]) -> None:
    """`See [f()]` is a text; a list on a line of its own is a call."""
    calls = CallsSegment(open="[", close="]", layouts=(SequenceLayout(parts=(NameSlot(), "(", WHOLE, ")")),))
    given = Spec(turn=Turn(segments=(ContentSegment(close=close), calls)))

    assert [one.fatal for one in ambiguities(given) if one.kind == "unmarked_calls"] == fatal
