"""A session renders probes in the shape that a template takes; the usual conversations are written once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.analysis import analyze
from analyzer.observe import probes
from analyzer.observe.needles import needles
from analyzer.observe.session import Ask, Session, Shape, render_each, shaped
from analyzer.observe.variants import BASIC, FOLLOWED, chat
from analyzer.render import InProcessRenderer, Outcome, RenderRequest
from analyzer.render.outcome import EncodedOnce
from analyzer.template import Template
from tests.budget import examples

TEMPLATES = sorted((Path(__file__).parents[2] / "corpus" / "templates").glob("*.jinja"))
MOST_BATCHES = 25
"""What both inferences take for a template whose calls are described in tags."""

JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=3), max_size=3)

SHAPES = st.builds(
    Shape,
    arguments=st.sampled_from(["mapping", "text"]),
    empty_content=st.sampled_from(["empty", "null", "absent", "space", "text"]),
    parts=st.booleans(),
    system=st.booleans(),
    followed=st.booleans(),
    flat=st.booleans(),
    assistant_fields=st.sampled_from([{}, {"thinking": ""}]),
)


class Batches:
    """A renderer that notes how many requests come together."""

    def __init__(self) -> None:
        self.renderer = InProcessRenderer()
        self.sizes: list[int] = []

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """See `Renderer`."""
        self.sizes.append(len(requests))
        return self.renderer.render(source, requests, mutable=mutable)


@given(messages=MESSAGES, tools=MESSAGES, variable=JSON)
@settings(max_examples=examples(60))
def test_what_is_encoded_once_is_encoded_alike(
    messages: list[dict[str, object]], tools: list[dict[str, object]], variable: object
) -> None:
    """A request has one text, however its lists are kept, and the text holds all that the template is given."""
    plain = RenderRequest(messages, tools, variables={"v": variable})
    kept = RenderRequest(EncodedOnce(messages), EncodedOnce(tools), variables={"v": variable})

    assert plain.encode() == kept.encode()
    assert plain.context() == json.loads(kept.encode())


@given(shape=SHAPES, name=st.sampled_from(BASIC + FOLLOWED), series=st.integers(0, 1))
@settings(max_examples=examples(60))
def test_conversations_are_in_the_shape_of_their_session(shape: Shape, name: str, series: int) -> None:
    """What is kept of one shape is never taken for another: arguments, parts and fields are what the shape says."""
    session = Session(Template("t", ""), InProcessRenderer(), needles(series), shape)

    messages = chat(session, name)

    assert (shape.system and name != "user") == (messages[0]["role"] == "system")
    for message in messages:
        calls = message.get("tool_calls", [])
        functions = [call if shape.flat else call["function"] for call in calls]
        kinds = {type(function["arguments"]) for function in functions}
        assert kinds <= {str if shape.arguments == "text" else dict}
        if message["role"] == "assistant":
            assert set(shape.assistant_fields) <= set(message)
        elif shape.parts:
            assert isinstance(message["content"], list)
    assert messages is chat(session, name)


def test_shaping_a_message_leaves_it_as_it_was() -> None:
    """A probe is a value: many requests hold the same one."""
    message = probes.assistant("", probes.calls(needles(), 1))
    before = json.dumps(message)

    shaped(message, Shape(arguments="text", empty_content="absent", flat=True).form)

    assert before == json.dumps(message)


def test_probes_of_both_sandboxes_are_answered_in_order() -> None:
    """Failures are kept under the label of their own probe."""
    source = "{% set _ = messages.append(1) %}{{ messages | length }}"
    strict = Session(Template("t", source), InProcessRenderer(), needles())
    loose = strict.with_shape(mutable=True)
    ask = Ask([probes.user("x")])

    texts = render_each([(loose, ask), (strict, ask), (loose, ask)], ["a", "b", "c"])

    assert ["2", None, "2"] == texts
    assert [("b", "security")] == [(label, failure.kind) for label, failure in strict.failures]
    assert [] == render_each([])


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_an_analysis_asks_in_few_batches(path: Path) -> None:
    """Questions that do not hang on each other's answers go out together."""
    batches = Batches()

    found = analyze(path, renderer=batches, verify=False)

    assert found.renders + 1 == sum(batches.sizes)
    assert len(batches.sizes) <= MOST_BATCHES
