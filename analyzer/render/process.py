"""The parent's handle on one rendering process: start, send, receive, and say why it died."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import time
import weakref
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

from analyzer.errors import UsageError
from analyzer.render.outcome import FAILURE_KINDS, Outcome, Rendered, RenderFailure

START_SECONDS: Final = 60.0
SEND_SECONDS: Final = 60.0
"""How long a child may take to read what it is sent; only one that has been taken over needs longer."""

CHUNK_BYTES: Final = 65_536
"""How much is read at once: what a pipe holds on most systems."""

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


class ChildProcess:
    """One rendering process; raises `UsageError` when it does not start.

    ``memory_bytes`` of address space, ``cpu_seconds`` for each batch and ``output_chars`` for each render are the
    child's limits.  Batches may be sent before the answers to earlier ones are received: answers come in the order of
    what was sent.  ``gone`` is true once the process is known to have died or to have been killed.
    """

    def __init__(self, *, memory_bytes: int, cpu_seconds: int, output_chars: int) -> None:
        self._line_limit = 12 * output_chars + 65_536  # a character takes at most 12 in ASCII JSON
        self._allowed = 0.0
        self._expired = False
        self._garbled = False
        self.gone = False
        self._template: tuple[bool, str] | None = None
        self._lines: deque[bytes] = deque()
        self._begun: list[bytes] = []
        self._owed = 1
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
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
            | {"PYTHONHASHSEED": "0"},
            start_new_session=True,  # an interrupt at the keyboard is the parent's to handle
        )
        self._finalizer = weakref.finalize(self, _end, self._process)
        self._in = _pipe(self._process.stdin).fileno()
        self._out = _pipe(self._process.stdout).fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        if self._line(START_SECONDS) != b'{"ready":true}':
            self.stop()
            raise UsageError(
                "The rendering process does not start",
                hint="It needs jinja2 and more memory than its limit allows, or the machine has none to spare.",
            )

    def alive(self) -> bool:
        """Whether something can be sent."""
        return not self.gone and self._process.poll() is None

    def send(self, source: str, contexts: Sequence[str], *, mutable: bool) -> bool:
        """Sends a batch of contexts, encoded as JSON; false when the process does not take it any more.

        The answers that arrive meanwhile are kept, so neither side waits for the other to read.
        """
        head = ""
        if self._template != (mutable, source):
            head = f'"source":{json.dumps(source)},"mutable":{json.dumps(mutable)},'
            self._template = (mutable, source)
        left = memoryview(f'{{{head}"requests":[{",".join(contexts)}]}}\n'.encode("ascii"))
        ends = time.monotonic() + SEND_SECONDS
        self._allowed = SEND_SECONDS
        self._owed += len(contexts)
        while left:
            taken = self._write(left)
            if taken is None or (not taken and not self._wait(ends, sending=True)):
                return False
            left = left[taken:]
        return True

    def receive(self, seconds: float) -> Outcome | None:
        """The next answer; ``None`` when the process died or was killed instead (see `post_mortem`)."""
        line = self._line(seconds)
        if line is None:
            return None
        answer = _decode(line)
        self._garbled = self.gone = answer is None
        return answer

    def post_mortem(self) -> RenderFailure:
        """Why the process gave no answer; ends the process if it still runs."""
        if self._expired:
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

    def _write(self, data: memoryview) -> int | None:
        """How many bytes the pipe takes now; ``None`` when nobody reads it, who may still have written before."""
        try:
            return os.write(self._in, data)
        except BlockingIOError:
            return 0
        except OSError:
            return None

    def _line(self, seconds: float) -> bytes | None:
        """The next line without its end; ``None`` when the process is gone."""
        ends = time.monotonic() + seconds
        if not self._expired:
            self._allowed = seconds
        while not self._lines:
            if self.gone or not self._wait(ends):
                self.gone = True
                return None
        self._owed -= 1
        return self._lines.popleft()

    def _wait(self, ends: float, *, sending: bool = False) -> bool:
        """Waits for the process to write, or to read as well, and takes what it wrote; false when it is gone.

        At ``ends`` (by the monotonic clock) the process is killed.
        """
        waiting = select.poll()
        waiting.register(self._out, select.POLLIN)
        if sending:
            waiting.register(self._in, select.POLLOUT)
        ready = waiting.poll(max(0.0, 1000 * (ends - time.monotonic())))
        if not ready:
            self._expired = True
            self._process.kill()
            return False
        return all(descriptor != self._out for descriptor, _ in ready) or self._take()

    def _take(self) -> bool:
        """Takes what the process wrote; false at its end, and when that is more than it was asked for."""
        chunk = os.read(self._out, CHUNK_BYTES)
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._lines.append(b"".join((*self._begun, piece)))
            self._begun = []
        self._begun.append(rest)
        too_much = sum(map(len, self._begun)) > self._line_limit or len(self._lines) > self._owed
        self._garbled = too_much or (not chunk and any(self._begun))
        return bool(chunk) and not too_much


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
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
