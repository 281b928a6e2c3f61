r"""Target `response-template`: the declarative format that transformers, vLLM and SGLang parse with.

Only what all three readers take is written: the fields `thinking`, `content` and `tool_calls`, literals and optional white
space, no named groups in closers. Where only transformers has a parser for the arguments (`python-call-list`), that is a loss.

    header, prompts        start_anchor: the text up to which the prompt is not parsed
    reasoning              thinking     open, close
    content                content      no opener where the format has none: what no other field takes
    calls                  tool_calls   one region a call; the section's own markers are optional parts of opener and closer
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from analyzer.chat import Tool
from analyzer.errors import ExportError
from analyzer.export.calls import begun_in_prompt
from analyzer.export.patterns import alternatives, literal, maybe
from analyzer.export.response_template_calls import calls_field
from analyzer.export.result import Export, Losses, Options
from analyzer.spec.model import Prompt, Spec

TARGET: Final = "response-template"
_LAST_MARKER: Final = re.compile(r"(?:<[^<>\s]+>|\[[^\[\]\s]+\])$")


def export(spec: Spec, tools: Sequence[Tool], options: Options) -> Export:
    """Return the template as data. Tools are not needed: the readers take them when they parse."""
    del tools
    if options.tool_choice not in ("auto", "none") or not options.parallel:
        raise ExportError(
            "a response template cannot force or limit calls",
            target=TARGET,
            hint="It parses what came; allowed are the choices auto and none. Constrain with another target.",
        )
    losses = Losses()
    losses.add("white_space", "White space at the ends of content and reasoning is removed.")
    payload: dict[str, Any] = {"version": 1, "defaults": {"role": "assistant"}, **_anchor(spec)}
    payload["fields"] = {}
    if spec.reasoning:
        payload["fields"]["thinking"] = _thinking(spec)
        edges = [edge.strip() for one in spec.reasoning for edge in (one.open, one.close) if edge.strip()]
        if any(edge in text.open for edge in edges for text in spec.content):
            losses.add("second_reasoning", "Of several blocks of reasoning in a turn the last one is kept.")
    if spec.calls is not None and options.tool_choice != "none":
        payload["fields"]["tool_calls"] = calls_field(spec, losses, TARGET)
        begun_in_prompt(spec, losses)
    payload["fields"]["content"] = _content(spec, losses)
    if spec.overlays:
        losses.add("overlays", "The further spellings that overlays add are not read.")
    return Export(payload, losses.all())


# ------------------------------------------------------------------------------------------------------------- the prompt


def _anchor(spec: Spec) -> dict[str, Any]:
    """The texts after which the model's turn begins; without any, all of the prompt but what opens the turn."""
    found = [spec.turn.header, *(_before_turn(spec, prompt) for prompt in spec.turn.prompts)]
    if any(text.strip() for text in found):
        found.append(_result_end(spec))
    anchors = sorted({text for text in found if text.strip()}, key=lambda text: (-len(text), text))
    if anchors:
        return {"start_anchor": anchors[0] if len(anchors) == 1 else anchors}
    prefills = sorted({prompt.text for prompt in spec.turn.prompts if prompt.text}, key=len, reverse=True)
    ahead = alternatives([literal(text) for text in prefills])
    return {"start_anchor_pattern": f"^[\\s\\S]*?(?={maybe(ahead)}$)"}


def _result_end(spec: Spec) -> str:
    """Where results stand inside the model's turn: the last marker of what closes one, behind which the turn goes on."""
    if spec.results is None or spec.results.grouping != "in_turn":
        return ""
    last = spec.results.parts[-1] if spec.results.parts else spec.results.close
    close = (spec.results.end or (last if isinstance(last, str) else "")).strip()
    marker = _LAST_MARKER.search(close)
    return marker.group() if marker else close


def _before_turn(spec: Spec, prompt: Prompt) -> str:
    """The part of a generation prompt that stands before what it writes of the turn."""
    for segment in spec.reasoning:
        at = prompt.text.find(segment.open.strip()) if segment.open.strip() else -1
        if at >= 0:
            return prompt.text[:at]
    return prompt.text


# --------------------------------------------------------------------------------------------------- reasoning and content


def _thinking(spec: Spec) -> dict[str, Any]:
    opens = _openers(spec, [segment.open for segment in spec.reasoning])
    if not opens:
        raise ExportError(
            "reasoning has no opener of its own",
            target=TARGET,
            hint="A region that nothing opens would take the content too.",
        )
    closes = []
    for segment in spec.reasoning:
        close = segment.close if segment.close.strip() else (segment.end.literal if segment.end else "")
        closes += [close]
    ends = _literals(closes)
    field: dict[str, Any] = {"open": _one(opens), "content": "text"}
    if ends:
        field["close"] = _one(ends)
        orphan = [*(segment.empty for segment in spec.reasoning), *(segment.open for segment in spec.content)]
        if any(text.strip().startswith(tuple(ends)) for text in orphan):
            # Where the template writes the closer alone, it ends an empty region that opens before it.
            ahead = f"(?={alternatives([literal(end) for end in ends])})"
            field["open_pattern"] = "|".join([*(literal(text) for text in [*opens]), ahead])
            del field["open"]
    return field


def _content(spec: Spec, losses: Losses) -> dict[str, Any]:
    segments = spec.content
    opens = [
        text
        for text in _openers(spec, [segment.open for segment in segments])
        if not any(text in (f"{one.open}{one.close}".strip(), one.close.strip()) for one in spec.reasoning)
    ]
    closes = [segment.close for segment in segments if segment.close.strip()]
    ends = [segment.end.literal for segment in spec.turn.segments if segment.end is not None]
    ends += [stop for stop in spec.grammar.stops if stop not in ends]
    shared = [text for text in opens if text in _openers(spec, [one.open for one in spec.reasoning])]
    if shared:
        raise ExportError(f"content and reasoning both open with {shared[0]!r}", target=TARGET)
    field: dict[str, Any] = {}
    if opens and all(_openers(spec, [segment.open]) for segment in segments):
        field["open"] = _one(opens)
        losses.add("content_without_opener", f"Text that is not opened by {opens[0]!r} is dropped.")
    elif opens:
        losses.add("content_opener", f"The opener {opens[0]!r} stays in the content where it is written.")
    else:
        losses.add(
            "several_texts", "Of several texts in a turn (before and after calls) the last one is kept."
        )
    if "open" not in field and (spec.turn.header_repeats or _begins_with_header(spec)):
        losses.add("headers", "The header of a turn's further messages stays in the content.")
    found = _literals([*closes, *ends])
    gap = spec.calls.close if spec.calls is not None and not spec.calls.close.strip() else ""
    if gap:
        found = [*(f"{gap}{end}" for end in found), *found]
    if found:
        field["close"] = _one(found)
    return {**field, "content": "text"}


def _begins_with_header(spec: Spec) -> bool:
    """Whether text that follows reasoning is a message of its own, with what else begins the turn in front of it."""
    opens = [segment.open for segment in spec.content if segment.open.strip()]
    return bool(spec.reasoning) and any(not _openers(spec, [text]) for text in opens)


def _openers(spec: Spec, texts: Sequence[str]) -> list[str]:
    """The openers without what the prompt writes of them."""
    headers = {spec.turn.header, *(_before_turn(spec, prompt) for prompt in spec.turn.prompts)}
    known = sorted((text for text in headers if text.strip()), key=len, reverse=True)
    found = []
    for text in texts:
        header = next((header for header in known if text.strip().startswith(header.strip())), "")
        found.append(text.strip().removeprefix(header.strip()))
    return _literals(found)


def _literals(texts: Sequence[str]) -> list[str]:
    """The literals without the white space around them, which `text` removes from the value anyway."""
    return list(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _one(literals: Sequence[str]) -> str | list[str]:
    return literals[0] if len(literals) == 1 else list(literals)
