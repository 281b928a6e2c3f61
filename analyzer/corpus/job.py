"""The corpus job: every template of a corpus analysed and proven, none able to stop the rest.

    templates ─► tasks (equal templates are one) ─► cache ─► an engine for what is left ─► results, one a template

An engine is this machine (`analyzer.corpus.local`) or a cluster (`analyzer.corpus.cluster`).  Results come in the order in
which they are ready; each is kept before it is told, so a job that is started again goes on where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from analyzer.corpus import local
from analyzer.corpus.cache import ResultCache
from analyzer.corpus.fingerprint import fingerprint
from analyzer.corpus.result import Result
from analyzer.corpus.task import Task
from analyzer.template import Template

TEMPLATE_SECONDS: Final = 60.0
"""How long one template may take, proof included."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a job is run."""

    jobs: int = 0
    """Processes on this machine; 0: one for each core that this process may use."""
    seconds: float = TEMPLATE_SECONDS
    """How long one template may take."""
    seed: int = 0
    """Where verification's conversations come from."""
    cache: ResultCache | None = None
    """Where results are kept; None: nowhere."""
    scheduler: str = ""
    """The address of a Dask scheduler; empty: this machine does the work."""


def check(templates: Sequence[Template], plan: Plan | None = None) -> Iterator[Result]:
    """Check templates and yield one result for each as they come.

    Closing the generator, or an exception inside the loop over it, ends all processes.

    Raises:
        JobError: the cluster went away, or its workers have another version of this package.
        UsageError: the cluster cannot be reached, the cache not be written, or a package is missing.
    """
    plan = plan or Plan()
    names: dict[str, list[str]] = {}
    tasks: dict[str, Task] = {}
    for template in templates:
        task = Task.of(template, plan.seed)
        key = task.key(fingerprint())
        tasks[key] = task
        names.setdefault(key, []).append(template.name)
    for key in list(tasks):
        kept = plan.cache.get(key) if plan.cache is not None else None
        if kept is not None:
            del tasks[key]
            yield from _named(kept, names[key])
    if not tasks:
        return
    for key, result in _engine(tasks, plan):
        if plan.cache is not None:
            plan.cache.put(key, result)
        yield from _named(result, names[key])


def _engine(tasks: Mapping[str, Task], plan: Plan) -> Iterator[local.Keyed]:
    if not plan.scheduler:
        return local.run(tasks, plan.jobs, plan.seconds)
    from analyzer.corpus import cluster  # noqa: PLC0415  (an extra)

    return cluster.run(tasks, plan.scheduler, plan.seconds)


def _named(result: Result, names: Sequence[str]) -> Iterator[Result]:
    for name in names:
        yield replace(result, name=name)
