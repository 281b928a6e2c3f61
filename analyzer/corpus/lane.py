"""One process that checks templates, one after another: its own side, and the handle that the job holds.

Lines of JSON both ways.  The process leads a process group of its own, so that stopping it also stops its rendering
process, and a Ctrl-C in the terminal reaches the job alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Final

from analyzer.corpus.result import CRASHED, REFUSED, Result
from analyzer.corpus.task import Task
from analyzer.errors import AnalyzerError
from analyzer.render import Fetch, Outcome, Renderer, RenderFailure, RenderRequest, RenderWorker, submit
from analyzer.template import Template

if TYPE_CHECKING:
    from analyzer.spec.model import Spec

_MESSAGE: Final = 600
"""Longest failure that is kept, in characters."""
_STOPPED: Final = frozenset({"timeout", "memory", "crash"})
"""The kinds of failed renders that hang on the machine and the moment."""


class Lane:
    """The job's handle on one process; `check` never raises for what a template does."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self.starts = 0

    def check(self, task: Task) -> Result:
        """Check one template; a process that takes too long or dies is a finding about the template."""
        started = time.monotonic()
        process = self._running()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            _kill(process)

        timer = threading.Timer(self.seconds, expire)
        timer.daemon = True
        timer.start()
        try:
            line = self._exchange(process, task)
        finally:
            timer.cancel()
        if line.endswith("\n"):
            return Result.from_json(json.loads(line))
        status = self._reap()
        found = (
            f"stopped after {self.seconds:g} s"
            if expired.is_set()
            else f"the process died with status {status}"
        )
        spent = round(time.monotonic() - started, 3)
        return _crashed(task, found, spent)

    def stop(self) -> None:
        """End the process and all it started."""
        if self._process is not None:
            self._reap()

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "analyzer.corpus.lane"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                start_new_session=True,
            )
            self.starts += 1
        return self._process

    def _exchange(self, process: subprocess.Popen[str], task: Task) -> str:
        try:
            pipe = _pipe(process.stdin)
            pipe.write(json.dumps(task.to_json()) + "\n")
            pipe.flush()
            return _pipe(process.stdout).readline()
        except (OSError, ValueError):
            return ""

    def _reap(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        _kill(process)
        status = process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                _pipe(pipe).close()
        return status


def _kill(process: subprocess.Popen[str]) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None  # noqa: S101  (asked for when the process was started)
    return pipe


def check_template(template: Template, worker: Renderer, *, seed: int = 0) -> Result:
    """Analyse and prove one template."""
    from analyzer.analysis import analyze  # noqa: PLC0415  (the job's own process does without)
    from analyzer.corpus.golden import format_name, format_text  # noqa: PLC0415
    from analyzer.corpus.shown import renders_calls  # noqa: PLC0415
    from analyzer.spec.document import dumps  # noqa: PLC0415

    started = time.perf_counter()
    watched = _Watched(worker)
    try:
        analysis = analyze(template, renderer=watched, seed=seed)
    except AnalyzerError as error:
        return Result(
            template.name,
            template.sha256,
            REFUSED,
            renders_calls=False,
            failures=(str(error),),
            seconds=round(time.perf_counter() - started, 3),
            stops=watched.stops,
        )
    shown_from = time.perf_counter()
    shown = analysis.calls_shown or renders_calls(analysis.template, watched)  # inference tries more shapes
    ended = time.perf_counter()
    spec = analysis.spec
    return Result(
        name=template.name,
        sha256=template.sha256,
        verdict=analysis.verdict,
        renders_calls=shown,
        described=_described(spec) if spec is not None else "",
        defects=tuple(sorted({defect.kind for defect in spec.defects})) if spec is not None else (),
        failures=tuple(failure[:_MESSAGE] for failure in analysis.failures[:10]),
        unproven=len(analysis.verification.unproven),
        round_trips=analysis.verification.round_trips,
        seconds=round(ended - started, 3),
        phases={**analysis.seconds, "shown": round(ended - shown_from, 4)},
        stops=watched.stops,
        format=format_name(format_text(spec)) if spec is not None else "",
        spec=dumps(spec) if spec is not None else "",
    )


class _Watched:
    """A renderer that counts the renders that a limit of time or memory stopped."""

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self.stops = 0

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """See `Renderer`."""
        return self.submit(source, requests, mutable=mutable)()

    def submit(self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False) -> Fetch:
        """See `PipelinedRenderer`."""
        fetch = submit(self._renderer, source, requests, mutable=mutable)

        def watched() -> list[Outcome]:
            outcomes = fetch()
            self.stops += sum(isinstance(one, RenderFailure) and one.kind in _STOPPED for one in outcomes)
            return outcomes

        return watched


def _described(spec: Spec) -> str:
    """How a described call begins."""
    calls = spec.calls
    if calls is None or not any(one.described for found in spec.evidence.values() for one in found):
        return ""
    first = calls.layouts[0]
    literal = first.open if first.kind == "json" else first.parts[0]
    return (calls.open + (literal if isinstance(literal, str) else "")).strip()


def serve(stream_in: IO[str], stream_out: IO[str]) -> None:
    """Check templates until the input ends, or nobody reads the results any more."""
    with RenderWorker() as worker:
        for line in stream_in:
            task = Task.from_json(json.loads(line))
            try:
                result = check_template(task.template(), worker, seed=task.seed)
            except Exception as error:  # noqa: BLE001  (a bug that one template shows must not end the job)
                result = _bug(task, error)
            try:
                stream_out.write(json.dumps(result.to_json()) + "\n")
                stream_out.flush()
            except (
                BrokenPipeError
            ):  # the job was killed; the interpreter's own last flush shall find no broken pipe
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream_out.fileno())
                return


def _bug(task: Task, error: Exception) -> Result:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else "?"  # noqa: PTH119
    return _crashed(task, f"a bug: {type(error).__name__} at {place}: {str(error)[:_MESSAGE]}")


def _crashed(task: Task, found: str, seconds: float = 0.0) -> Result:
    template = task.template()
    return Result(
        template.name, template.sha256, CRASHED, renders_calls=True, failures=(found,), seconds=seconds
    )


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
