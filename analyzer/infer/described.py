"""D-comparisons: calls that the prompt describes and the history does not render.

D1  with and without tools, under each variable or field that may hold them: what they add to the prompt, with a system message and without
D2  in that text, the example of a call: a JSON-like object, tags, a list of Python calls
D3  without an example, a marker in a sentence that says that calls are JSON
What is found is marked `described`. It is never proven: no render shows it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from analyzer.infer.described_frame import MARKER, MASK, Around, around, mentioned, own_markers
from analyzer.infer.described_json import LONGEST_GROUP, MOST_UNCLOSED, balanced, examples
from analyzer.infer.described_tags import SequenceExample, python_examples, tag_examples
from analyzer.observe import probes
from analyzer.observe.lexemes import common_prefix, common_suffix, is_marker, lexemes
from analyzer.observe.needles import Needles
from analyzer.observe.session import Ask, Session
from analyzer.render.facts import TemplateFacts
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    Evidence,
    Grammar,
    JsonLayout,
    Layout,
    Spec,
    Turn,
)
from analyzer.spec.parts import ArgumentsSlot, JsonCodec, NameSlot

TOOLS = "tools"
MOST_HOLDERS = 12
LONGEST_TEXT = 50_000
"""How many characters of what tools add are read."""
FALLBACK = (
    "fallback: prompt-based calling, that is, describe a call format in the system message and parse that"
)

_FIELD = "the field"
_USUAL_FIELDS = frozenset(
    "role content name tool_calls tool_call_id tool_responses reasoning reasoning_content thinking type text image".split()  # noqa: SIM905
)
_SENTENCE_END = re.compile(r"[.!?]\s|[。！？]|\n\s*\n|\x00")
_JSON = re.compile(r"\bjson\b", re.IGNORECASE)
_ARRAY = re.compile(r"\b(?:list|array)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Added:
    """What tools added to one prompt."""

    holder: str
    variant: str
    text: str
    """With a mask in place of each declaration."""
    base: frozenset[str]
    """The markers of the prompt without tools."""
    printed: bool = False
    """Whether a variable's value is merely printed, as any text would be."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A call format that was read from a description."""

    layout: Layout
    frame: Around
    found: str
    confidence: str
    notes: tuple[str, ...]


def with_described_calls(
    spec: Spec, session: Session, facts: TemplateFacts, *, names_only: bool = False
) -> Spec:
    """Add the calls that the prompt describes to a spec without calls; a note of what was tried where nothing can be learnt."""
    added = _added(session, facts)
    for one in added:
        reading = _read(one)
        if reading is not None:
            return _with_calls(spec, one, reading)
    evidence = Evidence(
        comparison="D1",
        found=_NAMES_ONLY if names_only else _nothing(added),
        variants=tuple(one.variant for one in added),
        note=FALLBACK,
    )
    return spec.model_copy(update={"evidence": {**spec.evidence, "turn.segments": (evidence,)}})


_NAMES_ONLY = "no tool format found: of a call the name is rendered, and its arguments are not"


def _nothing(added: list[_Added]) -> str:
    holders = list(dict.fromkeys(one.holder for one in added if not one.printed))
    if not holders:
        return "no tool format found: tools and tool_calls do not change the render"
    named = (
        marker
        for one in added
        for marker in own_markers(one.text, one.base)
        if _in_sentence(one.text, marker)
    )
    own = list(dict.fromkeys(named))
    told = f"; it names {', '.join(own)} without a call that could be read" if own else ""
    return (
        f"no tool format found: calls are not rendered, and the text that {' and '.join(holders)} "
        f"added to the prompt says nothing of how to call{told}; tried: examples in JSON, in tags and in Python, markers in sentences"
    )


def _in_sentence(text: str, marker: str) -> bool:
    return re.search(rf"\w['\"`]? ['\"`]?{re.escape(marker)}", text) is not None


# ----------------------------------------------------------------------------------------------------------------- D1


def _added(session: Session, facts: TemplateFacts) -> list[_Added]:
    """D1: what each holder of tools adds, `tools` first; message fields only where no variable shows any tool."""
    found = list(_by_variable(session, facts))
    if not any(MASK in one.text for one in found):
        found += _by_field(session, facts)
    shown = [one for one in found if MASK in one.text and _says_more(one.text)]
    return shown + [one for one in found if one.holder == TOOLS and one not in shown]


def _says_more(text: str) -> bool:
    """Whether a text has a word beside the tools themselves: a variable that is merely printed holds no tools."""
    return re.search(r"\w", text.replace(MASK, "")) is not None


def _by_variable(session: Session, facts: TemplateFacts) -> Iterator[_Added]:
    given = probes.tools(session.needles)
    names = [
        name
        for name in facts.inputs
        if name not in session.template.special_tokens and not name.endswith("_token")
    ]
    asked: list[tuple[str, Mapping[str, Any]]] = [(TOOLS, {})]
    asked += [(name, {name: value}) for name in names[:MOST_HOLDERS] for value in (given, json.dumps(given))]
    chats = _chats(session)
    asks: list[Ask] = []
    for _, chat in chats:
        asks.append(Ask(chat, tools=[] if session.shape.tools_given else None, prompt=True))
        asks += [
            Ask(chat, tools=given if name == TOOLS else None, prompt=True, variables=variables)
            for name, variables in asked
        ]
    rendered = iter(session.render(asks, "D1"))
    for label, _ in chats:
        base, *texts = islice(rendered, 1 + len(asked))
        for (name, _), text in zip(asked, texts, strict=True):
            yield from _difference(session, name, f"{name}, {label}", base, text)


def _by_field(session: Session, facts: TemplateFacts) -> Iterator[_Added]:
    given = probes.tools(session.needles)
    fields = [name for name in facts.fields("messages[]") if name not in _USUAL_FIELDS][:MOST_HOLDERS]
    for label, chat in _chats(session)[:1]:
        asked = [
            (name, at, value)
            for name in fields
            for at in range(min(2, len(chat)))
            for value in (given, json.dumps(given))
        ]
        asks = [Ask(chat, prompt=True)]
        for name, at, value in asked:
            asks.append(
                Ask(
                    [
                        {**message, name: value} if number == at else message
                        for number, message in enumerate(chat)
                    ],
                    prompt=True,
                )
            )
        base, *texts = session.render(asks, "D1")
        for (name, at, _), text in zip(asked, texts, strict=True):
            holder = f"{_FIELD} {name} of a {chat[at]['role']} message"
            yield from _difference(session, holder, f"{holder}, {label}", base, text)


def _chats(session: Session) -> list[tuple[str, list[probes.Message]]]:
    needles = session.needles
    rest = [probes.user(needles.user), probes.assistant(needles.content), probes.user(needles.follow)]
    plain = [("no system message", rest)]
    return (
        [("system message", [probes.system(needles.system), *rest]), *plain]
        if session.shape.system
        else plain
    )


def _difference(
    session: Session, holder: str, variant: str, base: str | None, text: str | None
) -> Iterator[_Added]:
    if base is None or text is None or base == text:
        return
    start, end = len(common_prefix(base, text)), len(common_suffix(base, text))
    end = min(end, len(text) - start, len(base) - start)
    tokens = session.template.special_tokens.values()
    known = frozenset([*MARKER.findall(base), *tokens])
    given = probes.tools(session.needles)
    printed = (
        not holder.startswith(_FIELD)
        and holder != TOOLS
        and any(one in text for one in (str([*given]), json.dumps(given)))
    )
    yield _Added(
        holder,
        variant,
        _masked(text[start : len(text) - end][:LONGEST_TEXT], session.needles),
        known,
        printed,
    )


def _masked(text: str, needles: Needles) -> str:
    """Put a mask in the place of each declaration: the brace group, else the word, that holds a needle."""
    words = [needles.uncalled, *(word for call in needles.calls for word in (call.name, *call.keys))]
    pattern = re.compile("|".join(map(re.escape, words)))
    out: list[str] = []
    at, unclosed = 0, 0
    while (brace := text.find("{", at)) >= 0 and unclosed < MOST_UNCLOSED:
        end = balanced(text, brace, LONGEST_GROUP)
        unclosed += end is None
        stop = end if end is not None and pattern.search(text, brace, end) else brace + 1
        out.append(text[at:brace] + (MASK if stop != brace + 1 else text[brace:stop]))
        at = stop
    return pattern.sub(MASK, "".join(out) + text[at:])


# ------------------------------------------------------------------------------------------------------------- D2, D3


def _read(added: _Added) -> _Reading | None:
    """D2, D3: the call that a text describes, the plainest way first."""
    own = own_markers(added.text, added.base)
    ways = (_json_examples(added.text, own), _sequences(added.text, own), _sentences(added.text, own))
    readings = [reading for way in ways for reading in way]
    order = {"medium": 0, "low": 1}
    return min(readings, key=lambda one: order[one.confidence], default=None)


def _json_examples(text: str, own: list[str]) -> Iterator[_Reading]:
    for one in examples(text, MASK):
        frame = around(text, one.start, one.end, own)
        notes = [*one.notes, *frame.notes]
        if not frame.marked:
            named = mentioned(text, one.start, own)
            if named is not None:
                frame = _within(frame, *named)
                notes.append("the markers stand in the sentence before the example")
        layout = one.layout
        if not frame.array:
            layout = layout.model_copy(update={"open": frame.open, "close": frame.close})
        confidence = "medium" if one.plain else "low"
        yield _Reading(layout, frame, text[one.start : one.end], confidence, tuple(notes))


def _within(frame: Around, opener: str, closer: str) -> Around:
    if frame.array:
        return Around(
            opener + frame.section_open, "", "", frame.section_close + closer, frame.separator, array=True
        )
    return Around("", opener, closer, "", frame.separator)


def _sequences(text: str, own: list[str]) -> Iterator[_Reading]:
    for one in tag_examples(text):
        yield _sequence(
            text, one, Around(one.section_open, "", "", one.section_close, one.separator), "medium"
        )
    for one in python_examples(text):
        outer = around(text, one.start, one.end, own)
        if not outer.marked:
            outer = _within(outer, *(mentioned(text, one.start, own) or ("", "")))
        frame = Around(outer.open + one.section_open, "", "", one.section_close + outer.close, one.separator)
        yield _sequence(text, one, frame, "low")


def _sequence(text: str, one: SequenceExample, frame: Around, confidence: str) -> _Reading:
    return _Reading(one.layout, frame, text[one.start : one.end], confidence, one.notes)


def _sentences(text: str, own: list[str]) -> Iterator[_Reading]:
    """D3: `... with <marker> followed by a JSON list ...`: what the object's keys are is not said."""
    for sentence in _SENTENCE_END.split(text):
        named = [marker for marker in dict.fromkeys(MARKER.findall(sentence)) if marker in own]
        if not named or len(named) > 2 or not _JSON.search(sentence):  # noqa: PLR2004  (an opener and a closer)
            continue
        array = _ARRAY.search(sentence) is not None
        frame = Around("[", "", "", "]", ", ", array=True) if array else Around()
        frame = _within(frame, named[0], named[1] if len(named) > 1 else "")
        layout = JsonLayout(
            open=frame.open, close=frame.close, name=("name",), arguments=("arguments",),
            parts=('{"name": "', NameSlot(), '", "arguments": ', ArgumentsSlot(codec=JsonCodec()), "}"),
        )  # fmt: skip
        yield _Reading(
            layout, frame, sentence.strip(), "low", ("the keys are not said: name and arguments are assumed",)
        )


# -------------------------------------------------------------------------------------------------------------- spec


def _with_calls(spec: Spec, added: _Added, reading: _Reading) -> Spec:
    """The spec with a calls segment behind its last content segment, which tells how the turn ends."""
    segments = list(spec.turn.segments)
    at = max(number for number, segment in enumerate(segments) if isinstance(segment, ContentSegment))
    content = segments[at]
    frame = reading.frame
    close = frame.section_close + ("" if content.close.strip() else content.close)
    calls = CallsSegment(
        open=frame.section_open,
        close=close,
        separator=frame.separator,
        array=frame.array,
        layouts=(reading.layout,),
        end=content.end,
    )
    segments.insert(at + 1, calls)
    note = "; ".join((f"confidence: {reading.confidence}; no render shows a call", *reading.notes))
    comparison = "D3" if any("keys are not said" in one for one in reading.notes) else "D2"
    evidence = Evidence(
        comparison=comparison,
        found=f"the text that {added.holder} added to the prompt describes a call: {reading.found}",
        variants=(added.variant, "no tools"),
        described=True,
        note=note,
    )
    grammar = Grammar(
        triggers=tuple(_first_marker((frame.section_open + _opening(reading.layout),))),
        preserved_tokens=spec.grammar.preserved_tokens,
        stops=spec.grammar.stops,
    )
    turn = Turn(**{**dict(spec.turn), "segments": tuple(segments)})
    known = {**spec.evidence, f"turn.segments[{at + 1}]": (evidence,)}
    return spec.model_copy(update={"turn": turn, "grammar": grammar, "evidence": known})


def _opening(layout: Layout) -> str:
    if isinstance(layout, JsonLayout):
        return layout.open
    first = layout.parts[0]
    return first if isinstance(first, str) else ""


def _first_marker(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from [lexeme for lexeme in lexemes(text) if is_marker(lexeme)][:1]
