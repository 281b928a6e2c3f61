"""Run the calls of a turn: one result for each call, in call order with the calls' ids, whatever the tools do.

    results = await dispatch(registry, parsed)
    results = run(registry, parsed)             # the same, from code that is not async

Async tools run as tasks, others in threads, all at the same time; calls of writers one after another. What fails the
checks, raises, hangs or is refused is an error result that tells the model what to do; it never stops the other calls.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from analyzer.agent.functions import Cancellation, IdempotencyKey
from analyzer.agent.registry import Entry, Registry
from analyzer.agent.results import Status, ToolError, ToolResult, as_text, capped
from analyzer.agent.running import Running, RunningTask, RunningThread
from analyzer.agent.schema_errors import place
from analyzer.agent.turns import ModelTurn
from analyzer.agent.validation import Checked, CheckedCall, check
from analyzer.chat import Message
from analyzer.errors import UsageError
from analyzer.runtime.assemble import Parsed

Refuse = Callable[[CheckedCall], "str | Awaitable[str | None] | None"]
"""Asked before each call that could run: a sentence is the reason why it must not, None lets it run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a batch may take."""

    timeout: float = 30.0
    """Seconds for each call, from when it starts."""
    max_bytes: int = 64_000
    """The most bytes of a result; what is longer is cut."""
    concurrent: int = 16
    """The most calls that run at the same time."""
    batch_timeout: float | None = None
    """Seconds for the whole batch; calls that have not started by then are skipped."""
    grace: float = 0.5
    """Seconds to wait for a tool that was told to stop."""
    interrupt: bool = True
    """Whether to raise in the thread of a tool that has to stop; else it only learns of it by its `Cancellation`."""


DEFAULT: Final = Limits()
_left: Final[WeakKeyDictionary[Registry, list[Running]]] = WeakKeyDictionary()
"""Writers that could not be stopped, by registry: no other writer starts while one of them runs."""


async def dispatch(
    registry: Registry,
    source: Checked | ModelTurn | Message | Parsed | Mapping[str, Any],
    *,
    limits: Limits = DEFAULT,
    strict: bool = True,
    refuse: Refuse | None = None,
    turn: str | None = None,
) -> tuple[ToolResult, ...]:
    """Run the calls of a turn and return one result for each, in order.

    `turn` names the turn for idempotency keys: the same turn run again, even with new ids, gets the same keys.
    When this is cancelled, all tools are stopped before the cancellation goes on; `in_call_order` then answers the calls.
    """
    checked = source if isinstance(source, Checked) else check(source, registry.tools, strict=strict)
    asked = any(entry.function.key_parameter for entry in registry.entries)
    batch = _Batch(registry, limits, refuse, idempotency_keys(checked, turn) if asked else ())
    tasks = [asyncio.ensure_future(batch.answer(call)) for call in checked.calls]
    try:
        if tasks:
            await asyncio.wait(tasks)
        return tuple(task.result() for task in tasks)
    finally:
        batch.stopping = True
        for task in tasks:
            task.cancel()
        await _through(batch.close(tasks))


def run(
    registry: Registry,
    source: Checked | ModelTurn | Message | Parsed | Mapping[str, Any],
    *,
    limits: Limits = DEFAULT,
    strict: bool = True,
    refuse: Refuse | None = None,
    turn: str | None = None,
) -> tuple[ToolResult, ...]:
    """Do what `dispatch` does, from code that is not async."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(dispatch(registry, source, limits=limits, strict=strict, refuse=refuse, turn=turn))
    raise UsageError("an event loop is running here", hint="Await dispatch(...) instead.")


def idempotency_keys(checked: Checked, turn: str | None = None) -> tuple[IdempotencyKey, ...]:
    """Return a key for each call: the same for the same call of the same turn, another for every other call.

    Without `turn` the calls' ids tell turns apart; a call without an id then gets a key that never comes again.
    """
    count: dict[str, int] = {}
    keys = []
    for call in checked.calls:
        arguments = (
            call.call.arguments if call.arguments is None else json.dumps(call.arguments, sort_keys=True)
        )
        where = turn if turn is not None else call.call.id or uuid.uuid4().hex
        what = json.dumps([where, call.call.name, arguments])
        count[what] = count.get(what, 0) + 1
        keys.append(IdempotencyKey(hashlib.sha256(f"{what}{count[what]}".encode()).hexdigest()[:32]))
    return tuple(keys)


class _Batch:
    """The calls of one turn while they run."""

    def __init__(
        self, registry: Registry, limits: Limits, refuse: Refuse | None, keys: Sequence[IdempotencyKey]
    ) -> None:
        self._registry = registry
        self._limits = limits
        self._refuse = refuse
        self._keys = keys
        self._slots = asyncio.Semaphore(max(1, limits.concurrent))
        self._writing = asyncio.Lock()
        self._running: dict[Running, Entry] = {}
        self._ended: list[Running] = []
        self.stopping = False
        """Whether the batch is over: what is cancelled from then on is cancelled by it."""
        loop = asyncio.get_running_loop()
        self._end = None if limits.batch_timeout is None else loop.time() + limits.batch_timeout

    async def answer(self, call: CheckedCall) -> ToolResult:
        """The result of one call."""
        entry = self._registry.get(call.call.name)
        if not call.runnable or entry is None or call.arguments is None:
            return self._result(call, entry, call.complaint or "this call cannot be run", "invalid")
        if not entry.writer:
            async with self._slots:
                return await self._run(call, entry)
        async with self._writing, self._slots:
            if any(running.alive for running in _left.get(self._registry, ())):
                said = "not run: an earlier call that changes something is still running; try again later"
                return self._result(call, entry, said, "skipped")
            return await self._run(call, entry)

    async def close(self, tasks: Sequence[asyncio.Future[ToolResult]]) -> None:
        """Stop what still runs, and wait for it."""
        pending = [task for task in tasks if not task.done()]
        if pending:
            await asyncio.wait(pending)
        if self._running:
            await asyncio.gather(
                *(self._stop(running, entry) for running, entry in list(self._running.items()))
            )
        for running in self._ended:
            running.join()

    async def _run(self, call: CheckedCall, entry: Entry) -> ToolResult:
        said = await self._refusal(call)
        if said is not None:
            return self._result(call, entry, said, "skipped")
        loop = asyncio.get_running_loop()
        timeout = self._limits.timeout if entry.timeout is None else entry.timeout
        if self._end is not None:
            timeout = min(timeout, self._end - loop.time())
            if timeout <= 0:
                said = "not run: the time for this batch of calls was up; call it again if it is still needed"
                return self._result(call, entry, said, "skipped")
        try:
            running = self._start(call, entry)
        except RuntimeError as refusal:  # no more threads
            return self._result(call, entry, f"not run: {refusal}; try again later", "skipped")
        self._running[running] = entry
        await asyncio.wait({running.future}, timeout=timeout)
        if not running.future.done():
            ended = await self._stop(running, entry)
            said = f"timed out after {timeout:.3g} s, try a narrower query"
            if entry.writer:
                said = (
                    f"timed out after {timeout:.3g} s; it may have taken effect, check before you try again"
                )
            return self._result(call, entry, said, "timed_out", left_running=not ended)
        del self._running[running]
        self._ended.append(running)
        value, error = running.future.result()
        if error is None:
            text, cut = value
            return self._result(call, entry, text, "ok", truncated=cut)
        return self._result(call, entry, value, "invalid" if error is _UnfitError else "failed")

    async def _refusal(self, call: CheckedCall) -> str | None:
        if self._refuse is None:
            return None
        try:
            answer = self._refuse(call)
            said: Any = await answer if inspect.isawaitable(answer) else answer
        except asyncio.CancelledError:
            if self.stopping:
                raise
            return "not run: the question whether it may run was cancelled"
        except Exception as error:  # noqa: BLE001  (whatever asks may fail; the call is then not run)
            return f"not run: nobody could be asked whether it may run ({error})"
        if said is None:
            return None
        return said if isinstance(said, str) and said else "not run: it was refused"

    async def _stop(self, running: Running, entry: Entry) -> bool:
        ended = await running.stopped(self._limits.grace)
        self._running.pop(running, None)
        if ended:
            self._ended.append(running)
        elif entry.writer:
            still = [other for other in _left.get(self._registry, ()) if other.alive]
            _left[self._registry] = [*still, running]
        return ended

    def _start(self, call: CheckedCall, entry: Entry) -> Running:
        function, cancellation = entry.function, Cancellation()
        arguments = dict(call.arguments or {})

        def called() -> Any:
            try:
                positional, named = function.bind(arguments)
            except ValidationError as error:
                raise _UnfitError(error) from None
            if function.key_parameter is not None:
                named[function.key_parameter] = self._keys[call.index]
            if function.cancel_parameter is not None:
                named[function.cancel_parameter] = cancellation
            return function.function(*positional, **named)

        cap = self._cap(entry)

        async def task() -> tuple[str, bool]:
            return capped(as_text(await called()), cap)

        def job() -> tuple[str, bool]:
            value = called()
            if inspect.isawaitable(value):
                getattr(value, "close", lambda: None)()
                raise ToolError("this tool is broken: it returns something to await and is no async function")
            return capped(as_text(value), cap)

        if function.is_async:
            return RunningTask(task, cancellation)
        listens = function.cancel_parameter is not None
        return RunningThread(job, cancellation, interrupt=self._limits.interrupt, listens=listens)

    def _cap(self, entry: Entry | None) -> int:
        return self._limits.max_bytes if entry is None or entry.max_bytes is None else entry.max_bytes

    def _result(
        self,
        call: CheckedCall,
        entry: Entry | None,
        content: str,
        status: Status,
        *,
        truncated: bool = False,
        left_running: bool = False,
    ) -> ToolResult:
        if status != "ok":
            content, truncated = capped(content, self._cap(entry))
        return ToolResult(call.index, call.call.id, call.call.name, content, status, truncated, left_running)


class _UnfitError(ToolError):
    """The arguments do not become what the function takes."""

    def __init__(self, error: ValidationError) -> None:
        super().__init__(
            "; ".join(f"argument '{place(found['loc'])}': {found['msg']}" for found in error.errors())
        )


async def _through(work: Coroutine[Any, Any, None]) -> None:
    """Await the work to its end, however often this task is cancelled meanwhile; the cancellation goes on after it."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:  # noqa: PERF203  (that is the loop's purpose)
            cancelled = True
    task.result()
    if cancelled:
        raise asyncio.CancelledError
