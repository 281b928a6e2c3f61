"""The rendering process's own side: reads batches, writes one answer a request.

Lines of ASCII JSON both ways, so that a template that breaks out of the sandbox can still send text only.  In:
``{"source": …, "mutable": …, "requests": [<context>, …]}``, without the first two where they are those of the batch
before.  Out, first ``{"ready": true}``, then for each
request ``{"text": …}`` or ``{"kind": …, "message": …, "line": …}``.  An answer is written as soon as it is known: the
parent tells from their number which request was at work when the process died.

Started by :mod:`analyzer.render.worker`, which gives the limits as arguments; ends at the end of input, and in the middle
of a render soon after its parent is gone.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any, BinaryIO, Final

import jinja2

from analyzer.render.environment import compile_template, failure_of, render_compiled
from analyzer.render.outcome import Outcome, Rendered, RenderFailure

TEMPLATES_KEPT: Final = 64
EXIT_MEMORY: Final = 77
"""The status that says "out of memory", where there is no request to answer."""
PARENT_SECONDS: Final = 0.5
"""How often the process looks whether its parent is there."""

_Compiled = jinja2.Template | RenderFailure


def main(memory_bytes: int, cpu_seconds: int, output_chars: int) -> None:
    """Serves until the input ends: bytes of address space, CPU seconds a batch, characters a render."""
    stream_in, stream_out = sys.stdin.buffer, _take_output()
    templates: OrderedDict[tuple[bool, str], _Compiled] = OrderedDict()
    _limit_process(memory_bytes)
    _end_with_parent()
    stream_out.write(b'{"ready":true}\n')
    stream_out.flush()
    for line in iter(stream_in.readline, b""):
        _limit_cpu(cpu_seconds)
        try:
            batch = json.loads(line)
        except MemoryError:
            os._exit(EXIT_MEMORY)
        if "source" in batch:
            key = (batch["mutable"], batch["source"])
        for context in batch["requests"]:
            stream_out.write(_answer(templates, key, context, output_chars))
            stream_out.flush()


def _answer(
    templates: OrderedDict[tuple[bool, str], _Compiled],
    key: tuple[bool, str],
    context: dict[str, Any],
    output_chars: int,
) -> bytes:
    try:
        compiled = _compiled(templates, key)
        if isinstance(compiled, RenderFailure):
            return _encode(compiled)
        return _encode(render_compiled(compiled, context, limit=output_chars))
    except (MemoryError, RecursionError) as error:
        return _encode(failure_of(error))


def _compiled(templates: OrderedDict[tuple[bool, str], _Compiled], key: tuple[bool, str]) -> _Compiled:
    found = templates.get(key)
    if found is None:
        found = compile_template(key[1], mutable=key[0])
        templates[key] = found
        if len(templates) > TEMPLATES_KEPT:
            templates.popitem(last=False)
    return found


def _encode(outcome: Outcome) -> bytes:
    if isinstance(outcome, Rendered):
        return json.dumps({"text": outcome.text}).encode("ascii") + b"\n"
    answer = {"kind": outcome.kind, "message": outcome.message, "line": outcome.line}
    return json.dumps(answer).encode("ascii") + b"\n"


def _take_output() -> BinaryIO:
    """The pipe to the parent, kept apart from standard output so that nothing else can be written to it."""
    pipe = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    return pipe


def _end_with_parent() -> None:
    """Looks for the parent again and again; a parent that is killed cannot stop a render that never ends."""
    parent = os.getppid()

    def look(*_: object) -> None:
        if os.getppid() != parent:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, PARENT_SECONDS, PARENT_SECONDS)


def _limit_process(memory_bytes: int) -> None:
    """Lowers what the process may take: memory, core dumps, written files, open files."""
    _lower(resource.RLIMIT_AS, memory_bytes)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, 32)


def _lower(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # some systems do not limit address space
        resource.setrlimit(limit, (allowed, allowed))


def _limit_cpu(seconds: int) -> None:
    """Moves the soft limit of CPU time ahead, so that a process whose parent is gone ends by itself."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or soft <= hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
