"""Target `lark`: a grammar as llguidance reads it, with JSON Schemas of its own and lazy text.

Markers whose token ids are known (`tokens`) are special tokens there, written by their ids; the others are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from analyzer.chat import Tool
from analyzer.export.call_grammar import calls_rule
from analyzer.export.calls import ToolCall, key_order, tool_calls, trigger_of
from analyzer.export.choice import Choice, calls_of, resolve
from analyzer.export.result import Export, Losses, Options
from analyzer.export.rules import Rules
from analyzer.spec.model import CallsSegment, Spec

TARGET: Final = "lark"
_ANY: Final = r"/(.|\n)*/"


def export(spec: Spec, tools: Sequence[Tool], options: Options) -> Export:
    """Return the grammar as text."""
    losses = Losses()
    choice = resolve(spec, tools, options, losses, TARGET)
    rules = Rules("lark")
    if choice.mode == "none":
        return Export(rules.text(_ANY), losses.all())
    segment = calls_of(spec, TARGET)
    calls = tool_calls(spec, segment, choice.tools, TARGET)
    key_order(calls, losses)
    if len(segment.layouts) > 1 or spec.overlays:
        losses.add("one_spelling", "Further spellings of calls are not accepted.")
    spell = _speller(rules, options.tokens)
    if choice.mode == "forced":
        root = calls_rule(rules, segment, calls, losses, TARGET, single=choice.single, literal=spell)
        return Export(rules.text(root), losses.all())
    triggers = trigger_of(spec, segment, calls, losses)
    units = []
    for trigger in triggers:
        rest = calls_rule(
            rules,
            *_after(segment, calls, trigger),
            losses,
            TARGET,
            single=_one(segment, choice),
            exact=True,
            literal=spell,
        )
        units.append(rules.sequence(*_unit(rules, trigger, options.tokens), rest))
    text = _without(rules, [trigger for trigger in triggers if trigger not in options.tokens])
    turn = rules.repeat(rules.either(units), "?" if choice.single else "*")
    return Export(rules.text(rules.sequence(turn, text)), losses.all())


def _without(rules: Rules, triggers: Sequence[str]) -> str:
    """Free text that holds no trigger."""
    if not triggers:
        return rules.add("text", _ANY)
    spelt = "|".join(
        re.sub(r"([\\^$.|?*+()\[\]{}/])", r"\\\1", trigger).replace("\n", "\\n") for trigger in triggers
    )
    return rules.terminal("TEXT", rf"{_ANY} & ~/(.|\n)*({spelt})(.|\n)*/")


def _unit(rules: Rules, trigger: str, tokens: Mapping[str, int]) -> tuple[str, ...]:
    """Free text up to and with a trigger: a special token is no text, so it ends the text by itself."""
    if trigger in tokens:
        return rules.add("text", _ANY), f"<[{tokens[trigger]}]>"
    return (rules.until(trigger),)


def _one(segment: CallsSegment, choice: Choice) -> bool:
    """Whether one call follows a trigger: without a section each call has its own."""
    return choice.single or not segment.open.strip()


def _after(
    segment: CallsSegment, calls: Sequence[ToolCall], trigger: str
) -> tuple[CallsSegment, list[ToolCall]]:
    """What follows a trigger: the section or the calls that begin with it, without it."""
    if segment.open.strip():
        return segment.model_copy(update={"open": segment.open.lstrip().removeprefix(trigger)}), list(calls)
    kept = [
        replace(call, parts=(call.begin.lstrip().removeprefix(trigger), *call.parts[1:]))
        for call in calls
        if call.begin.lstrip().startswith(trigger)
    ]
    return segment.model_copy(update={"open": "", "close": ""}), kept


def _speller(rules: Rules, tokens: Mapping[str, int]) -> Callable[[str], str]:
    if not tokens:
        return rules.literal
    known = re.compile("|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True)))

    def spell(text: str) -> str:
        out, at = [], 0
        for found in known.finditer(text):
            out += [rules.literal(text[at : found.start()]), f"<[{tokens[found.group()]}]>"]
            at = found.end()
        return rules.sequence(*out, rules.literal(text[at:]))

    return spell
