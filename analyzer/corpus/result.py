"""The result of checking one template, and the figures of many: plain data, as `corpus check --json` prints it.

What was measured (seconds, stopped renders) is kept apart from what was found: the same templates give the same bytes,
whichever machine checked them and whatever was in the cache.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Final

CRASHED: Final = "crashed"
"""The verdict of a template whose process died or was stopped: there is no result."""
REFUSED: Final = "refused"
"""The verdict of a template that renders not even a plain conversation."""
PROVEN: Final = frozenset({"proven", "proven_with_defects"})
MEASURED: Final = ("seconds", "phases", "stops")
"""The fields of a result that say how it was made, and not what was found."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one template."""

    name: str
    """The template's name; that of the model or file it comes from."""
    sha256: str
    """The hash of its source."""
    verdict: str
    """One of `analyzer.analysis.VERDICTS`, or `crashed`: its process died, or was stopped."""
    renders_calls: bool
    """By a test of its own (`analyzer.corpus.shown`), not by inference."""
    described: str = ""
    """How a call begins that the template describes and does not render; empty where none is, or no marker opens it."""
    defects: tuple[str, ...] = ()
    """The kinds of the template's defects."""
    failures: tuple[str, ...] = ()
    """Why it is not proven."""
    unproven: int = 0
    """How many fields and cells stayed unproven."""
    round_trips: int = 0
    """How many conversations came out as they went in."""
    seconds: float = 0.0
    """How long it took."""
    phases: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Seconds by phase."""
    stops: int = 0
    """How many renders a limit of time or memory stopped."""
    format: str = ""
    """The name of its format: the first digits of the hash of the spec without what belongs to one template."""
    spec: str = field(default="", repr=False)
    """The spec as YAML; it does not name the template, as equal templates share a result."""

    @property
    def is_proven(self) -> bool:
        """Whether the verdict is `proven`, with defects or without."""
        return self.verdict in PROVEN

    @property
    def is_gap(self) -> bool:
        """Whether the template renders calls and is not proven, or failed: it has to stand in the ledger."""
        return not self.is_proven and (self.renders_calls or self.verdict in ("failed", "crashed"))

    @property
    def first_failure(self) -> str:
        """The first reason, shortened to a line."""
        text = " ".join((self.failures or ("no reason given",))[0].split())
        return text if len(text) <= 160 else f"{text[:157]}..."  # noqa: PLR2004  (one line)

    @property
    def is_lasting(self) -> bool:
        """Whether another run of the same program would find the same: no limit of time or memory had a part in it."""
        return self.verdict != CRASHED and not self.stops

    def to_json(self) -> dict[str, Any]:
        """The whole result as JSON data."""
        data = asdict(self)
        data["defects"], data["failures"] = list(self.defects), list(self.failures)
        data["phases"] = dict(self.phases)
        return data

    def found(self) -> dict[str, Any]:
        """What was found, as JSON data: the result without what was measured and without the spec."""
        data = self.to_json()
        for name in (*MEASURED, "spec"):
            del data[name]
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Result:
        """The result that `to_json` made."""
        sequences = {name: tuple(data.get(name, ())) for name in ("defects", "failures")}
        return cls(**{**data, **sequences})


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a run."""

    templates: int
    """How many were checked."""
    distinct: int
    """How many differ in their source."""
    formats: int
    """How many formats they have."""
    verdicts: Mapping[str, int]
    """How many have each verdict."""
    renders_calls: int
    """How many render calls, by the test of its own."""
    proven: int
    """Templates that render calls and are proven, with defects or without."""
    share: float | None
    """`proven` of `renders_calls`, None when none renders calls."""
    defects: Mapping[str, int]
    """How many templates have each kind of defect."""

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Timings:
    """What a run took; results from the cache count with what they took when they were made."""

    seconds: float
    """Wall clock of the run."""
    phases: Mapping[str, float]
    """Seconds by phase, over all templates and processes."""
    templates: Mapping[str, float]
    """Seconds by template, the slowest first."""

    def to_json(self) -> dict[str, Any]:
        """The timings as JSON data."""
        return asdict(self)


def field_docs(model: type) -> dict[str, str]:
    """What stands below each field of a dataclass in its source, for the documentation."""
    (body,) = (
        node.body for node in ast.parse(inspect.getsource(model)).body if isinstance(node, ast.ClassDef)
    )
    found: dict[str, str] = {}
    for node, doc in pairwise(body):
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(doc, ast.Expr)
        ):
            found[node.target.id] = " ".join(str(ast.literal_eval(doc.value)).split())
    return found


def summarise(results: Sequence[Result]) -> Summary:
    """The figures of these results."""
    calling = [result for result in results if result.renders_calls]
    proven = sum(result.is_proven for result in calling)
    return Summary(
        templates=len(results),
        distinct=len({result.sha256 for result in results}),
        formats=len({result.format for result in results} - {""}),
        verdicts=_counted(result.verdict for result in results),
        renders_calls=len(calling),
        proven=proven,
        share=round(proven / len(calling), 4) if calling else None,
        defects=_counted(kind for result in results for kind in set(result.defects)),
    )


def timings(results: Sequence[Result], seconds: float) -> Timings:
    """What these results took, in a run of so many seconds."""
    phases: Counter[str] = Counter()
    for result in results:
        phases.update(result.phases)
    slowest = sorted(results, key=lambda result: (-result.seconds, result.name))
    return Timings(
        seconds=round(seconds, 2),
        phases={phase: round(spent, 2) for phase, spent in phases.most_common()},
        templates={result.name: result.seconds for result in slowest},
    )


def _counted(words: Iterable[str]) -> dict[str, int]:
    """How often each word comes, the most frequent first, then by the word."""
    return dict(sorted(Counter(words).items(), key=lambda item: (-item[1], item[0])))
