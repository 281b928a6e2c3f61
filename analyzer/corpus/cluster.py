"""The engine for many machines: batches of tasks go to a Dask cluster, results come back as they are ready.

* A worker that dies loses nothing: the scheduler gives its batches to others.  Nothing counts twice: a batch has one
  future, and a future one result.  A batch that several workers died of is split; a task that they die of alone is
  a finding about its template, as on one machine.
* Only a few batches for each worker's thread are under way, so a job of any size costs the scheduler little.
* Workers have to be the same program, to the byte (`analyzer.corpus.fingerprint`).

Dask's own protocol unpickles what it receives: scheduler and workers have to be trusted, as its documentation says.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import queue
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from analyzer.corpus.batch import check_batch
from analyzer.corpus.fingerprint import fingerprint
from analyzer.corpus.local import Keyed
from analyzer.corpus.result import CRASHED, Result
from analyzer.corpus.task import Task
from analyzer.errors import JobError, UsageError

if TYPE_CHECKING:
    from distributed import Client, Future

BATCH: Final = 8
"""The most tasks of a batch: some seconds of work, so that handing it out costs nothing beside it."""
AHEAD: Final = 3
"""How many batches are under way for each thread of a worker."""
CONNECT_SECONDS: Final = 20
WORKERS_SECONDS: Final = 60
"""How long a job waits for a first worker, and for a new one when all are gone."""

LOST: Final = frozenset({"lost", "pending"})
"""What a batch that was done is again when the worker that kept its results died before they were fetched."""
WORKERS_DIED: Final = "every worker that tried it died"
CONTINUE: Final = "What is done is kept, unless --no-cache: the same command goes on from there."

_Batch: TypeAlias = tuple[tuple[str, Task], ...]


def run(tasks: Mapping[str, Task], scheduler: str, seconds: float) -> Iterator[Keyed]:
    """Do the tasks on the cluster with that scheduler, the long ones first; yield results as they come.

    Closing the generator takes back what is not under way.

    Raises:
        JobError: all workers or the scheduler went away, or a worker has another version of this package.
        UsageError: the extra `cluster` is missing, or the scheduler cannot be reached.
    """
    client = _connect(scheduler)
    try:
        yield from _Spread(client, tasks, seconds).results()
    finally:
        client.close()


def _connect(scheduler: str) -> Client:
    try:
        from distributed import Client  # noqa: PLC0415  (an extra)
    except ImportError:
        raise UsageError(
            "A cluster needs the package distributed",
            hint="Install it, here and on the workers, with: pip install 'chat-template-analyzer[cluster]'",
        ) from None
    # What it logs of lost connections, with tracebacks, the job tells in its own words.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        return Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, asyncio.TimeoutError, ValueError, TypeError) as error:
        raise UsageError(
            f"{scheduler}: there is no Dask scheduler to be reached: {error}",
            hint="`dask scheduler` prints its address, such as tcp://10.0.0.1:8786.",
        ) from None


class _Spread:
    """The batches of one run: which wait, which are under way, which have ended."""

    def __init__(self, client: Client, tasks: Mapping[str, Task], seconds: float) -> None:
        self._client = client
        self._seconds = seconds
        self._under_way: dict[Future, _Batch] = {}
        self._ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._waiting = deque(_batches(tasks, self._threads()))

    def results(self) -> Iterator[Keyed]:
        self._hand_out()
        while self._under_way:
            future = self._next()
            batch = self._under_way.pop(future)
            yield from self._results_of(future, batch)
            self._hand_out()

    def _next(self) -> Future:
        """The next future that has ended; looks after the workers while none has."""
        ended: Future | None = None
        while ended is None:
            with contextlib.suppress(queue.Empty):
                ended = self._ended.get(timeout=WORKERS_SECONDS)
            if ended is None:
                self._threads()
        return ended

    def _results_of(self, future: Future, batch: _Batch) -> Iterator[Keyed]:
        if future.status in LOST:
            self._waiting.appendleft(batch)
            return
        lines = _outcome(future)
        if lines is not None:
            for (key, _), line in zip(batch, lines, strict=True):
                yield key, Result.from_json(json.loads(line))
        elif len(batch) > 1:
            self._waiting.extendleft((one,) for one in batch)
        else:
            ((key, task),) = batch
            sha256 = task.template().sha256
            yield key, Result("", sha256, CRASHED, renders_calls=True, failures=(WORKERS_DIED,))

    def _hand_out(self) -> None:
        if not self._waiting:
            return
        wanted = AHEAD * self._threads()
        while self._waiting and len(self._under_way) < wanted:
            batch = self._waiting.popleft()
            lines = [json.dumps(task.to_json()) for _, task in batch]
            future = self._client.submit(check_batch, lines, self._seconds, fingerprint(), pure=False)
            self._under_way[future] = batch
            future.add_done_callback(self._ended.put)

    def _threads(self) -> int:
        """How many threads the workers have; waits for a worker where there is none."""
        try:
            if not self._client.nthreads():
                self._client.wait_for_workers(1, timeout=WORKERS_SECONDS)
            return max(1, sum(map(int, self._client.nthreads().values())))
        except (TimeoutError, asyncio.TimeoutError):  # one and the same from Python 3.11
            raise JobError(
                f"the scheduler has no workers, and none came in {WORKERS_SECONDS} s",
                hint=f"Start some with: dask worker ADDRESS. {CONTINUE}",
            ) from None
        except OSError as error:
            raise JobError(f"the scheduler went away: {error}", hint=CONTINUE) from None


def _outcome(future: Future) -> Sequence[str] | None:
    """What a batch that has ended came to, a text for each task; None when workers died of it.

    Raises `JobError` for what says nothing about a template.
    """
    from distributed import CancelledError, KilledWorker  # noqa: PLC0415  (an extra)

    try:
        lines: Sequence[str] = future.result()
    except KilledWorker:
        return None
    except JobError:
        raise
    except CancelledError:
        raise JobError("the scheduler went away or was started anew", hint=CONTINUE) from None
    except OSError as error:
        raise JobError(f"the scheduler went away: {error}", hint=CONTINUE) from None
    except Exception as error:  # whatever a worker raised, it is told as what it is
        message = f"a worker could not do a batch: {type(error).__name__}: {error}"
        raise JobError(message, hint=CONTINUE) from error
    return lines


def _batches(tasks: Mapping[str, Task], threads: int) -> Sequence[_Batch]:
    """The tasks in batches, the long ones first, small enough that every thread gets several."""
    size = max(1, min(BATCH, len(tasks) // (threads * 4)))
    ordered = sorted(tasks.items(), key=lambda item: -len(item[1].text))
    return [tuple(ordered[start : start + size]) for start in range(0, len(ordered), size)]
