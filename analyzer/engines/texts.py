"""The parts of a turn that a grammar is held against."""

from __future__ import annotations

from analyzer.chat import Message
from analyzer.spec.model import Spec
from analyzer.verify.writer import write_call, write_turn


def without_end(spec: Spec, text: str) -> str:
    """The text without the literal that ends the turn: engines stop there by the token, not by the grammar."""
    ends = {segment.end.literal for segment in spec.turn.segments if segment.end}
    return text.removesuffix(
        next((end for end in sorted(ends, key=len, reverse=True) if text.endswith(end)), "")
    )


def calls_text(spec: Spec, message: Message) -> str:
    """The calls of a message as the format writes them alone; the spec and the message must have calls."""
    segment = spec.calls
    if segment is None or not message.tool_calls:
        raise ValueError("the spec or the message has no calls")
    calls = message.tool_calls
    text = write_turn(spec, Message(None, None, calls))
    start = text.index(write_call(spec, calls[0])) - len(segment.open)
    last = write_call(spec, calls[-1], len(calls) - 1)
    end = text.rindex(last) + len(last)
    return text[start : end + len(segment.close)]
