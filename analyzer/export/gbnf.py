"""Target `gbnf`: the fields of a llama-server request that constrain calls.

grammar             the calls of a turn; a closer of a raw value is met by an automaton, GBNF has no lazy match
grammar_lazy        true for `auto`: the grammar starts where a trigger is written, and stays on to the end
grammar_triggers    the triggers, as words (type 1)
preserved_tokens    markers that must reach the grammar as they are
stop                what ends a turn
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from analyzer.chat import Tool
from analyzer.export.call_grammar import calls_rule
from analyzer.export.calls import key_order, tool_calls, trigger_of
from analyzer.export.choice import calls_of, resolve
from analyzer.export.result import Export, Losses, Options
from analyzer.export.rules import Rules
from analyzer.spec.model import Spec

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
    root = calls_rule(rules, segment, calls, losses, TARGET, single=choice.single, white=not lazy)
    triggers = trigger_of(spec, segment, calls, losses)
    fields["grammar"] = rules.text(root)
    if lazy:
        losses.add(
            "text_after", "Text after the calls is not accepted: the grammar stays on to the end of the turn."
        )
        fields["grammar_lazy"] = True
        fields["grammar_triggers"] = [{"type": WORD, "value": trigger} for trigger in triggers]
        fields["preserved_tokens"] = list(dict.fromkeys([*spec.grammar.preserved_tokens, *triggers]))
    elif spec.grammar.preserved_tokens:
        fields["preserved_tokens"] = list(spec.grammar.preserved_tokens)
    return Export(fields, losses.all())
