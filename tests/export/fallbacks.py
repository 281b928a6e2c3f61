"""Our response templates beside the hand-written ones that transformers falls back to, on what the chat templates write.

transformers keeps a table of response templates for model types whose tokenizers bring none. It is read out of its source, so that
nothing of its server has to be importable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import yaml

from analyzer.analysis import with_stand_ins
from analyzer.chat import Message, Tool
from analyzer.engines import load
from analyzer.engines.transformers_parser import TransformersParser
from analyzer.export import export
from analyzer.render import Renderer
from analyzer.spec.document import load_spec
from analyzer.spec.model import Spec
from analyzer.template import Template
from analyzer.verify.adapt import Adapter, settings_of
from analyzer.verify.inputs import probe_inputs
from analyzer.verify.judgement import settle
from analyzer.verify.samples import EMPTY_TURN, cases
from analyzer.verify.shapes import check_shapes, declare_less
from analyzer.verify.trips import Stage, Traveller, Trip, render_trips
from tests.export.samples import ROOT, formats

FAMILIES: Final = Path(__file__).parent / "fallback_families.yaml"
TABLE: Final = "_RESPONSE_TEMPLATE_FALLBACKS"


def families() -> dict[str, list[str]]:
    """The corpus templates of each family, by its first model type."""
    found: dict[str, list[str]] = yaml.safe_load(FAMILIES.read_text(encoding="utf-8"))
    return found


def fallbacks() -> dict[str, dict[str, Any]]:
    """The hand-written templates by the first model type of each."""
    package = find_spec("transformers")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("transformers is not installed")
    source = Path(package.origin).parent / "cli" / "serving" / "utils.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(getattr(name, "id", "") == TABLE for name in node.targets):
            table: Mapping[tuple[str, ...], dict[str, Any]] = ast.literal_eval(node.value)
            return {types[0]: template for types, template in table.items()}
    raise LookupError(f"{source} has no {TABLE}: the table has moved, and so must this reader of it")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A turn as a template writes it, and what it was made of."""

    name: str
    prompt: str
    text: str
    tools: tuple[Tool, ...]
    sent: Message


@dataclass(slots=True)
class Row:
    """How two readers did on one template."""

    template: str
    conversations: int = 0
    ours: int = 0
    theirs: int = 0
    only_theirs: list[str] = field(default_factory=list)
    """Conversations that theirs reads and ours does not."""


def conversations(spec: Spec, template: Template, renderer: Renderer) -> Iterator[Conversation]:
    """The conversations of verification under every setting, without those of which the template itself loses something."""
    template = with_stand_ins(template)
    stage = Stage(renderer, template, spec.input.mutable)
    adapter, traveller = Adapter(spec, template.special_tokens), Traveller(spec, 0)
    settings = settings_of(spec)
    undeclared = declare_less(adapter, stage, settings[0])
    found = probe_inputs(spec, stage, undeclared, shows_tools=adapter.shows_tools)
    adapter.null_content = found.null_content
    list(check_shapes(adapter, stage, traveller, settings[0]))
    known = [case for case in cases(0, "normal") if case is not EMPTY_TURN]
    trips = render_trips(adapter, stage, [(case, setting) for setting in settings for case in known])
    for trip in settle(spec, [trip for trip in trips if isinstance(trip, Trip)]):
        if isinstance(trip, Trip):
            traveller.travel(trip)
            if trip.held and trip.cut is not None:
                truth = trip.adapted.truth
                yield Conversation(trip.label, trip.cut.before, trip.cut.text, trip.adapted.tools, truth)


def compared(template: Template, hand_written: Mapping[str, Any], renderer: Renderer) -> Row:
    """Our exported template and the hand-written one on the conversations of a chat template."""
    spec = load_spec(ROOT / "generated" / "corpus" / f"{formats()[template.name]}.yaml")
    ours = load("response-template", export("response-template", spec).payload)
    theirs = load("response-template", dict(hand_written))
    row = Row(template.name)
    for one in conversations(spec, template, renderer):
        row.conversations += 1
        mine, other = _reads(ours, one), _reads(theirs, one)
        row.ours += mine
        row.theirs += other
        if other and not mine:
            row.only_theirs.append(f"{one.name}: {one.text!r}")
    return row


def _reads(parser: TransformersParser, one: Conversation) -> bool:
    """Whether a reader gives back what was sent; white space at the ends of texts is removed by the format itself."""
    try:
        got = parser.parse(one.text, prompt=one.prompt, tools=one.tools)
    except ValueError:
        return False
    return _judged(got) == _judged(one.sent)


def _judged(message: Message) -> tuple[Any, ...]:
    try:
        calls = [(call.name, call.decoded()) for call in message.tool_calls]
    except ValueError:
        return ("arguments that are no JSON",)
    return ((message.content or "").strip(), (message.reasoning_content or "").strip(), calls)
