"""The Jinja environment that chat templates are written for, and rendering in it.

The reference is ``apply_chat_template`` of transformers 5.24; a template renders here to the same characters:

* Jinja's immutable sandbox, ``trim_blocks`` and ``lstrip_blocks`` on, ``break`` and ``continue``, and the
  ``{% generation %}`` tag, which marks the assistant's own text and writes its body unchanged;
* ``tojson`` is ``json.dumps`` without ASCII escaping and without HTML escaping, its keyword arguments passed on;
* ``raise_exception`` refuses a conversation, ``strftime_now`` tells the time, ``dict`` and ``namespace`` are
  restricted so that nothing of Python is reachable through them;
* ``messages``, ``tools``, ``documents`` and ``add_generation_prompt`` are always defined.

Two things differ on purpose.  The clock stands still (`FIXED_NOW`), since comparing renders needs equal renders.
And what transformers does to messages *before* rendering is not done here but by
:func:`analyzer.render.messages.as_transformers`, a function of its own, so that a probe can also be rendered exactly as written.

The sandbox guards attributes, neither time nor memory: templates that are not trusted belong in
:class:`analyzer.render.worker.RenderWorker`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from types import TracebackType
from typing import Any, Final, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError, TemplateSyntaxError, UndefinedError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.utils import Namespace

from analyzer.render.outcome import FailureKind, Outcome, Rendered, RenderFailure

FIXED_NOW: Final = datetime(2031, 10, 14, 9, 26, 53)  # noqa: DTZ001  (naive, as the reference's clock)
"""The time that ``strftime_now`` tells: a Tuesday, and no two of its parts are the same number."""

MESSAGE_LIMIT: Final = 2_000
"""Longest failure message that is kept, in characters."""


class RefusedByTemplate(jinja2.TemplateError):
    """What ``raise_exception`` raises inside a template."""


class _GenerationTag(Extension):
    """``{% generation %}…{% endgeneration %}``: renders its body, as a call block."""

    tags = {"generation"}  # noqa: RUF012  (declared by the base class)

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller: Macro) -> str:
        return caller()


class _DictFactory:
    """``dict`` for templates: makes mappings, and offers no way to the class behind them."""

    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, keys: Iterable[Any], value: Any = None) -> dict[Any, Any]:
        return dict.fromkeys(keys, value)


_DictFactory.__module__, _DictFactory.__name__ = "builtins", "dict"  # as error messages name it


class _Namespace(Namespace):
    """``namespace`` for templates: refuses names that begin with an underscore."""

    def __init__(
        *args: Any, **kwargs: Any
    ) -> None:  # the first positional is self, so that self= can be a name
        attributes = dict(*args[1:], **kwargs)
        for name in attributes:
            _refuse_private(name)
        Namespace.__init__(args[0], attributes)

    def __setitem__(self, name: str, value: Any) -> None:
        _refuse_private(name)
        super().__setitem__(name, value)


def _refuse_private(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace cannot hold the underscore-prefixed name {name!r}")


def _raise_exception(message: object) -> NoReturn:
    raise RefusedByTemplate(str(message)[:MESSAGE_LIMIT])


def _strftime_now(format: str) -> str:  # noqa: A002  (templates may name the argument)
    return FIXED_NOW.strftime(format)


def _tojson(
    x: Any,
    ensure_ascii: bool = False,  # noqa: FBT001, FBT002  (templates may pass it by place)
    indent: int | str | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,  # noqa: FBT001, FBT002
) -> str:
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


@lru_cache(maxsize=2)
def environment(*, mutable: bool = False) -> SandboxedEnvironment:
    """The shared environment; with ``mutable`` a template may change lists and mappings (``messages.append``)."""
    sandbox = SandboxedEnvironment if mutable else ImmutableSandboxedEnvironment
    made = sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[_GenerationTag, loopcontrols])
    made.filters["tojson"] = _tojson
    made.globals["raise_exception"] = _raise_exception
    made.globals["strftime_now"] = _strftime_now
    made.globals["dict"] = _DictFactory()
    made.globals["namespace"] = _Namespace
    return made


def compile_template(source: str, *, mutable: bool = False) -> jinja2.Template | RenderFailure:
    """The compiled template, or why it does not compile.

    Compiling folds constants, so a hostile template can spend time and memory already here.
    """
    try:
        return environment(mutable=mutable).from_string(source)
    except Exception as error:  # noqa: BLE001  (whatever the compiler raises is the template's doing)
        return failure_of(error, compiling=True)


def render_compiled(template: jinja2.Template, context: Mapping[str, Any], *, limit: int) -> Outcome:
    """Renders piece by piece and stops after ``limit`` characters.

    ``context`` is handed to the template as it is: a mutable environment may change the lists in it.
    """
    pieces: list[str] = []
    size = 0
    try:
        for piece in template.root_render_func(template.new_context(dict(context))):
            size += len(piece)
            if size > limit:
                return RenderFailure("output", f"stopped after {limit} characters")
            pieces.append(piece)
    except Exception as error:  # noqa: BLE001  (whatever a template raises is its own doing)
        return failure_of(error)
    return Rendered("".join(pieces))


def failure_of(error: BaseException, *, compiling: bool = False) -> RenderFailure:
    """The failure that an exception from compiling or rendering stands for."""
    line = error.lineno if isinstance(error, TemplateSyntaxError) else _template_line(error.__traceback__)
    kind: FailureKind = "error"
    if isinstance(error, RefusedByTemplate):
        kind = "raised"
    elif isinstance(error, MemoryError):
        kind = "memory"
    elif isinstance(error, SecurityError):
        kind = "security"
    elif isinstance(error, UndefinedError):
        kind = "undefined"
    elif isinstance(error, TemplateSyntaxError) or (
        compiling and isinstance(error, (SyntaxError, ValueError))
    ):
        kind = "syntax"
    elif isinstance(error, TypeError):
        kind = "type"
    return RenderFailure(kind, _message_of(error, kind)[:MESSAGE_LIMIT], line)


def _message_of(error: BaseException, kind: FailureKind) -> str:
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "the template recurses too deeply"
    if isinstance(error, TemplateSyntaxError):
        return error.message or "syntax error"  # str() would add the place once more
    if isinstance(error, SyntaxError):
        return error.msg  # the place in it is one of the generated code
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  (an exception whose text cannot be made still needs a message)
        text = ""
    return f"{type(error).__name__}: {text}" if kind == "error" or not text else text


def _template_line(trace: TracebackType | None) -> int | None:
    """The line of the innermost frame that is template code."""
    line: int | None = None
    while trace is not None:
        template = trace.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, jinja2.Template):
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
