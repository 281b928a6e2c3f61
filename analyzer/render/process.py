"""The parent's handle on one rendering process: start, send, receive, and say why it died."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

from analyzer.errors import UsageError
from analyzer.render.outcome import FAILURE_KINDS, Outcome, Rendered, RenderFailure

START_SECONDS: Final = 60.0
SEND_SECONDS: Final = 60.0
"""How long a child may take to read what it is sent; only one that has been taken over needs longer."""

EXIT_MEMORY: Final = 77
"""The status a child ends with when it ran out of memory outside of a render."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "PYTHONHOME")

# The child gets its import path before its first import, and finds this package without running the package's
# `__init__`, whose imports it does not need.
_BOOTSTRAP: Final = """
import sys
sys.path[:] = sys.argv[1].split(chr(10))
from types import ModuleType
for name, folder in zip(("analyzer", "analyzer.render"), sys.argv[2].split(chr(10))):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__path__ = [folder]
from analyzer.render.child import main
main(*map(int, sys.argv[3:]))
"""


class Watchdog:
    """Kills a process when a deadline passes; deadlines are moved without waking the thread."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._changed = threading.Condition()
        self._deadline: float | None = None
        self._wakes_at = float("inf")
        self._stopped = False
        self.expired = False
        threading.Thread(target=self._watch, name="render-watchdog", daemon=True).start()

    def arm(self, seconds: float) -> None:
        """The process is killed ``seconds`` from now unless the deadline is moved or lifted before."""
        with self._changed:
            self._deadline = time.monotonic() + seconds
            if self._deadline < self._wakes_at:
                self._changed.notify()

    def disarm(self) -> bool:
        """Lifts the deadline; whether the process was killed before that."""
        with self._changed:
            self._deadline = None
            return self.expired

    def stop(self) -> None:
        """Ends the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def _watch(self) -> None:
        with self._changed:
            while not self._stopped:
                left = None if self._deadline is None else self._deadline - time.monotonic()
                if left is not None and left <= 0:
                    self.expired = True
                    self._process.kill()
                    return
                self._wakes_at = float("inf") if self._deadline is None else self._deadline
                self._changed.wait(left)


class ChildProcess:
    """One rendering process; raises `UsageError` when it does not start.

    ``memory_bytes`` of address space, ``cpu_seconds`` for each batch and ``output_chars`` for each render are the
    child's limits.  ``gone`` is true once the process has been killed or has died: then nothing more can be sent.
    """

    def __init__(self, *, memory_bytes: int, cpu_seconds: int, output_chars: int) -> None:
        self._line_limit = 12 * output_chars + 65_536  # a character takes at most 12 in ASCII JSON
        self._allowed = 0.0
        self._garbled = False
        self.gone = False
        limits = (str(memory_bytes), str(cpu_seconds), str(output_chars))
        self._process = subprocess.Popen(  # noqa: S603  (our own interpreter, our own program)
            [
                sys.executable,
                "-S",
                "-c",
                _BOOTSTRAP,
                _import_path(),
                f"{_PACKAGE}\n{_PACKAGE / 'render'}",
                *limits,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
            | {"PYTHONHASHSEED": "0"},
            start_new_session=True,  # an interrupt at the keyboard is the parent's to handle
        )
        self._watchdog = Watchdog(self._process)
        self._finalizer = weakref.finalize(self, _end, self._process, self._watchdog)
        self._watchdog.arm(START_SECONDS)
        ready = _pipe(self._process.stdout).readline(65_536)
        self._watchdog.disarm()
        if ready != b'{"ready":true}\n':
            self.stop()
            raise UsageError(
                "The rendering process does not start",
                hint="It needs jinja2 and more memory than its limit allows, or the machine has none to spare.",
            )

    def alive(self) -> bool:
        """Whether something can be sent."""
        return not self.gone and self._process.poll() is None

    def send(self, source: str, contexts: Sequence[str], *, mutable: bool) -> bool:
        """Sends a batch of contexts, encoded as JSON; false when the process is gone."""
        head = f'{{"source":{json.dumps(source)},"mutable":{json.dumps(mutable)},"requests":['
        pipe = _pipe(self._process.stdin)
        self._allowed = SEND_SECONDS
        self._watchdog.arm(SEND_SECONDS)
        try:
            pipe.write(f"{head}{','.join(contexts)}]}}\n".encode("ascii"))
            pipe.flush()
        except OSError:
            self.gone = True
        self.gone = self._watchdog.disarm() or self.gone
        return not self.gone

    def receive(self, seconds: float) -> Outcome | None:
        """The next answer; ``None`` when the process died or was killed instead (see `post_mortem`)."""
        self._allowed = seconds
        self._watchdog.arm(seconds)
        line = _pipe(self._process.stdout).readline(self._line_limit)
        killed = self._watchdog.disarm()
        if not line.endswith(b"\n"):
            self.gone = True
            self._garbled = bool(line) and not killed
            return None
        answer = _decode(line)
        self._garbled = answer is None
        self.gone = (
            killed or self._garbled
        )  # killed too late: the answer counts, the process is gone all the same
        return answer

    def post_mortem(self) -> RenderFailure:
        """Why the process gave no answer; ends the process if it still runs."""
        if self._watchdog.expired:
            return RenderFailure("timeout", f"stopped after {self._allowed:.3g} s")
        if self._garbled:
            return RenderFailure("crash", "the rendering process gave an answer that cannot be read")
        try:
            status = self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            return RenderFailure("crash", "the rendering process closed its output")
        if status == -getattr(signal, "SIGXCPU", 0):
            return RenderFailure("timeout", "stopped by the limit of CPU time")
        if status in (EXIT_MEMORY, -getattr(signal, "SIGKILL", 0)):
            return RenderFailure("memory", "out of memory: the rendering process was killed")
        return RenderFailure("crash", f"the rendering process died with status {status}")

    def stop(self) -> None:
        """Kills the process and releases its pipes; harmless when it is dead already."""
        self.gone = True
        self._finalizer()


def _end(process: subprocess.Popen[bytes], watchdog: Watchdog) -> None:
    watchdog.stop()
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):  # what was not flushed has no reader any more
            _pipe(pipe).close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None  # noqa: S101  (asked for when the process was started)
    return pipe


def _import_path() -> str:
    """The folders the child imports from, one a line: ours, without the current folder, which may hold anything."""
    folders = [str(Path(entry).resolve()) for entry in sys.path if entry]
    found = importlib.util.find_spec("jinja2")
    if found is not None and found.origin is not None:
        folders.append(str(Path(found.origin).resolve().parent.parent))
    return "\n".join(dict.fromkeys(folders))


def _decode(line: bytes) -> Outcome | None:
    """The outcome in an answer, or ``None``: the child is not trusted to write what it should."""
    try:
        answer: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    match answer:
        case {"text": str(text)}:
            return Rendered(text)
        case {"kind": str(kind), "message": str(message), "line": int() | None as number} if (
            kind in FAILURE_KINDS
        ):
            return RenderFailure(kind, message, number)  # type: ignore[arg-type]  # one of them, as just checked
    return None
