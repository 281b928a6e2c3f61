from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.report.example import TOOLS
from analyzer.report.page import example_reply
from analyzer.report.replay import cut, own_replay, replay
from analyzer.runtime import Parser, assemble
from analyzer.spec.model import Spec
from tests.report.conftest import ROOT, own_subject

OWN = sorted(path.stem for path in (ROOT / "generated" / "own").glob("*.yaml"))
SPECS = {name: own_subject(name).spec for name in OWN}
CALLING = sorted(name for name, spec in SPECS.items() if spec is not None and spec.calls is not None)


def spec_of(name: str) -> Spec:
    """The committed spec of one of the project's own templates."""
    spec = SPECS[name]
    assert spec is not None
    return spec


@given(st.text(), st.integers(1, 9), st.integers(0, 60))
def test_cutting_loses_nothing(text: str, size: int, inside: int) -> None:
    """The pieces join to the text; none is empty or longer than asked for, and one ends where it had to."""
    pieces = list(cut(text, size, inside))

    assert text == "".join(pieces)
    assert all(1 <= len(piece) <= size for piece in pieces)
    ends = [sum(map(len, pieces[: number + 1])) for number in range(len(pieces))]
    assert inside in ends or not 0 < inside < len(text)


@given(st.sampled_from(CALLING), st.integers(1, 40))
def test_a_replay_says_what_the_runtime_says_of_the_whole(name: str, size: int) -> None:
    """Steps join to the text, their events to the message, and what is held back is the end of what came."""
    spec = spec_of(name)
    known = own_replay(spec, example_reply(spec))
    again = replay(spec, list(cut(known.text, size)), prompt=known.prompt)
    parser = Parser(spec, TOOLS, prompt=known.prompt)
    whole = assemble([*parser.feed(known.text), *parser.finish()])

    assert known.text == again.text
    assert whole.message == again.message
    assert "" == again.steps[-1].text
    data = again.to_json()
    assert len(again.steps) == len(data["steps"])
    came = ""
    for step, told in zip(again.steps, data["steps"], strict=True):
        came += step.text
        held = told["held"]
        assert step.held == (came[len(came) - held :] if isinstance(held, int) else held)


def test_every_own_format_replays_its_calls() -> None:
    """The turn of a page comes out as it went in: two calls where the format takes them, and no problem."""
    for name in CALLING:
        spec = spec_of(name)
        sent = example_reply(spec)
        done = own_replay(spec, sent)

        assert () == done.problems, name
        assert [(call.name, call.decoded()) for call in sent.tool_calls] == [
            (call.name, call.decoded()) for call in done.message.tool_calls
        ], name


def test_one_delta_ends_inside_a_marker() -> None:
    """Where the calls have a marker, a cut goes through it and the beginning is held back."""
    shown = 0
    for name in CALLING:
        done = own_replay(spec_of(name), example_reply(spec_of(name)))
        half = done.marker[: len(done.marker) // 2]
        came = ""
        ends = []
        for step in done.steps:
            came += step.text
            if half and came.endswith(half):
                ends.append(step.held)
        assert ends or not done.marker, name
        shown += any(held.endswith(half) for held in ends)

    assert shown > len(CALLING) / 2
