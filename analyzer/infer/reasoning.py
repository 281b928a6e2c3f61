"""R-comparisons: how reasoning is written.

R1  with and without the field, under each name that the template reads from messages: alone, beside text, beside calls
R2  content that holds `OPEN r CLOSE c`, for marker-like literals of the template
R3  in an earlier turn
R4  with and without the field under each value of each variable that the template reads from outside
R6  in a turn of text behind results, where no other turn of text shows it
R5  a generation prompt that goes on with an opening tag (reasoning_tags)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analyzer.infer.calls import CallsFinding
from analyzer.infer.pairing import Pair, find_pair
from analyzer.infer.prompts import PromptsFinding
from analyzer.infer.reasoning_fields import ReasoningFinding, field_candidates, is_likely
from analyzer.infer.reasoning_tags import find_in_content, find_in_prompt
from analyzer.infer.turn import Frame, Regions
from analyzer.observe import probes
from analyzer.observe.choices import variable_choices
from analyzer.observe.lexemes import common_start, common_suffix, is_marker, lexemes
from analyzer.observe.session import Ask, Chat, Session, render_each
from analyzer.observe.variants import Variants, head
from analyzer.render.facts import TemplateFacts


def find_reasoning(
    session: Session,
    calls_session: Session | None,
    facts: TemplateFacts,
    regions: Regions,
    frame: Frame,
    calls: CallsFinding | None,
    prompts: PromptsFinding,
    seen: Variants | None = None,
) -> ReasoningFinding | None:
    """R1, then R1 under each setting of the template's variables (R4), R2 and R5; None when no reasoning is found."""
    context = _Context(session, calls_session, facts, regions, frame, calls)
    candidates = field_candidates(facts)
    likely = [name for name in candidates if is_likely(name)]
    found = _by_field(context, likely, {}) or _by_field(context, candidates[len(likely) :], {})
    if found is not None:
        return found
    for name, values in variable_choices(facts, session.shape.variables).items():
        for value in values:
            if {name: value} in prompts.other_formats:
                continue
            found = _by_field(context, likely, {name: value})
            if found is not None:
                return found
    return find_in_content(session, facts, regions, frame, calls, seen) or find_in_prompt(
        frame, prompts.prompts, calls
    )


@dataclass(frozen=True, slots=True)
class _Context:
    session: Session
    calls_session: Session | None
    facts: TemplateFacts
    regions: Regions
    frame: Frame
    calls: CallsFinding | None


def _by_field(
    context: _Context, candidates: Sequence[str], setting: Mapping[str, Any]
) -> ReasoningFinding | None:
    """R1: try each candidate field; the first whose needle is rendered decides, the others that render alike are added."""
    if not candidates:
        return None
    session, calls_session, needles = context.session, context.calls_session, context.session.needles
    tools = probes.tools(needles) if calls_session is not None else None
    turns = [probes.assistant(needles.content, fields={field: needles.reasoning}) for field in candidates]
    pairs = [(session, Ask([*head(session), turn], tools, variables=setting)) for turn in turns]
    if calls_session is not None:
        text, called = _empty(calls_session), probes.calls(needles, 1)
        turns = [probes.assistant(text, called, {field: needles.reasoning}) for field in candidates]
        pairs += [
            (calls_session, Ask([*head(calls_session), turn], tools, variables=setting)) for turn in turns
        ]
    rendered = render_each(pairs, "R1")
    texts, beside = rendered[: len(candidates)], rendered[len(candidates) :]
    shown = _shown(candidates, texts, needles.user, needles.reasoning, needles.content)
    call = needles.calls[0]
    shown_beside = _shown(candidates, beside, needles.user, needles.reasoning, call.name, call.id)
    if shown:
        shown_beside = [field for field in shown_beside if field in shown]
    fields = tuple(dict.fromkeys([*shown, *shown_beside]))
    if not fields:
        return None
    at = candidates.index(fields[0])
    alone = context.regions.cut(texts[at]) if shown else None
    with_calls = context.regions.cut(beside[at]) if fields[0] in shown_beside else None
    if alone is None and with_calls is None:
        return None
    kept = _kept(session, fields[0], tools) if shown else "beside_calls"
    if not shown and calls_session is not None and _shown_behind_results(calls_session, fields[0], setting):
        kept = "current_turn"
    found = _cut(
        session,
        fields,
        alone,
        with_calls,
        context.frame,
        context.calls.before if context.calls is not None else "",
        kept,
    )
    if not found.close.strip() and not is_likely(fields[0]):
        return None  # words of another kind, such as metadata: nothing tells where they end
    behind = (
        bool(shown) and not shown_beside and _stands_behind(beside, needles.reasoning, call.name, call.id)
    )
    return replace(found, setting=dict(setting), behind_calls=behind)


def _shown(
    candidates: Sequence[str], texts: Sequence[str | None], user: str, needle: str, *others: str
) -> list[str]:
    """Return the fields whose needle stands in the turn, before `others`; only those that render like the first."""
    shown = [
        (name, text)
        for name, text in zip(candidates, texts, strict=False)
        if text and _stands_before(_after(text, user), needle, *others)
    ]
    return [name for name, text in shown if text == shown[0][1]]


def _empty(session: Session) -> str:
    return session.needles.content if session.shape.empty_content == "text" else ""


def _after(text: str, needle: str) -> str:
    return text[text.rfind(needle) :] if needle in text else text


def _stands_before(text: str, needle: str, *others: str) -> bool:
    """Tell whether `needle` is there, before the first of `others` that is there."""
    at = text.find(needle)
    found = [place for other in others if (place := text.find(other)) >= 0]
    return at >= 0 and bool(found) and at < min(found)


def _shown_behind_results(session: Session, field: str, setting: Mapping[str, Any]) -> bool:
    """R6: whether a turn of text keeps its reasoning when results stand before it, although no other turn of text does."""
    needles = session.needles
    chat = [
        *head(session),
        probes.assistant(_empty(session), probes.calls(needles, 1)),
        probes.result(needles, 0),
        probes.assistant(needles.content, fields={field: needles.reasoning}),
    ]
    (text,) = session.render([Ask(chat, probes.tools(needles), variables=setting)], "R6")
    return text is not None and _stands_before(
        text.partition(needles.results[0])[2], needles.reasoning, needles.content
    )


def _stands_behind(texts: Sequence[str | None], needle: str, *others: str) -> bool:
    """Tell whether `needle` stands behind one of `others` in a render."""
    return any(
        text is not None and any(0 <= text.rfind(other) < text.rfind(needle) for other in others)
        for text in texts
    )


def _kept(session: Session, field: str, tools: Chat | None) -> str:
    """R3: whether an earlier turn keeps its reasoning."""
    needles = session.needles
    chat = [
        *head(session),
        probes.assistant(needles.content, fields={field: needles.reasoning}),
        probes.user(needles.follow),
        probes.assistant(needles.final),
    ]
    text = session.one(chat, "R3", tools=tools)
    return "always" if text is not None and needles.reasoning in text else "current_turn"


def _cut(
    session: Session,
    fields: tuple[str, ...],
    alone: str | None,
    with_calls: str | None,
    frame: Frame,
    before_calls: str,
    kept: str,
) -> ReasoningFinding:
    needles, call = session.needles, session.needles.calls[0]
    region = alone if alone is not None else with_calls
    assert region is not None  # noqa: S101  (one of the two shows the needle)
    before = region.partition(needles.reasoning)[0]
    if frame.header.strip() and frame.header in before:
        before = before[before.index(frame.header) :]  # words before it belong to the user's turn
    always = bool(frame.header) and frame.user_end.endswith(
        frame.header
    )  # it stands before the turn's own text
    header = "" if always else common_start(frame.header, before)
    behind = _up_to(region.partition(needles.reasoning)[2], needles.content, call.name, call.id)
    pair = find_pair(before, behind)
    if pair is not None and len(before) - len(pair.opener) < len(
        header
    ):  # every variant began with the opener
        header = before[: len(before) - len(pair.opener)]
    opened = before[len(header) :]
    if not opened.strip() and frame.prompt.startswith(header):
        opened = frame.prompt[len(header) :]  # only the generation prompt writes the opener
    moved = "" if always else frame.header[len(header) :]
    without = moved + frame.before_content
    close, content_open, empty = "", "", ""
    if alone is not None and needles.content in alone.partition(needles.reasoning)[2]:
        after = alone.partition(needles.reasoning)[2].partition(needles.content)[0]
        common = _split_always(opened, after, without, moved + before_calls)
        if common is not None and pair is not None and common[0].strip() != pair.closer.strip():
            common = None
        close, content_open, empty = common or split_close(after, without, pair)
    call_empty = moved + before_calls
    if alone is None and with_calls is not None:
        close = _first_marker(_up_to(with_calls.partition(needles.reasoning)[2], call.name, call.id))
        core = opened.strip() or close.strip()
        empty = call_empty if core and core in call_empty else ""
    return ReasoningFinding(
        fields=fields,
        open=opened,
        close=close,
        empty=empty,
        empty_beside_calls=call_empty,
        content_open=content_open,
        kept=kept,
        beside_calls=with_calls is not None,
        with_content=alone is not None,
        header=frame.header if always else header,
    )


def _up_to(text: str, *words: str) -> str:
    """Return `text` up to the first of `words` that is there: a value may be glued to the marker before it."""
    starts = [at for word in words if (at := text.find(word)) >= 0]
    return text[: min(starts)] if starts else text


def _split_always(opened: str, after: str, without: str, before_calls: str) -> tuple[str, str, str] | None:
    """Split as `split_close` does where every turn writes both tags: the closer is what texts and calls have in common.

    None where a turn without reasoning is written in another way.
    """
    if not opened.strip() or without != opened + after or not before_calls.startswith(opened):
        return None
    close = common_start(after, before_calls[len(opened) :])
    return (close, after[len(close) :], opened + close) if close.strip() else None


def split_close(after: str, without: str, pair: Pair | None) -> tuple[str, str, str]:
    """Split what stands between reasoning and content into the closer, the content's opener, and what is there when empty.

    `without` is what stands in the same place without reasoning.
    """
    if not without:
        return after, "", ""
    if not without.strip():  # white space that stands before the text with reasoning and without
        return (after[: -len(without)], without, "") if after.endswith(without) else (after, "", without)
    if pair is not None and (pair.closer.strip() in without or pair.opener.strip() in without):
        content_open = after[len(pair.closer) :]
        if content_open.strip() and without.endswith(content_open):
            return pair.closer, content_open, without[: len(without) - len(content_open)]
        return after, "", without
    shared = common_suffix(after, without)
    return after[: len(after) - len(shared)], shared, without[: len(without) - len(shared)]


def _first_marker(text: str) -> str:
    """Return `text` up to the end of its first marker and the white space after it."""
    pieces = lexemes(text)
    for at, piece in enumerate(pieces):
        if is_marker(piece):
            end = at + 1
            if end < len(pieces) and not pieces[end].strip():
                end += 1
            return "".join(pieces[:end])
    return text
