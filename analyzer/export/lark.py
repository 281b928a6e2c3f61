"""Target `lark`: a grammar as llguidance reads it, with JSON Schemas of its own and lazy text.

Markers whose token ids are known (`tokens`) are special tokens there, written by their ids; the others are text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from analyzer.chat import Tool
from analyzer.export.call_grammar import calls_rule
from analyzer.export.calls import (
    after_trigger,
    behind_calls,
    key_order,
    tool_calls,
    trigger_of,
    unchecked_keywords,
    without_opener,
)
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
    forced = choice.mode == "forced"
    opening = without_opener(spec, segment, calls, forced=forced, losses=losses)
    if forced:
        root = calls_rule(
            rules, segment, calls, losses, TARGET, single=choice.single, literal=spell, opening=opening
        )
        unchecked_keywords(rules.unchecked, losses)
        tail = behind_calls(spec, segment)
        last = rules.repeat(rules.literal(tail), "?") if tail else ""
        return Export(rules.text(rules.sequence(root, last)), losses.all())
    triggers = trigger_of(spec, segment, calls, losses)
    open_ended = segment.open.strip() and not segment.close.strip() and not choice.single
    guard = _shared([call.begin.lstrip() for call in calls]) if open_ended else ""
    units = []
    for trigger in triggers:
        rest = calls_rule(
            rules,
            *after_trigger(segment, calls, trigger),
            losses,
            TARGET,
            single=_one(segment, choice),
            exact=True,
            literal=spell,
        )
        units.append(rules.sequence(*_unit(rules, trigger, options.tokens, guard), rest))
    unchecked_keywords(rules.unchecked, losses)
    text = _without(rules, [trigger for trigger in triggers if trigger not in options.tokens], guard)
    turn = rules.repeat(rules.either(units), "?" if choice.single else "*")
    return Export(rules.text(rules.sequence(turn, text)), losses.all())


def _shared(texts: Sequence[str]) -> str:
    """What all of the texts begin with."""
    first, last = min(texts), max(texts)
    size = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), None)
    return first if size is None else first[:size]


def _without(rules: Rules, triggers: Sequence[str], guard: str) -> str:
    """Free text that holds no trigger."""
    if not triggers:
        return _text(rules, guard)
    spelt = "|".join(map(_pattern, triggers))
    return rules.terminal("TEXT", rf"{_ANY} & ~/(.|\n)*({spelt})(.|\n)*/{_not_first(guard)}")


def _text(rules: Rules, guard: str) -> str:
    return rules.terminal("ANY", f"{_ANY}{_not_first(guard)}")


def _not_first(guard: str) -> str:
    """Where nothing closes a section, text may not begin as a further call does: the lexer would take the call for it."""
    return rf" & ~/{_pattern(guard)}(.|\n)*/" if guard else ""


def _pattern(text: str) -> str:
    return re.sub(r"([\\^$.|?*+()\[\]{}/])", r"\\\1", text).replace("\n", "\\n")


def _unit(rules: Rules, trigger: str, tokens: Mapping[str, int], guard: str) -> tuple[str, ...]:
    """Free text up to and with a trigger: a special token is no text, so it ends the text by itself."""
    if trigger in tokens:
        return _text(rules, guard), f"<[{tokens[trigger]}]>"
    return (rules.until(trigger, _text(rules, guard) if guard else _ANY),)


def _one(segment: CallsSegment, choice: Choice) -> bool:
    """Whether one call follows a trigger: without a section each call has its own."""
    return choice.single or not segment.open.strip()


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
