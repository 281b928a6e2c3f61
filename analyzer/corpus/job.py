"""The corpus job: every template of a corpus analysed and proven, on all cores, none able to stop the rest.

One thread of this process tends one *lane*, a process with a rendering process of its own.  Results come back in the
order in which they are ready.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from analyzer.corpus.lane import Lane
from analyzer.corpus.result import Result
from analyzer.template import Template

TEMPLATE_SECONDS: Final = 60.0
"""How long one template may take, proof included."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a job is run."""

    jobs: int = 0
    """Processes; 0: one for each core that this process may use."""
    seconds: float = TEMPLATE_SECONDS
    seed: int = 0
    with_specs: bool = False

    @property
    def lanes(self) -> int:
        """How many processes that makes."""
        return (
            self.jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else self.jobs or 2
        )


def check(templates: Sequence[Template], plan: Plan | None = None) -> Iterator[Result]:
    """Check templates and yield their results as they come.

    Closing the generator, or an exception inside the loop over it, ends all processes.
    """
    plan = plan or Plan()
    todo: queue.SimpleQueue[Template] = queue.SimpleQueue()
    done: queue.SimpleQueue[Result | BaseException] = queue.SimpleQueue()
    for template in sorted(templates, key=lambda template: -len(template.text)):  # the long ones first
        todo.put(template)
    stopped = threading.Event()
    lanes = [Lane(plan.seconds) for _ in range(max(1, min(plan.lanes, len(templates))))]
    threads = [
        threading.Thread(target=_tend, args=(lane, todo, done, stopped, plan), daemon=True) for lane in lanes
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in templates:
            result = done.get()
            if isinstance(result, BaseException):
                raise result
            yield result
    finally:
        stopped.set()
        for lane in lanes:
            lane.stop()
        for thread in threads:
            thread.join(timeout=5)


def _tend(
    lane: Lane,
    todo: queue.SimpleQueue[Template],
    done: queue.SimpleQueue[Result | BaseException],
    stopped: threading.Event,
    plan: Plan,
) -> None:
    try:
        while not stopped.is_set():
            done.put(lane.check(_task(todo.get_nowait(), plan)))
    except queue.Empty:
        pass
    except BaseException as error:  # noqa: BLE001  (raised again by the job's own thread)
        done.put(error)


def _task(template: Template, plan: Plan) -> dict[str, Any]:
    return {
        "name": template.name,
        "sha256": template.sha256,
        "text": template.text,
        "special_tokens": dict(template.special_tokens),
        "added_tokens": list(template.added_tokens),
        "seed": plan.seed,
        "with_spec": plan.with_specs,
    }
