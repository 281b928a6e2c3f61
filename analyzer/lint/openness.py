"""What the format leaves open, shown: two different turns whose renders are the same.

`analyzer.lint.ambiguities` reads from a spec alone where that may be; here the template is asked, so that nothing is
said of a format that was not understood.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from analyzer.lint.ambiguities import ambiguities
from analyzer.lint.asking import CALL, NEEDLE, TOOLS, TURN, USER, Asker, Conversation, declared
from analyzer.lint.findings import RULES, Finding, finding
from analyzer.prepare.reasoning import reasoning_field

_COLLISION: Final = "collision: "
_CLOSER: Final = re.compile(
    r"a value that holds (?P<literal>'.*'|\".*\") is read as the end of the value", re.DOTALL
)
_RESERVED: Final = re.compile(r"a call of a tool named (?P<name>'.*?'|\".*?\") begins like ")


def from_format(asker: Asker) -> Iterator[Finding]:
    """What the format leaves open."""
    yield from _same_renders(asker)
    for line in asker.spec.verification.unproven:
        if line.startswith(_COLLISION):
            yield from _collision(asker, line.removeprefix(_COLLISION))
    if asker.spec.verification.verdict == "failed":
        return  # the literals of a spec that is wrong say nothing of the template
    for one in ambiguities(asker.spec):
        if (
            one.kind in RULES and not one.fatal
        ):  # what was proven can be read, whatever its literals look like
            shown = _call_as_text(asker) if one.kind == "unmarked_calls" else {}
            yield finding(
                one.kind,
                one.message,
                evidence={"field": one.path, "literals": list(one.literals)},
                conversation=shown,
            )


def _same_renders(asker: Asker) -> Iterator[Finding]:
    """Reasoning that is written as content is: no parser can tell one from the other."""
    name = reasoning_field(asker.spec)
    if not name:
        return
    thought = asker.prepared(USER, {"role": "assistant", "content": "", name: NEEDLE}, tools=None)
    said = asker.prepared(USER, {"role": "assistant", "content": NEEDLE}, tools=None)
    one, other = asker.texts([thought, said])
    if one is not None and one == other and NEEDLE in one:
        evidence = {"other": said["messages"][-1], "proof": "same_render"}
        yield finding(
            "ambiguous", "Reasoning and content are written alike.", evidence=evidence, conversation=thought
        )


def _collision(asker: Asker, text: str) -> Iterator[Finding]:
    """A collision that verification saw, with a conversation that shows it."""
    message = f"{text[:1].upper()}{text[1:]}."
    matched, reserved = _CLOSER.fullmatch(text), _RESERVED.match(text)
    if reserved is not None:
        shown = _calling(asker, {"city": NEEDLE}, ast.literal_eval(reserved["name"]))
        yield finding("reserved_name", message, conversation=shown)
    elif matched is not None:
        yield from _closed_early(asker, message, ast.literal_eval(matched["literal"]))
    else:
        yield finding("unmarked_calls", message, conversation=_call_as_text(asker))


def _closed_early(asker: Asker, message: str, literal: str) -> Iterator[Finding]:
    """Two calls that are written alike: one with a value that holds the literal, one with a value more."""
    one = _calling(asker, {"city": f"{NEEDLE}{literal}Oslo"})
    other = _calling(asker, {"city": NEEDLE, "city_name": "Oslo"})
    texts = asker.texts([one, other])
    if texts[0] is not None and texts[0] == texts[1]:
        evidence = {"literal": literal, "other": other["messages"][-1], "proof": "same_render"}
        yield finding("value_holds_closer", message, evidence=evidence, conversation=one)


def _calling(asker: Asker, arguments: Mapping[str, Any], name: str = "get_weather") -> Conversation:
    turn = {**TURN, "tool_calls": [{**CALL, "function": {"name": name, "arguments": dict(arguments)}}]}
    return asker.prepared(USER, turn, tools=declared([turn]) if name != "get_weather" else TOOLS)


def _call_as_text(asker: Asker) -> Conversation:
    """A turn of text that is written as a turn with a call is; empty where none is."""
    call, text = asker.prepared(USER, TURN), asker.prepared(USER, {"role": "assistant", "content": NEEDLE})
    written, framed = asker.texts([call, text])
    if written is None or framed is None or framed.count(NEEDLE) != 1:
        return {}
    before, _, after = framed.partition(NEEDLE)
    if not written.startswith(before) or not written.endswith(after):
        return {}
    said = written[len(before) : len(written) - len(after)]
    asked = asker.prepared(USER, {"role": "assistant", "content": said})
    [again] = asker.texts([asked])
    return asked if again == written else {}
