"""What holds for every proven spec of the corpus: its own turns are read back, and no text breaks the parser.

The suite takes a part of the specs and a few mutations of each turn, always the same ones. At night
(`HYPOTHESIS_PROFILE=nightly`) all specs are tried with many mutations; `scripts/fuzz` goes on as long as it is let.
"""

from __future__ import annotations

import os
import random
from typing import Any, Final

import pytest

from analyzer.chat import Message
from analyzer.runtime import STRICT, CallEnd, Event, Options, Parser, Problem, assemble, coalesce
from tests.generated.check import TOOLS
from tests.runtime.checks import check_calls, check_spans, run
from tests.runtime.golden import (
    Golden,
    golden_specs,
    literals,
    mutated,
    pieces,
    sampled,
    turns,
    unreadable,
)

NIGHTLY: Final = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
MUTATIONS: Final = 100 if NIGHTLY else 2
SAMPLE: Final = sampled(1 if NIGHTLY else 4)
OPTIONS: Final = (Options(), STRICT, Options(malformed="content"), Options(reasoning="content"))
USUAL: Final = frozenset({"inner_quote", "unknown_tool", "type_mismatch", "unknown_prompt"})
"""Problems of the sample messages themselves: a quote inside of quotes, a value of another type than the schema's."""
BOUND: Final = 1200


def texts(golden: Golden) -> list[tuple[Message, str]]:
    """The turns of a spec, each once."""
    found: dict[str, Message] = {}
    for message, text in turns(golden):
        found.setdefault(text, message)
    return [(message, text) for text, message in found.items()]


def same(sent: Message, got: Message) -> bool:
    """Whether content, reasoning, names and decoded arguments are the same."""
    calls = [(call.name, call.decoded()) for call in sent.tool_calls]
    found = [(call.name, call.decoded()) for call in got.tool_calls]
    return (sent.content, sent.reasoning_content, calls) == (got.content, got.reasoning_content, found)


def check_text(golden: Golden, text: str, chunks: list[str], **more: Any) -> list[Event]:
    """Parse whole, by character and in chunks; the spans tile, the calls are in order, the events are the same."""
    whole = run(golden.spec, [text], TOOLS, **dict(more))
    check_spans(whole, len(text))
    check_calls(whole)
    expected = coalesce(whole)
    for cut in (list(text), chunks):
        events = run(golden.spec, cut, TOOLS, **dict(more))
        check_spans(events, len(text))
        check_calls(events)
        assert coalesce(events) == expected, (golden.name, text, cut)
    return whole


def parameters(found: list[Golden]) -> list[Any]:
    """Specs as parameters."""
    return [pytest.param(golden, id=golden.name) for golden in found]


def test_the_golden_specs_are_there() -> None:
    """So many proven specs whose turns differ."""
    assert len(golden_specs()) > 100


@pytest.mark.parametrize("golden", parameters(list(golden_specs())))
def test_own_turns_are_read_back(golden: Golden) -> None:
    """Strictly and by default, whole: the message that was written, and no problem."""
    for message, text in texts(golden):
        for options in () if unreadable(golden.spec, message) else (STRICT, Options()):
            parsed = assemble(
                run(golden.spec, [text], TOOLS, options=options, prompt=golden.spec.turn.header)
            )
            assert [item for item in parsed.problems if item.kind not in USUAL] == [], text
            assert same(message, parsed.message), (text, parsed.message)


@pytest.mark.parametrize("golden", parameters(SAMPLE))
def test_any_chunking_of_any_text(golden: Golden) -> None:
    """The turns and mutations of them, cut anywhere: the same events, which tile the text, and calls of valid JSON."""
    chance = random.Random(golden.name)  # noqa: S311 - no secrets here
    own = literals(golden.spec)
    for _, text in texts(golden):
        check_text(golden, text, pieces(text, chance), options=chance.choice(OPTIONS))
        for _ in range(MUTATIONS):
            changed = mutated(text, own, chance)
            check_text(
                golden,
                changed,
                pieces(changed, chance),
                options=chance.choice(OPTIONS),
                finish=chance.choice(["stop", "length"]),
            )


@pytest.mark.parametrize("golden", parameters(SAMPLE))
def test_a_turn_that_is_cut_off_is_not_malformed(golden: Golden) -> None:
    """Wherever it ends, inside a key or a marker too: a call that began is complete or truncated."""
    step = 1 if NIGHTLY else 5
    for message, text in texts(golden):
        for stop in () if unreadable(golden.spec, message) else range(1 + len(text) % step, len(text), step):
            cut = text[:stop]
            events = run(golden.spec, [cut], TOOLS, finish="length", prompt=golden.spec.turn.header)
            check_spans(events, stop)
            ends = {event.status for event in events if isinstance(event, CallEnd)}
            kinds = {event.kind for event in events if isinstance(event, Problem)}
            assert ends <= {"complete", "truncated"}, cut
            assert "malformed_call" not in kinds, cut
            assert ("truncated" in ends) <= ("unterminated_call" in kinds), cut


@pytest.mark.parametrize("golden", parameters(SAMPLE))
def test_what_is_held_is_bounded(golden: Golden) -> None:
    """Text that is not inside a call is given out up to a literal with its white space, however long it goes on."""
    chance = random.Random(golden.name)  # noqa: S311 - no secrets here
    own = literals(golden.spec)
    _, text = chance.choice(texts(golden))
    parser = Parser(golden.spec, TOOLS)
    for _ in range(max(1, 3000 // (len(text) + 1))):
        piece = mutated(text, own, chance)
        parser.feed(piece)
        if parser._call is None and parser._draft is None:
            assert len(parser.pending) < BOUND + len(piece)
