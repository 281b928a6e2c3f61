from __future__ import annotations

import json
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from analyzer.chat import Message, ToolCall
from analyzer.render import RenderWorker
from analyzer.report.conversation import Conversations, conversations
from analyzer.report.parts import parts
from analyzer.report.spans import KINDS, evidence_for, explain, locate
from analyzer.verify.writer import turn_pieces
from tests.report.conftest import ROOT, own_subject

OWN = sorted(path.stem for path in (ROOT / "generated" / "own").glob("*.yaml"))
WORDS = st.text("abcdef <>\n\"'&{}:,", min_size=1, max_size=20)
MESSAGES = st.builds(
    Message,
    content=WORDS | st.none(),
    reasoning_content=WORDS | st.none(),
    tool_calls=st.lists(
        st.builds(
            lambda name, arguments: ToolCall(name, json.dumps(arguments), "call_0"),
            st.sampled_from(["get_weather", "list_hotels"]),
            st.dictionaries(st.sampled_from(["city", "days"]), WORDS | st.integers(), max_size=2),
        ),
        max_size=3,
    ).map(tuple),
)


@given(st.sampled_from(OWN), MESSAGES, WORDS)
def test_spans_tile_the_text(name: str, message: Message, before: str) -> None:
    """What the spec's own writer writes is explained to the last character; spans tile it, parts too."""
    spec = own_subject(name).spec
    assert spec is not None
    if spec.calls is None or not spec.calls.parallel:
        message = Message(message.content, message.reasoning_content)
    pieces = turn_pieces(spec, message)
    text = before + "".join(piece.text for piece in pieces)
    found = list(locate(pieces, text, len(before)))
    spans = explain(spec, pieces, text, found)

    at = len(before)
    for span in spans:
        assert at == span.start < span.end
        assert span.kind in KINDS
        assert "unexplained" != span.kind
        at = span.end
    assert at == len(text)
    grouped = parts(spec, message, pieces, found)
    assert found == [one for part in grouped.values() for one in part]
    calls = {label.split(" · ")[0] for label in grouped if label.startswith("call ")}
    assert {f"call {number + 1}" for number in range(len(message.tool_calls))} == calls


@given(st.sampled_from(OWN), WORDS, st.integers(0, 200))
def test_strange_text_is_unexplained(name: str, strange: str, place: int) -> None:
    """Text that no piece explains does not colour what follows: the spans tile all the same, and some are not explained."""
    spec = own_subject(name).spec
    assert spec is not None
    pieces = turn_pieces(spec, Message("A text that is long enough.", "A thought that is long enough."))
    whole = "".join(piece.text for piece in pieces)
    at = place % (len(whole) + 1)
    text = f"{whole[:at]}\x00{strange}{whole[at:]}"
    spans = explain(spec, pieces, text, locate(pieces, text))

    assert text == "".join(text[span.start : span.end] for span in spans)
    assert "unexplained" in {span.kind for span in spans} or not text[at:].strip("\x00").strip()


@cache
def shown() -> dict[str, Conversations]:
    """What the pages of our own templates show."""
    made = {}
    with RenderWorker() as renderer:
        for name in OWN:
            subject = own_subject(name)
            assert subject.spec is not None
            made[name] = conversations(subject.spec, subject.template, renderer)
    return made


def test_renders_of_own_templates_are_explained() -> None:
    """Nearly every character that the templates write is explained, and every kind of span is seen."""
    kinds = set()
    partly = set()
    for name, found in shown().items():
        assert not found.whole.refusal, name
        assert found.whole.spans[0].start == 0
        assert all(
            one.end == other.start
            for one, other in zip(found.whole.spans, found.whole.spans[1:], strict=False)
        )
        kinds |= {span.kind for span in found.whole.spans}
        if found.whole.explained < 1:
            partly.add(name)
        assert found.whole.explained > 0.95, name

    assert kinds == set(KINDS)
    # an id that holds the name is another one in the result than the call had
    assert partly <= {"name_inside_given_id"}


def test_markers_have_evidence() -> None:
    """Nearly all literals of the format point to a comparison."""
    told = silent = 0
    for name, found in shown().items():
        spec = own_subject(name).spec
        assert spec is not None
        for span in found.whole.spans:
            if span.marker:
                told, silent = (told + 1, silent) if evidence_for(spec, span.path) else (told, silent + 1)

    assert told > 20 * silent


def test_one_call_beside_two() -> None:
    """The sides are the turns that the template writes; what differs is what separates calls, and the second call."""
    for name, found in shown().items():
        if not found.rows:
            continue
        differing = {row.label for row in found.rows if row.differs}

        assert {"call 2"} <= differing <= {"call 2", "between calls"}, name
        one = "".join(row.one.text for row in found.rows)
        two = "".join(row.two.text for row in found.rows)
        assert one.count("get_weather") >= 1
        assert "list_hotels" not in one
        assert "list_hotels" in two
        assert len(one) < len(two)
