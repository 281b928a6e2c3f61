"""Tools from Python functions: signature, annotations and docstring become the definition, pydantic does the schema.

    def read_file(path: str, lines: int = 100) -> str:
        '''Read a text file from the workspace.

        :param path: Path relative to the workspace root.
        '''

    FunctionTool.of(read_file).tool

A parameter annotated as `IdempotencyKey` or `Cancellation` is for the dispatcher to fill: the model does not see it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any, Final

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError
from pydantic_core import ArgsKwargs

from analyzer.agent.docstrings import read_docstring
from analyzer.chat import Tool
from analyzer.errors import UsageError

_NAMED: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class IdempotencyKey(str):
    """What a tool that changes something compares, so that a turn which is run again does not change it twice."""

    __slots__ = ()


class Cancellation:
    """Tells a tool in a thread that nobody waits for it any more.

    A thread cannot be stopped from outside while it is inside a blocking call; `wait` in place of `time.sleep`, and
    `on_stop` with what ends the blocking call (`process.kill`, `socket.close`), make such a tool stop at once.
    """

    __slots__ = ("_event", "_hooks")

    def __init__(self) -> None:
        self._event = Event()
        self._hooks: list[Callable[[], object]] = []

    def is_set(self) -> bool:
        """Return whether the tool should stop."""
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep; return True at once when the tool should stop."""
        return self._event.wait(seconds)

    def on_stop(self, hook: Callable[[], object]) -> None:
        """Call `hook` when the tool should stop; at once when that was before."""
        self._hooks.append(hook)
        if self._event.is_set():
            self._run_hooks()

    def stop(self) -> None:
        """Tell the tool to stop."""
        self._event.set()
        self._run_hooks()

    def _run_hooks(self) -> None:
        while self._hooks:
            with suppress(Exception):  # a hook that fails leaves the other hooks their turn
                self._hooks.pop()()


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function with its definition."""

    tool: Tool
    """What the model is told."""
    function: Callable[..., Any]
    """What is run."""
    is_async: bool
    """True: it is awaited; else it runs in a thread."""
    key_parameter: str | None
    """The parameter that takes an `IdempotencyKey`."""
    cancel_parameter: str | None
    """The parameter that takes a `Cancellation`."""
    _positional: tuple[str, ...]
    _binder: TypeAdapter[dict[str, Any]] | None

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> FunctionTool:
        """Make the tool. With `parameters` the function is called with the decoded arguments as they are."""
        try:
            signature = _signature(function)
        except UsageError:
            if parameters is None:
                raise
            signature = inspect.Signature()
        said = read_docstring(inspect.getdoc(_inner(function)))
        hidden = {p.name: p.annotation for p in signature.parameters.values() if p.annotation in _FILLED}
        binder: TypeAdapter[dict[str, Any]] | None = None
        if parameters is None:
            binder = _binder(function, signature, hidden)
            parameters = _schema(binder, said.parameters)
        called: str = name or getattr(_inner(function), "__name__", "") or type(function).__name__
        if not called.replace("_", "").replace("-", "").replace(".", "").isalnum():
            raise UsageError(f"{called!r} cannot be a tool's name", hint="Give a name.")
        kinds = {annotation: parameter for parameter, annotation in hidden.items()}
        return cls(
            tool=Tool(called, said.description if description is None else description, parameters),
            function=function,
            is_async=inspect.iscoroutinefunction(_callable_of(function)),
            key_parameter=kinds.get(IdempotencyKey),
            cancel_parameter=kinds.get(Cancellation),
            _positional=tuple(
                p.name for p in signature.parameters.values() if p.kind is inspect.Parameter.POSITIONAL_ONLY
            ),
            _binder=binder,
        )

    def bind(self, arguments: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return what to call the function with. Raises `pydantic.ValidationError` for values of other types."""
        values = dict(arguments)
        if self._binder is not None:
            values = self._binder.validate_python(ArgsKwargs((), values))
        return tuple(values.pop(name) for name in self._positional if name in values), values


_FILLED: Final = (IdempotencyKey, Cancellation)


def _inner(function: Callable[..., Any]) -> Any:
    """The function inside a `functools.partial`."""
    while isinstance(function, partial):
        function = function.func
    return function


def _callable_of(function: Callable[..., Any]) -> Any:
    """The function that a call of it runs: an object's `__call__`."""
    inner = _inner(function)
    return inner if inspect.isroutine(inner) else type(inner).__call__


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise UsageError(f"an annotation of {function!r} cannot be read: {error}") from error
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{function!r} has no signature", hint="Give parameters, as a JSON Schema."
        ) from error


def _binder(
    function: Callable[..., Any], signature: inspect.Signature, hidden: Mapping[str, Any]
) -> TypeAdapter[dict[str, Any]]:
    """What turns decoded arguments into keyword arguments: a stand-in with the same parameters that returns them."""
    shown = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            raise UsageError(f"{function!r} takes *{parameter.name}", hint="A model names each argument.")
        if parameter.name not in hidden:
            named = parameter.kind in _NAMED
            shown.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) if named else parameter)

    def stand_in(**arguments: Any) -> dict[str, Any]:
        return arguments

    stand_in.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    stand_in.__annotations__ = {
        parameter.name: parameter.annotation
        for parameter in shown
        if parameter.annotation is not inspect.Parameter.empty
    }
    try:
        adapter: TypeAdapter[dict[str, Any]] = TypeAdapter(stand_in)  # type: ignore[arg-type]
        adapter.json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise UsageError(
            f"{function!r} takes something that has no JSON form: {str(error).splitlines()[0]}",
            hint="Give parameters, as a JSON Schema.",
        ) from error
    return adapter


def _schema(binder: TypeAdapter[dict[str, Any]], said: Mapping[str, str]) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": {}, **_without_titles(binder.json_schema())}
    for name, field in made["properties"].items():
        if name in said and "description" not in field:
            field["description"] = said[name]
    first = ("type", "properties", "required", "additionalProperties")
    return {key: made[key] for key in (*first, *sorted(made.keys() - first)) if key in made}


def _without_titles(schema: Any) -> Any:
    """The schema without the titles that pydantic makes of names; a property may still be called `title`."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, value in schema.items():
        if key in {"properties", "$defs", "patternProperties"} and isinstance(value, dict):
            out[key] = {name: _without_titles(item) for name, item in value.items()}
        elif key in {"default", "const", "enum", "examples"}:
            out[key] = value
        elif key != "title" or not isinstance(value, str):
            out[key] = _without_titles(value)
    return out
