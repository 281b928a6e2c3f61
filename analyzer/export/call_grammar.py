"""All calls of a turn as one grammar: what the targets `gbnf` and `lark` have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzer.export.arguments import Arguments
from analyzer.export.calls import Concrete, ToolCall
from analyzer.export.result import Losses
from analyzer.export.rules import Rules
from analyzer.spec.model import CallsSegment
from analyzer.spec.parts import IdSlot, IndexSlot


def calls_rule(
    rules: Rules,
    segment: CallsSegment,
    calls: Sequence[ToolCall],
    losses: Losses,
    target: str,
    *,
    single: bool,
    white: bool = True,
    exact: bool = False,
    literal: Callable[[str], str] | None = None,
    opening: Sequence[ToolCall] | None = None,
) -> str:
    """Return the expression of a section: one call, or several with the separator between them.

    `white`: the white space that the section begins with may stand there; `exact`: what is given begins after a trigger;
    `literal` spells markers; `opening`: how the first call is written where the prompt has written its opener.
    """
    spell = literal or rules.literal
    made = Arguments(rules, losses, target)
    bare = not segment.open and not exact  # then the white space in front of a call is put between the calls
    one = rules.add("call", rules.either([_call(rules, call, made, spell, bare=bare) for call in calls]))
    first = segment.open or min((call.begin for call in calls), key=len)
    space = "" if exact else _white(first)
    ahead = rules.repeat(rules.literal(space), "?") if space and white else ""
    if segment.open:
        return rules.sequence(
            ahead,
            spell(segment.open.removeprefix(space)),
            _listed(rules, one, spell(segment.separator), single=single),
            spell(segment.close),
        )
    gap = f"{segment.separator}{space}"
    if opening is not None:
        begun = rules.add(
            "first", rules.either([_call(rules, call, made, spell, bare=bare) for call in opening])
        )
        more = "" if single else rules.repeat(rules.sequence(spell(gap), one), "*")
        return rules.sequence(begun, more, spell(segment.close))
    return rules.sequence(ahead, _listed(rules, one, spell(gap), single=single), spell(segment.close))


def _white(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _listed(rules: Rules, one: str, gap: str, *, single: bool) -> str:
    return one if single else rules.sequence(one, rules.repeat(rules.sequence(gap, one), "*"))


def _call(rules: Rules, call: ToolCall, made: Arguments, spell: Callable[[str], str], *, bare: bool) -> str:
    out: list[str] = []
    for number, part in enumerate(call.parts):
        if isinstance(part, str):
            out.append(spell(part.lstrip() if bare and number == 0 else part) if part else "")
        elif isinstance(part, IndexSlot):
            out.append(rules.repeat(rules.klass("0-9"), "+"))
        elif isinstance(part, IdSlot):
            stop = _first(call.parts[number + 1])
            out.append(rules.repeat(rules.one_of(f"{stop}\n", other=True), "+"))
        else:
            before = call.parts[number - 1]
            inside = isinstance(before, str) and before.endswith('"')
            out.append(made.expression(part, call.schema, inside=inside))
    return rules.add(call.tool.name, rules.sequence(*out))


def _first(part: Concrete) -> str:
    return part.lstrip()[:1] if isinstance(part, str) else ""
