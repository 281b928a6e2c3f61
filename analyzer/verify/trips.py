"""Round trips: a case rendered, cut, parsed and compared."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from analyzer.chat import Message
from analyzer.render import Outcome, Rendered, Renderer, RenderFailure, RenderRequest
from analyzer.spec.model import Spec
from analyzer.verify.adapt import Adapted, Adapter, Refused, Setting
from analyzer.verify.cases import Case, Reply, needles_in, needles_of
from analyzer.verify.compare import Difference, differences
from analyzer.verify.cut import Before, Cut, at_last_end, cut_turn, end_literals, is_always_there, opens_next
from analyzer.verify.literals import name_comes_from_id, same_id
from analyzer.verify.reading import Reading, from_header, read

TEXT_BEHIND: Final = "text after the turn's end"
"""What a failure begins with where a whole turn is followed by more."""


class TemplateText(Protocol):
    """What verification needs of a template: its source and its special tokens."""

    @property
    def text(self) -> str:
        """The Jinja source."""

    @property
    def special_tokens(self) -> Mapping[str, str]:
        """The tokens that are set, by name."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A template ready to be rendered."""

    renderer: Renderer
    template: TemplateText
    mutable: bool

    def render(self, requests: Sequence[RenderRequest]) -> list[Outcome]:
        """One outcome for each request."""
        if not requests:
            return []
        return self.renderer.render(self.template.text, requests, mutable=self.mutable)


@dataclass(slots=True)
class Trip:
    """A round trip on its way: what was rendered, what came out, what is wrong with it."""

    adapted: Adapted
    before: Before
    full: str
    last: str | None = None
    """The render that ends with the turn, where ``full`` is the turn as it stands in mid-conversation."""
    cut: Cut | None = None
    reading: Reading | None = None
    differences: list[Difference] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The case and the setting, for people."""
        setting = self.adapted.setting.label
        return self.adapted.case.name if setting == "default" else f"{self.adapted.case.name} ({setting})"

    @property
    def after_result(self) -> bool:
        """Whether a tool result stands before the turn."""
        return self.adapted.case.place == "result"

    @property
    def held(self) -> bool:
        """Whether everything came out as it was sent."""
        return not self.differences and not self.failures

    @property
    def written(self) -> str:
        """What the template wrote for the turn: all behind the conversation before it."""
        return self.cut.text + self.cut.rest if self.cut is not None else self.full


@dataclass(frozen=True, slots=True)
class NoTrip:
    """A case that the template does not take, with its own words where it gave any."""

    case: Case
    setting: Setting
    reason: str
    failure: RenderFailure | None = None
    adapted: Adapted | None = None


def render_trips(
    adapter: Adapter, stage: Stage, wanted: Sequence[tuple[Case, Setting]]
) -> list[Trip | NoTrip]:
    """Renders every case: before the turn with and without a generation prompt, and with the turn."""
    adapted = [adapter.adapt(case, setting) for case, setting in wanted]
    requests: list[RenderRequest] = []
    number_of: dict[tuple[Any, ...], int] = {}
    plans: list[tuple[int, int, int]] = []
    for one, (case, setting) in zip(adapted, wanted, strict=True):
        if isinstance(one, Refused):
            plans.append((-1, -1, -1))
            continue
        numbers = []
        for prompt in (True, False):
            key = (one.tools[0].name, case.place, setting.label, prompt)
            if key not in number_of:
                number_of[key] = len(requests)
                requests.append(adapter.request(one, one.before, prompt=prompt))
            numbers.append(number_of[key])
        plans.append((numbers[0], numbers[1], len(requests)))
        requests.append(adapter.request(one, [*one.before, one.turn]))
    outcomes = stage.render(requests)
    return [
        NoTrip(case, setting, one.reason)
        if isinstance(one, Refused)
        else _trip(one, [outcomes[at] for at in plan])
        for one, plan, (case, setting) in zip(adapted, plans, wanted, strict=True)
    ]


def _trip(adapted: Adapted, outcomes: Sequence[Outcome]) -> Trip | NoTrip:
    prompt, bare, full = outcomes
    if isinstance(full, RenderFailure):
        reason = f"{full.kind}: {full.message}"
        return NoTrip(adapted.case, adapted.setting, reason, full, adapted)
    last = adapted.before[-1].get("content")
    before = Before(_text(prompt), _text(bare), last if isinstance(last, str) else "")
    return Trip(adapted, before, full.text)


def _text(outcome: Outcome) -> str | None:
    return outcome.text if isinstance(outcome, Rendered) else None


class Traveller:
    """Takes round trips through one spec."""

    def __init__(self, spec: Spec, seed: int) -> None:
        self.spec = spec
        self._from_header = from_header(spec)
        self._same_id = same_id(spec)
        self._overlays = name_comes_from_id(spec)
        self._seed = seed

    def travel(self, trip: Trip) -> None:
        """Cuts, parses, compares; what is wrong stands in the trip."""
        cut = cut_turn(self.spec, trip.before, trip.full, goes_on=trip.after_result)
        if isinstance(cut, str):
            trip.failures.append(cut)
            return
        truth = trip.adapted.truth
        needles = needles_of_reply(trip.adapted.reply)
        trip.cut = at_last_end(cut, end_literals(self.spec, truth), needles, trip.before)
        rest = trip.cut.rest
        if rest.strip() and not opens_next(self.spec, trip.before, rest):
            if not is_always_there(trip.cut, trip.before, rest):
                trip.failures.append(f"{TEXT_BEHIND}: {rest[:80]!r}")
            elif trip.before.prompt == trip.before.bare and not trip.after_result:
                trip.failures.append(f"the turn stands before what a model goes on behind: {rest[-80:]!r}")
        trip.reading = self.read(trip.adapted, trip.cut)
        trip.failures += [f"problem {problem}" for problem in trip.reading.problems]
        trip.differences = self.compare(truth, trip.reading.message)

    def read(self, adapted: Adapted, cut: Cut, spec: Spec | None = None, *, soft: bool = False) -> Reading:
        """Parse a cut with the strict runtime, with this spec or a mutant of it."""
        if cut.by == "history":
            used = self._from_header if spec is None else from_header(spec)
            prompt: str = used.turn.header
        else:
            used, prompt = spec or self.spec, cut.before
        chance = random.Random(f"{self._seed} {adapted.case.name}")  # noqa: S311  (repeatable, not secret)
        return read(used, cut.text, adapted.tools, prompt, chance, overlays=self._overlays, soft=soft)

    def compare(self, truth: Message, got: Message) -> list[Difference]:
        """What differs; ids count where the spec says that they are written."""
        return differences(truth, got, self._same_id)


def needles_of_reply(reply: Reply) -> list[str]:
    """All needles of a reply, those of content and reasoning too."""
    return [*_spoken(reply), *(word for call in reply.calls for word in needles_of(call))]


def _spoken(reply: Reply) -> Iterator[str]:
    for text in (reply.content, reply.reasoning):
        yield from needles_in(text or "")


PRINTED_CONTEXT: Final = 60
"""How much of a render a failure shows on either side of the place."""
