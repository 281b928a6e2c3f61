"""Renders in a process of its own, which is stopped when a template takes too much.

Theory of operation.  Jinja's sandbox guards attributes, neither time nor memory: a loop of four million steps or a
string of a gigabyte is legal.  So templates are rendered by a child process under limits (:class:`Limits`).

* The child starts at the first render, imports jinja2 and nothing heavier, and stays: it keeps compiled templates.
* Requests go out in batches, answers come back one by one, in order; both are lines of JSON, never pickles, so a
  template that takes the child over can send text and nothing else.  Answers are checked as untrusted input.
* The child is killed when one answer is awaited longer than ``Limits.seconds``.  The number of answers
  tells which request was at work: it alone gets the failure, a new child does the rest.
* A template that has the child killed ``Limits.kills`` times is not tried again by this worker, so that a hostile
  template costs a bounded time whatever the number of requests; ``Limits.batch_seconds`` bounds a whole call.
* Equal requests are rendered once: outcomes are kept, by template and request, up to `CACHE_CHARS` characters.
* ``submit`` sends requests and returns, so that the caller can do something else while the child works.  Answers come
  in the order of requests, so whoever waits for a batch also receives those of the batches before it.

`InProcessRenderer` has the same interface and no protection but the output limit: for trusted templates and tests.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from analyzer.render.outcome import Outcome, Rendered, RenderFailure, RenderRequest
from analyzer.render.process import ChildProcess

CACHE_CHARS: Final = 16_000_000
BATCH_REQUESTS: Final = 256
BATCH_CHARS: Final = 4_000_000

_TemplateKey: TypeAlias = tuple[bool, str]  # mutable, source
_Key: TypeAlias = tuple[bool, str, str]  # and the request's text


@dataclass(frozen=True, slots=True)
class Limits:
    """What one template may take.

    ``seconds``: wall clock for one render, compiling included, counted from when it is awaited.  ``batch_seconds``: wall
    clock for the requests of one call.  ``memory_bytes``: address space of the child, its interpreter included (about 40 MB), where the
    platform can limit it.  ``output_chars``: characters of one render.  ``kills``: how often one template may have
    the child killed before it is refused.
    """

    seconds: float = 5.0
    batch_seconds: float = 120.0
    memory_bytes: int = 512 * 1024 * 1024
    output_chars: int = 4_000_000
    kills: int = 3


DEFAULT_LIMITS: Final = Limits()


class Renderer(Protocol):
    """Anything that renders: `RenderWorker`, `InProcessRenderer`, or a test's own."""

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """One outcome for each request, in order; ``mutable`` lets the template change lists and mappings."""
        ...


Fetch: TypeAlias = Callable[[], list[Outcome]]
"""Waits for the outcomes of requests under way, one for each in order."""


@runtime_checkable
class PipelinedRenderer(Renderer, Protocol):
    """A renderer that works while its caller does."""

    def submit(self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False) -> Fetch:
        """Starts what ``render`` does, and returns what waits for the outcomes."""
        ...


def submit(
    renderer: Renderer, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
) -> Fetch:
    """Starts rendering where ``renderer`` can; where it cannot, everything is rendered now."""
    if isinstance(renderer, PipelinedRenderer):
        return renderer.submit(source, requests, mutable=mutable)
    outcomes = renderer.render(source, requests, mutable=mutable)
    return lambda: outcomes


class OutcomeCache:
    """Outcomes by template and request, the oldest dropped when more than ``limit`` characters are kept."""

    def __init__(self, limit: int = CACHE_CHARS) -> None:
        self._limit = limit
        self._size = 0
        self._kept: OrderedDict[_Key, Outcome] = OrderedDict()

    def get(self, key: _Key) -> Outcome | None:
        """The outcome, if it is kept."""
        return self._kept.get(key)

    def put(self, key: _Key, outcome: Outcome) -> None:
        """Keeps an outcome; what depends on the moment (a kill) is not kept."""
        if isinstance(outcome, RenderFailure) and outcome.kind in ("timeout", "memory", "crash"):
            return
        self._kept[key] = outcome
        self._size += _weight(key, outcome)
        while self._size > self._limit:
            self._size -= _weight(*self._kept.popitem(last=False))


def _weight(key: _Key, outcome: Outcome) -> int:
    return len(key[2]) + len(outcome.text if isinstance(outcome, Rendered) else outcome.message)


class InProcessRenderer:
    """Renders in this process.

    Only for templates that are trusted: nothing stops an endless loop.  Each request is rendered from a fresh copy.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._compiled: dict[_TemplateKey, Any] = {}
        self._cache = OutcomeCache()

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """See `Renderer`."""
        return [self._render((mutable, source, request.encode())) for request in requests]

    def _render(self, key: _Key) -> Outcome:
        # Imported here so that a program with a worker does without jinja2.
        from analyzer.render.environment import compile_template, render_compiled  # noqa: PLC0415

        outcome = self._cache.get(key)
        if outcome is None:
            compiled = self._compiled.get(key[:2])
            if compiled is None:
                compiled = self._compiled[key[:2]] = compile_template(key[1], mutable=key[0])
            if isinstance(compiled, RenderFailure):
                return compiled
            outcome = render_compiled(compiled, json.loads(key[2]), limit=self._limits.output_chars)
            self._cache.put(key, outcome)
        return outcome


class RenderWorker:
    """Renders in a child process; a context manager, and safe to share between threads.

    Raises `UsageError` when the child cannot be started at all (jinja2 missing, a memory limit below what the
    interpreter needs).
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._child: ChildProcess | None = None
        self._lock = threading.Lock()
        self._cache = OutcomeCache()
        self._kills: dict[_TemplateKey, int] = {}
        self._under_way: deque[_Batch] = deque()
        self.starts = 0
        """How many children have been started: 1, and one more after each kill."""

    def __enter__(self) -> RenderWorker:  # noqa: PYI034  (typing.Self is newer than 3.10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the child; the next render starts a new one."""
        with self._lock:
            self._stop()

    def render(
        self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False
    ) -> list[Outcome]:
        """One outcome for each request, in order; raises `UsageError` for a request that is not plain JSON."""
        return self.submit(source, requests, mutable=mutable)()

    def submit(self, source: str, requests: Sequence[RenderRequest], *, mutable: bool = False) -> Fetch:
        """Sends the requests; see `PipelinedRenderer`.  Raises what ``render`` does.

        A render that never ends is stopped when its outcome is awaited, or that of requests sent later.
        """
        template = (mutable, source)
        encoded = [request.encode() for request in requests]
        with self._lock:
            kept = {text: self._cache.get((*template, text)) for text in encoded}
            known = {text: outcome for text, outcome in kept.items() if outcome is not None}
            batch = _Batch(template, deque(text for text in kept if text not in known), known)
            with self._stopped_by_errors():
                self._send(batch)
        return partial(self._fetch, batch, encoded)

    def _fetch(self, batch: _Batch, encoded: Sequence[str]) -> list[Outcome]:
        with self._lock, self._stopped_by_errors():
            while batch.todo:
                self._send(batch)
                if batch.todo:
                    self._receive(self._under_way[0])
        return [batch.known[text] for text in encoded]

    def _send(self, batch: _Batch) -> None:
        """Sees to it that requests of the batch are under way, or refuses what is left of it."""
        if batch.sent or not batch.todo:
            return
        if batch.ends is None and not self._under_way:
            batch.ends = time.monotonic() + self._limits.batch_seconds
        refusal = self._refusal(batch)
        if refusal is not None:
            batch.known.update(dict.fromkeys(batch.todo, refusal))
            batch.todo.clear()
            return
        texts = _first_batch(batch.todo)
        mutable, source = batch.template
        child = self._child if self._under_way else None  # should it have died, its last answer says of what
        (child or self._running()).send(source, texts, mutable=mutable)
        batch.sent = len(texts)
        self._under_way.append(batch)

    def _receive(self, batch: _Batch) -> None:
        """Receives the next answer, which is one to the oldest batch under way."""
        now = time.monotonic()
        if batch.ends is None:  # it waited for others
            batch.ends = now + self._limits.batch_seconds
        child = self._child
        if child is None or batch.ends <= now:
            self._stop()  # nobody's fault: the batch is over
            return
        answer = child.receive(min(self._limits.seconds, batch.ends - now))
        outcome = child.post_mortem() if answer is None else answer
        text = batch.todo.popleft()
        batch.known[text] = outcome
        self._cache.put((*batch.template, text), outcome)
        batch.sent -= 1
        if not batch.sent:
            self._under_way.popleft()
        if answer is None or (isinstance(answer, RenderFailure) and answer.kind == "memory"):
            self._stop()
            self._kills[batch.template] = self._kills.get(batch.template, 0) + 1

    def _refusal(self, batch: _Batch) -> RenderFailure | None:
        if self._kills.get(batch.template, 0) >= self._limits.kills:
            return RenderFailure(
                "timeout", f"not tried: its template was stopped {self._limits.kills} times before"
            )
        if batch.ends is not None and time.monotonic() >= batch.ends:
            return RenderFailure("timeout", f"not tried: the batch took {self._limits.batch_seconds:g} s")
        return None

    @contextmanager
    def _stopped_by_errors(self) -> Iterator[None]:
        """Ends the child at an interrupt, which leaves answers under way: a fresh child next time."""
        try:
            yield
        except BaseException:
            self._stop()
            raise

    def _running(self) -> ChildProcess:
        if self._child is not None and not self._child.alive():
            self._stop()
        if self._child is None:
            self._child = ChildProcess(
                memory_bytes=self._limits.memory_bytes,
                cpu_seconds=math.ceil(self._limits.batch_seconds),
                output_chars=self._limits.output_chars,
            )
            self.starts += 1
        return self._child

    def _stop(self) -> None:
        """Ends the child; what it had not answered is sent again when it is awaited."""
        for batch in self._under_way:
            batch.sent = 0
        self._under_way.clear()
        if self._child is not None:
            self._child.stop()
            self._child = None


@dataclass(slots=True, eq=False)
class _Batch:
    """Requests of one template: those with an outcome, and those without."""

    template: _TemplateKey
    todo: deque[str]
    known: dict[str, Outcome]
    sent: int = 0
    """How many of `todo`, from the first on, are under way."""
    ends: float | None = None
    """When its time is up; None while it waits for the batches before it."""


def _first_batch(todo: Sequence[str]) -> list[str]:
    """The first requests, as many as go out together: at least one, within `BATCH_REQUESTS` and `BATCH_CHARS`."""
    size = 0
    texts: list[str] = []
    for text in islice(todo, BATCH_REQUESTS):
        size += len(text)
        if size > BATCH_CHARS and texts:
            break
        texts.append(text)
    return texts
