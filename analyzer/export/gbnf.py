"""Target `gbnf`: the fields of a llama-server request that constrain calls.

grammar             the calls of a turn; a closer of a raw value is met by an automaton, GBNF has no lazy match
grammar_lazy        true for `auto`: the grammar starts where a trigger is written, and stays on to the end, so that the text
                    behind a call is in it too: an automaton that goes on to the next trigger
grammar_triggers    the triggers, as words (type 1)
preserved_tokens    markers that must reach the grammar as they are
stop                what ends a turn
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from analyzer.chat import Tool
from analyzer.export.call_grammar import calls_rule
from analyzer.export.calls import (
    ToolCall,
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

TARGET: Final = "gbnf"
WORD: Final = 1
"""The kind of trigger that is a text."""


def export(spec: Spec, tools: Sequence[Tool], options: Options) -> Export:
    """Return the request's fields as data."""
    losses = Losses()
    choice = resolve(spec, tools, options, losses, TARGET)
    fields: dict[str, Any] = {"stop": list(spec.grammar.stops)}
    if choice.mode == "none":
        return Export(fields, losses.all())
    segment = calls_of(spec, TARGET)
    calls = tool_calls(spec, segment, choice.tools, TARGET)
    key_order(calls, losses)
    if len(segment.layouts) > 1 or spec.overlays:
        losses.add("one_spelling", "Further spellings of calls are not accepted.")
    rules = Rules()
    lazy = choice.mode == "auto"
    opening = without_opener(spec, segment, calls, forced=not lazy, losses=losses)
    if lazy:
        triggers = trigger_of(spec, segment, calls, losses)
        fields["grammar"] = _lazy(rules, segment, calls, triggers, choice, losses)
        unchecked_keywords(rules.unchecked, losses)
        fields["grammar_lazy"] = True
        fields["grammar_triggers"] = [{"type": WORD, "value": trigger} for trigger in triggers]
        fields["preserved_tokens"] = list(dict.fromkeys([*spec.grammar.preserved_tokens, *triggers]))
        return Export(fields, losses.all())
    root = calls_rule(rules, segment, calls, losses, TARGET, single=choice.single, opening=opening)
    unchecked_keywords(rules.unchecked, losses)
    tail = behind_calls(spec, segment)
    fields["grammar"] = rules.text(
        rules.sequence(root, rules.repeat(rules.literal(tail), "?") if tail else "")
    )
    if spec.grammar.preserved_tokens:
        fields["preserved_tokens"] = list(spec.grammar.preserved_tokens)
    return Export(fields, losses.all())


def _lazy(
    rules: Rules,
    segment: CallsSegment,
    calls: Sequence[ToolCall],
    triggers: Sequence[str],
    choice: Choice,
    losses: Losses,
) -> str:
    """A trigger and what follows it; then free text, in which a further trigger begins further calls unless one is all."""
    rest = rules.reserve("text")
    units = {}
    for trigger in triggers:
        found = calls_rule(
            rules,
            *after_trigger(segment, calls, trigger),
            losses,
            TARGET,
            single=choice.single or not segment.open.strip(),
            exact=True,
        )
        units[trigger] = rules.add("behind", rules.sequence(found, rest))
    rules.automaton(rest, dict.fromkeys(units) if choice.single else units, ends=True)
    return rules.text(rules.either(rules.sequence(rules.literal(one), units[one]) for one in triggers))
