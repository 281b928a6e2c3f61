"""What a cluster's worker does: a batch of tasks, in a lane of its own, so that no template can end the worker.

Needs nothing but this package.  Lanes stay between batches, since starting one costs about as much as a template.
"""

from __future__ import annotations

import atexit
import json
import queue
from collections.abc import Sequence

from analyzer.corpus.fingerprint import fingerprint
from analyzer.corpus.lane import Lane
from analyzer.corpus.task import Task
from analyzer.errors import JobError

_idle: queue.SimpleQueue[Lane] = queue.SimpleQueue()


def check_batch(tasks: Sequence[str], seconds: float, program: str) -> list[str]:
    """Do tasks, each as JSON, within so many seconds each; return their results, each as JSON.

    Raises `JobError` when this process has another `program` (a fingerprint) than the one that asks: its results would
    be another program's.
    """
    if program != fingerprint():
        raise JobError(
            f"the worker's program is {fingerprint()}, the job's {program}",
            hint="Give job and workers the same version of this package, of the packages below it, and of Python.",
        )
    lane = _lane(seconds)
    try:
        return [json.dumps(lane.check(Task.from_json(json.loads(task))).to_json()) for task in tasks]
    finally:
        _idle.put(lane)


def _lane(seconds: float) -> Lane:
    try:
        lane = _idle.get_nowait()
    except queue.Empty:
        lane = Lane(seconds)
    lane.seconds = seconds
    return lane


@atexit.register
def stop_lanes() -> None:
    """End the lanes that wait for a batch."""
    while not _idle.empty():
        _idle.get_nowait().stop()
