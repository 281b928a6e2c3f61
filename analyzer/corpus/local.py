"""The engine for one machine: a process for each core, each tended by a thread of the job's own process."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from analyzer.corpus.lane import Lane
from analyzer.corpus.result import Result
from analyzer.corpus.task import Task

Keyed: TypeAlias = tuple[str, Result]
"""A result and the key of its task."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(tasks: Mapping[str, Task], jobs: int, seconds: float) -> Iterator[Keyed]:
    """Do the tasks in so many processes (0: one for each core), the long ones first; yield results as they come.

    Closing the generator, or an exception inside the loop over it, ends all processes.
    """
    todo: queue.SimpleQueue[tuple[str, Task]] = queue.SimpleQueue()
    done: queue.SimpleQueue[Keyed | BaseException] = queue.SimpleQueue()
    for key, task in sorted(tasks.items(), key=lambda item: -len(item[1].text)):
        todo.put((key, task))
    stopped = threading.Event()
    lanes = [Lane(seconds) for _ in range(max(1, min(jobs or cores(), len(tasks))))]
    threads = [
        threading.Thread(target=_tend, args=(lane, todo, done, stopped), daemon=True) for lane in lanes
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in tasks:
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
    todo: queue.SimpleQueue[tuple[str, Task]],
    done: queue.SimpleQueue[Keyed | BaseException],
    stopped: threading.Event,
) -> None:
    try:
        while not stopped.is_set():
            key, task = todo.get_nowait()
            done.put((key, lane.check(task)))
    except queue.Empty:
        pass
    except BaseException as error:  # noqa: BLE001  (raised again by the job's own thread)
        done.put(error)
