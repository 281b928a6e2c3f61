"""The job on a cluster of separate processes: a worker that is killed loses nothing and counts nothing twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final

import pytest

from analyzer.corpus import cluster
from analyzer.corpus.batch import check_batch, stop_lanes
from analyzer.corpus.fingerprint import fingerprint
from analyzer.corpus.job import Plan, check
from analyzer.corpus.local import Keyed
from analyzer.corpus.result import Result
from analyzer.corpus.review import review
from analyzer.corpus.task import Task
from analyzer.errors import JobError, UsageError
from analyzer.template import Template, load_templates
from tests.corpus.conftest import TEMPLATES, Invoke, small_corpus

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

MANY: Final = 12
DOOMED: Final = "the one that is killed"


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self.address = self._start("scheduler", "--port", "0", "--no-show", until="Scheduler at:").split()[-1]

    def add_worker(self, name: str) -> None:
        """Start a worker with one thread and wait until the scheduler knows it."""
        options = ("--nthreads", "1", "--no-nanny", "--name", name, "--local-directory", str(self._folder))
        self._start("worker", self.address, *options, until="Registered to:", name=name)

    def _start(self, kind: str, *options: str, until: str, name: str = "") -> str:
        """Start a process; wait for a line of its log, and return that."""
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{kind}",
            *options,
            "--host",
            "127.0.0.1",
            "--no-dashboard",
        ]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=self._folder)
        self._processes[name or kind] = process
        return next(line for line in lines(process.stderr) if until in line).rstrip()

    def freeze(self, name: str) -> None:
        """Stop a process where it is."""
        self._processes[name].send_signal(signal.SIGSTOP)

    def kill(self, name: str) -> None:
        """Kill a process, as a machine that loses power would."""
        process = self._processes.pop(name)
        process.kill()
        process.communicate()

    def stop(self) -> None:
        """Kill everything."""
        for name in list(self._processes):
            self.kill(name)


def lines(stream: IO[str] | None) -> Iterator[str]:
    """The lines of a log."""
    assert stream is not None
    yield from iter(stream.readline, "")
    pytest.fail("the process ended")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster with one worker."""
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    started.add_worker("the one that stays")
    yield started
    started.stop()


@pytest.fixture
def deserted(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster without a worker."""
    started = Cluster(tmp_path)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def templates() -> list[Template]:
    """Some of our own templates, the small ones."""
    files = sorted(TEMPLATES.glob("*.jinja"), key=lambda path: path.stat().st_size)[:MANY]
    return [template for file in files for template in load_templates(file)]


def outcome(results: Sequence[Result]) -> str:
    """The text of the result file."""
    return json.dumps(review(results).to_json())


def has_work(address: str, worker: str) -> bool:
    """Whether the scheduler has given that worker something to do."""
    with distributed.Client(address, set_as_default=False) as client:
        known = client.scheduler_info()["workers"]
        return any(keys for at, keys in client.processing().items() if known[at]["name"] == worker)


def test_a_killed_worker_loses_nothing_and_counts_nothing_twice(
    running: Cluster, templates: list[Template], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two workers is killed at its work; every template has one result, the same as on one machine."""
    monkeypatch.setattr(
        cluster, "AHEAD", MANY
    )  # all is handed out at once, so that both have work for a while
    running.add_worker(DOOMED)
    alone = outcome(list(check(templates, Plan(jobs=1))))
    job = check(templates, Plan(scheduler=running.address))
    results = [next(job)]
    running.freeze(DOOMED)
    assert has_work(running.address, DOOMED)
    running.kill(DOOMED)
    results += job

    assert sorted(template.name for template in templates) == sorted(result.name for result in results)
    assert alone == outcome(results)


def test_the_result_file_is_the_same_to_the_byte(running: Cluster, tmp_path: Path, invoke: Invoke) -> None:
    """`corpus check --scheduler` writes what `corpus check` writes, and keeps its results as well."""
    corpus = small_corpus(tmp_path / "corpus")
    outputs = {name: tmp_path / name for name in ("alone", "spread", "kept")}
    for name, options in {
        "alone": ("--no-cache",),
        "spread": ("--scheduler", running.address),
        "kept": ("--scheduler", "tcp://127.0.0.1:9"),  # everything is in the cache: nobody is asked
    }.items():
        result = invoke(corpus, "--output", outputs[name], *options)
        assert 0 == result.exit_code, result.output

    assert 1 == len({path.read_bytes() for path in outputs.values()})


def test_workers_of_another_version_are_refused(
    running: Cluster, templates: list[Template], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result of another program is none: the job ends and says what is wrong."""
    monkeypatch.setattr(cluster, "fingerprint", lambda: "another program")

    with pytest.raises(JobError, match=f"the worker's program is {fingerprint()}, the job's another program"):
        list(cluster.run({"key": Task.of(templates[0])}, running.address, 60))


def test_a_cluster_without_workers_is_given_up(
    deserted: Cluster, templates: list[Template], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job does not wait for ever for somebody to do it."""
    monkeypatch.setattr(cluster, "WORKERS_SECONDS", 0.2)

    with pytest.raises(JobError, match="no workers"):
        list(cluster.run({"key": Task.of(templates[0])}, deserted.address, 60))


def test_a_scheduler_that_goes_away_ends_the_job(
    deserted: Cluster, templates: list[Template], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was done is told before; the error says how to go on."""
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 2)
    deserted.add_worker(DOOMED)
    job = check(templates, Plan(scheduler=deserted.address))
    next(job)
    deserted.kill("scheduler")

    with pytest.raises(JobError, match=r"scheduler went away.* goes on from there"):
        list(job)


def test_a_scheduler_that_is_not_there_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong address is told, with what an address looks like."""
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.5)

    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(UsageError, match="no Dask scheduler"):
            list(cluster.run({"key": Task("x")}, address, 60))


def test_a_batch_is_done_in_a_process_of_its_own() -> None:
    """The worker's part: results in the order of the tasks, also for a template that kills what renders it."""
    tasks = [Task("{% for"), Task("{{ 'x' * 10**10 }}")]
    found = [
        Result.from_json(json.loads(line))
        for line in check_batch([json.dumps(task.to_json()) for task in tasks], 60, fingerprint())
    ]
    stop_lanes()

    assert ["refused", "refused"] == [result.verdict for result in found]
    assert [task.template().sha256 for task in tasks] == [result.sha256 for result in found]


class DeadFuture:
    """A batch that every worker died of."""

    status = "error"

    def result(self) -> list[str]:
        """What the scheduler says then."""
        raise distributed.KilledWorker("batch", "tcp://127.0.0.1:9", 3)

    def add_done_callback(self, called: Any) -> None:
        """It has ended already."""
        called(self)


class DoneFuture(DeadFuture):
    """A batch that was done."""

    status = "finished"

    def __init__(self, tasks: Sequence[str]) -> None:
        self._tasks = [Task.from_json(json.loads(task)) for task in tasks]

    def result(self) -> list[str]:
        """A result for each task."""
        return [
            json.dumps(Result("", task.text, "proven", renders_calls=True).to_json()) for task in self._tasks
        ]


class LostFuture(DoneFuture):
    """A batch that was done by a worker that is gone, with its results."""

    status = "lost"


class CancelledFuture(DeadFuture):
    """A batch that the scheduler knows nothing of any more."""

    status = "cancelled"

    def result(self) -> list[str]:
        """What the client says then."""
        raise distributed.CancelledError("batch")


class FakeClient:
    """A cluster with one worker, so that batches are large; what becomes of a batch is what the test says."""

    def __init__(self, outcome_of: Callable[[Sequence[str]], DeadFuture]) -> None:
        self._outcome_of = outcome_of

    def nthreads(self) -> dict[str, int]:
        """One worker with one thread."""
        return {"tcp://127.0.0.1:9": 1}

    def submit(self, _: Any, tasks: Sequence[str], *__: Any, **___: Any) -> DeadFuture:
        """It ends at once."""
        return self._outcome_of(tasks)


def results_of(tasks: dict[str, Task], outcome_of: Callable[[Sequence[str]], DeadFuture]) -> list[Keyed]:
    """What a job on such a cluster yields."""
    return list(cluster._Spread(FakeClient(outcome_of), tasks, 60).results())


def test_a_task_that_workers_die_of_costs_one_result() -> None:
    """The batch it was in is split; the others are done, once each, and it alone has no result."""
    tasks = {f"key{number}": Task("deadly" if number == 5 else f"text{number}") for number in range(64)}
    found = results_of(
        tasks,
        lambda batch: DeadFuture() if any("deadly" in task for task in batch) else DoneFuture(batch),
    )

    assert sorted(tasks) == sorted(key for key, _ in found)
    assert ["key5"] == [key for key, result in found if result.verdict == "crashed"]
    assert all(result.sha256 == tasks[key].text for key, result in found if key != "key5")


@pytest.mark.parametrize("status", sorted(cluster.LOST))
def test_results_that_died_with_their_worker_are_made_again(
    status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch can end and be lost before its results are fetched: it is done again, and nothing is told twice."""
    monkeypatch.setattr(LostFuture, "status", status)
    tasks = {f"key{number}": Task(f"text{number}") for number in range(64)}
    seen: set[tuple[str, ...]] = set()

    def first_lost(batch: Sequence[str]) -> DeadFuture:
        again = tuple(batch) in seen
        seen.add(tuple(batch))
        return DoneFuture(batch) if again else LostFuture(batch)

    assert sorted(tasks) == sorted(key for key, _ in results_of(tasks, first_lost))


def test_a_scheduler_that_forgot_a_batch_ends_the_job() -> None:
    """What it forgot says nothing about a template."""
    with pytest.raises(JobError, match="started anew"):
        results_of({"key": Task("text")}, lambda _: CancelledFuture())
