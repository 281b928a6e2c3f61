"""Defects that verification proved, as findings: said as precisely as another render can tell, and with all that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from analyzer.lint.ambiguities import call_opener
from analyzer.lint.asking import CALL, NEEDLE, RESULT, TOOLS, TURN, USER, Asker, conversation, declared
from analyzer.lint.findings import RULES, Finding, finding
from analyzer.render import RenderFailure
from analyzer.render.facts import template_facts
from analyzer.spec.model import Defect, Scalar

_SHOWN: Final = 400
_VAGUE: Final = frozenset({"The template raises an exception."})
"""What verification says where it has no better words than the rule's."""
_REASONING: Final = frozenset({"reasoning_lost_beside_calls", "reasoning_lost_without_calls"})


def from_defects(asker: Asker) -> Iterator[Finding]:
    """The defects of the spec, each with a conversation that shows it."""
    for defect in asker.spec.defects:
        found = _from_defect(asker, defect)
        if defect.kind == "calls_lost":
            yield from _lost_calls(asker, found)
        elif defect.kind == "tools_refused" and asker.spec.input.bare_tools:
            continue  # they are taken bare, which is said below
        elif defect.kind == "turn_after_result_broken":
            yield from _broken_turn(asker, found)
        elif defect.kind in _REASONING:
            yield _unless_set(asker, found)
        else:
            yield found
    if asker.spec.input.bare_tools:
        nested = conversation([USER], TOOLS)
        [outcome] = asker.outcomes([nested])
        if isinstance(outcome, RenderFailure):
            evidence = {"exception": outcome.message}
        else:
            evidence = {"render": outcome.text[-_SHOWN:]}
        yield finding("bare_tools_only", evidence=evidence, conversation=nested)


def _from_defect(asker: Asker, defect: Defect) -> Finding:
    witness: dict[str, Any] = dict(defect.witness)
    shown: dict[str, Any] = {key: witness.pop(key) for key in ("messages", "tools") if key in witness}
    if "variables" in witness and shown:
        shown["variables"] = witness.pop("variables")
    kind = defect.kind if defect.kind in RULES else "not_understood"
    message = "" if defect.message in _VAGUE else defect.message
    return finding(kind, message, evidence=witness, conversation=_whole(asker, shown, witness))


def _whole(asker: Asker, shown: dict[str, Any], witness: Mapping[str, Any]) -> dict[str, Any]:
    """The conversation with the tools that it needs: verification declares tools and names the messages alone."""
    if not shown or "tools" in shown:
        return shown
    with_tools = {**shown, "tools": declared(shown["messages"])}
    outcomes = asker.outcomes([with_tools, shown])
    for asked, outcome in zip((with_tools, shown), outcomes, strict=True):
        if isinstance(outcome, RenderFailure):
            if outcome.message == witness.get("exception"):
                return asked
        elif "exception" not in witness:
            return asked
    return shown


def _lost_calls(asker: Asker, found: Finding) -> Iterator[Finding]:
    """Say when calls are lost: beside a text, in the last turn, or always."""
    beside = {**TURN, "content": "Let me see."}
    asked = [asker.prepared(USER, turn, *more) for turn in (TURN, beside) for more in ((), (RESULT,))]
    last, followed, beside_last, beside_followed = (NEEDLE in (text or "") for text in asker.texts(asked))
    if last and followed and not (beside_last or beside_followed):
        yield finding("calls_lost_beside_content", evidence=found.evidence, conversation=asked[2])
    elif followed and not last:
        yield replace(
            found, message="Calls of a turn that no result follows are not written.", conversation=asked[0]
        )
    else:
        yield found


def _broken_turn(asker: Asker, found: Finding) -> Iterator[Finding]:
    """Only where the calls themselves are written in another way; the header behind a result may be another, or none."""
    opener = call_opener(asker.spec).strip()
    again = {**TURN, "tool_calls": [{**CALL, "id": "call00002"}]}
    first = {"city": "Oslo"}
    before = {**TURN, "tool_calls": [{**CALL, "function": {"name": "get_weather", "arguments": first}}]}
    asked = [asker.prepared(USER, again), asker.prepared(USER, before, RESULT, again)]
    alone, behind = asker.texts(asked)
    if alone is None or behind is None or opener not in alone:
        return
    calls = alone[alone.rindex(opener) :]
    if not behind.rstrip().endswith(calls.rstrip()):
        evidence = {"render": behind[-_SHOWN:], "after_a_user_message": calls}
        yield replace(found, evidence=evidence, conversation=asked[1])


def _unless_set(asker: Asker, found: Finding) -> Finding:
    """Say under which setting reasoning is written after all."""
    turn = found.conversation.get("messages", [{}])[-1]
    needles = [str(turn[name]).strip() for name in asker.spec.input.reasoning_fields if turn.get(name)]
    settings = _settings(asker) if needles else []
    plain = {key: value for key, value in found.conversation.items() if key != "variables"}
    given = found.conversation.get("variables", {})
    asked = [plain, *({**plain, "variables": {name: value}} for name, value in settings)]
    by_default, *others = (bool(text and needles and needles[0] in text) for text in asker.texts(asked))
    if given and by_default:
        name, value = next(iter(given.items()))
        words = f"{found.message.removesuffix('.')} where `{name}` is {value!r}."
        return replace(found, message=words, severity="note")
    written = [one for one, shown in zip(settings, others, strict=True) if shown]
    if not written:
        return found
    name, value = written[0]
    words = f"{found.message.removesuffix('.')}, unless `{name}` is {value!r}."
    return replace(found, message=words, severity="note")


def _settings(asker: Asker) -> list[tuple[str, Scalar]]:
    """Values of the variables that the template reads from outside: those that change its prompt, and the others on and off."""
    found = [(name, value) for name, values in asker.spec.input.settings.items() for value in values]
    known = {*asker.spec.input.settings, *asker.spec.input.variables}
    others = [name for name in template_facts(asker.template.text).switches if name not in known]
    return [*found, *((name, value) for name in others for value in (True, False))]
