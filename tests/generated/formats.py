"""Random formats: a spec and what surrounds the model's turns, from the whole space that a spec can express."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from analyzer.spec import model, parts
from tests.generated.calls import NAME, calls_segments, literal_parts
from tests.generated.markers import Palette, palettes, spaces


@dataclass(frozen=True, slots=True)
class Format:
    """A format whole: the spec of the assistant's turns, and the text around them."""

    spec: model.Spec
    bos: str
    user: tuple[str, str]
    """What stands before and after a user message."""
    system: tuple[str, str]
    after_end: str
    """White space behind the assistant's end."""
    toggle: str = ""
    """A variable that, set to false, has the prompt close reasoning at once."""
    json_style: str = ""
    """The arguments of `tojson`."""
    text_arguments: bool = False
    """The template takes arguments given as JSON text as well."""
    trims: bool = False
    labels: tuple[str, ...] = field(default=(), compare=False)
    """What was drawn, for the statistics."""


# ------------------------------------------------------------------------------------------------------------ turns


@st.composite
def formats(draw: st.DrawFn) -> Format:
    """A format: headers, reasoning, content, calls, ends, results, prompts."""
    palette = draw(palettes())
    frame = draw(st.sampled_from(["header", "header", "role_marker", "plain", "closing"]))
    line = draw(st.sampled_from(["\n", "\n", ""]))
    turn_open, turn_close = palette.pair("turn")
    names = draw(st.sampled_from([("user", "assistant"), ("human", "model"), ("USER", "ASSISTANT")]))
    headers = {
        "header": [f"{turn_open}{name}{line or '|'}" for name in (*names, "system", "tool")],
        "role_marker": [f"<|{name}|>{line}" for name in (*names, "system", "tool")],
        "plain": [f"### {name.title()}:\n" for name in (*names, "system", "tool")],
        "closing": [f"[{name}]{line}" for name in (*names, "system", "tool")],
    }[frame]
    finish = {
        "header": turn_close,
        "role_marker": draw(st.sampled_from([turn_close, "<|eot|>"])),
        "plain": "</s>",
        "closing": "[/eot]",
    }[frame]
    end = model.End(literal=finish)
    after_end = draw(st.sampled_from(["", "\n"]))
    several = draw(st.integers(0, 6)) == 0
    calls, kind = draw(calls_segments(palette, end))
    reasoning, toggle, prefill, variants = draw(_reasoning(palette))
    behind = not several and draw(st.integers(0, 9)) == 0
    content = draw(_content(palette, end, several=several, behind=behind))
    segments: list[Any] = [*reasoning, *content, calls]
    label = "one message"
    if several:
        channel = {"reasoning": "<|channel|>analysis<|message|>", "content": "<|channel|>final<|message|>"}
        middle = model.End(literal="<|end|>", stop=False)
        last = draw(st.sampled_from([end, end, middle]))
        segments = [
            *(
                one.model_copy(update={"open": channel["reasoning"], "close": "", "empty": "", "end": middle})
                for one in reasoning
            ),
            *_content_messages(channel["content"], middle, last),
            calls.model_copy(update={"open": "<|channel|>commentary<|message|>" + calls.open}),
        ]
        toggle, prefill, variants, label = "", "", {}, "several messages"
    elif behind:
        segments = [*reasoning, calls, *content]
        label = "calls first"
    header = headers[1]
    prompts = [model.Prompt(text=header + prefill)]
    for after in ("user", "result"):
        default = {True: prefill, **variants} if toggle else {}
        prompts += [model.Prompt(set={}, after=after, text=header + prefill)] if after == "result" else []
        prompts += [
            model.Prompt(set={toggle: value}, after=after, text=header + text)
            for value, text in default.items()
        ]
    results = draw(_results(palette, headers, finish, after_end))
    takes_text = draw(st.booleans()) and _one_value(calls.layouts[0])
    spec = model.Spec(
        input=model.InputFacts(
            arguments="both" if takes_text else "mapping",
            reasoning_fields=("reasoning_content",) if reasoning else (),
            settings={toggle: (True, False)} if toggle else {},
        ),
        turn=model.Turn(
            prompts=tuple(prompts), header=header, header_repeats=several, segments=tuple(segments)
        ),
        results=results,
    )
    return Format(
        spec=spec,
        bos=draw(st.sampled_from(["", "<s>", "<|begin|>"])),
        user=(headers[0], finish + after_end),
        system=(headers[2], finish + after_end),
        after_end=after_end,
        toggle=toggle,
        json_style=draw(st.sampled_from(["", "", "separators=(',', ':')", "ensure_ascii=false"])),
        text_arguments=takes_text,
        labels=(kind, label, "reasoning" if reasoning else "no reasoning"),
    )


def _one_value(layout: model.Layout) -> bool:
    """Whether all arguments stand as one JSON value, so that JSON text can be printed in its place."""
    return any(
        isinstance(part, parts.ArgumentsSlot)
        and part.codec is not None
        and part.codec.kind in ("json", "json_text")
        for part in layout.parts
    )


def _content_messages(opener: str, middle: model.End, last: model.End) -> list[model.ContentSegment]:
    """The message of text: as the last one of a turn and before calls."""
    if last == middle:
        return [model.ContentSegment(open=opener, end=middle)]
    return [
        model.ContentSegment(when="alone", open=opener, end=last),
        model.ContentSegment(when="beside_calls", open=opener, end=middle),
    ]


@st.composite
def _reasoning(
    draw: st.DrawFn, palette: Palette
) -> tuple[list[model.ReasoningSegment], str, str, dict[bool, str]]:
    """Reasoning segments, a toggle, the default prefill and the prefill under each value of the toggle."""
    if draw(st.integers(0, 3)) == 0:
        return [], "", "", {}
    open_, close = palette.pair("reasoning")
    inner, after = draw(st.sampled_from(["", "\n"])), draw(st.sampled_from(["", "\n", "\n\n"]))
    kept = draw(st.sampled_from(["always", "always", "current_turn"]))
    always = draw(st.integers(0, 3)) == 0
    segment = model.ReasoningSegment(
        open=open_ + inner,
        close=inner + close + after,
        empty=(open_ + inner + inner + close + after) if always else "",
        kept=kept,
    )
    prefill = draw(st.sampled_from(["absent", "absent", "open"]))
    toggle = draw(st.sampled_from(["", "enable_thinking", "thinking"]))
    closed = open_ + inner + inner + close + after
    default = open_ + inner if prefill == "open" else ""
    return [segment], toggle, default, {False: closed} if toggle else {}


@st.composite
def _content(
    draw: st.DrawFn, palette: Palette, end: model.End, *, several: bool, behind: bool
) -> list[model.ContentSegment]:
    open_, close = draw(st.sampled_from([("", ""), ("", ""), ("", ""), palette.pair("content")]))
    joined = draw(st.sampled_from(["", "\n", "\n\n"]))
    if several or not joined:
        return [model.ContentSegment(open=open_, close=close, end=end)]
    before, after = (joined, "") if behind else ("", joined)
    return [
        model.ContentSegment(when="alone", open=open_, close=close, end=end),
        model.ContentSegment(when="beside_calls", open=before + open_, close=close + after, end=end),
    ]


@st.composite
def _results(
    draw: st.DrawFn, palette: Palette, headers: list[str], finish: str, after_end: str
) -> model.Results:
    open_, close = palette.pair("result")
    space = draw(spaces())
    grouping = draw(st.sampled_from(["own_turn", "shared_turn"]))
    own_header = draw(st.booleans())
    content = draw(st.sampled_from(["raw", "raw", "json"]))
    extra = draw(st.sampled_from(["", "", "id", "name"]))
    slots: dict[str, tuple[Any, ...]] = {
        "": (),
        "id": ("for ", parts.IdSlot(), "\n"),
        "name": ("from ", NAME, "\n"),
    }
    return model.Results(
        role="tool" if own_header else "user",
        header=headers[3] if own_header else headers[0],
        open=open_ + space,
        close=space + close,
        separator=draw(st.sampled_from(["", "\n"])) if grouping == "shared_turn" else "",
        end=finish + after_end,
        content=content,
        grouping=grouping,
        parts=literal_parts(open_ + space, *slots[extra], parts.ContentSlot(), space + close),
    )
