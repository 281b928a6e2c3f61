"""Which engine reads a target, whether it is installed, and how it loads a payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, Protocol

from analyzer.engines.llama_cpp_matcher import LlamaCppMatcher
from analyzer.engines.llguidance_matcher import LlguidanceMatcher
from analyzer.engines.transformers_parser import TransformersParser
from analyzer.engines.xgrammar_matcher import XgrammarMatcher
from analyzer.errors import ExportError
from analyzer.export.result import Options


class Matcher(Protocol):
    """A grammar that an engine has loaded."""

    def accepts(self, text: str) -> bool:
        """Whether the text is a whole output."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What reads a target."""

    name: str
    """The name that people know."""
    packages: tuple[str, ...]
    """The distributions that have to be installed."""
    load: Callable[[Any, Options], Any]
    """Load a payload: a `Matcher`, the parser of a response template, or the validator of a schema."""

    @property
    def missing(self) -> str | None:
        """The first of its packages that is not installed."""
        return next((package for package in self.packages if installed(package) is None), None)

    @property
    def label(self) -> str:
        """The name with the version of what is installed."""
        found = f"{self.packages[0]} {installed(self.packages[0])}"
        return found if self.packages[0] == self.name else f"{self.name} ({found})"


def installed(package: str) -> str | None:
    """The version of a distribution, None when it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _schema(payload: Mapping[str, Any], _: Options) -> Any:
    """A validator of replies; what is no schema constrains nothing and gets one that allows all."""
    import jsonschema  # noqa: PLC0415  (a second of import time)

    schema = payload["json_schema"]["schema"] if "json_schema" in payload else True
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def _used(grammar: str, tokens: Mapping[str, int]) -> dict[str, int]:
    """The special tokens that a grammar names by their ids."""
    return {token: number for token, number in tokens.items() if f"<[{number}]>" in grammar}


_XGRAMMAR: Final = Engine("xgrammar", ("xgrammar", "torch"), lambda tag, _: XgrammarMatcher.of_tag(tag))
_LLGUIDANCE: Final = Engine(
    "llguidance",
    ("llguidance",),
    lambda grammar, options: LlguidanceMatcher(grammar, _used(grammar, options.tokens)),
)
_LEGACY: Final = Engine("llguidance", ("llguidance",), lambda tag, _: LlguidanceMatcher.of_legacy_tag(tag))
_LLAMA_CPP: Final = Engine("llama.cpp", ("xllamacpp", "gguf"), lambda fields, _: LlamaCppMatcher(fields))

ENGINES: Final[Mapping[str, Engine]] = {
    "response-template": Engine(
        "transformers", ("transformers",), lambda template, _: TransformersParser(template)
    ),
    "structural-tag": _XGRAMMAR,
    "gbnf": _LLAMA_CPP,
    "lark": _LLGUIDANCE,
    "json-schema": Engine("jsonschema", ("jsonschema",), _schema),
}
"""The engine of each target."""


def engine_of(target: str, options: Options) -> Engine | None:
    """The engine that reads a target in the form asked for; None for what only a whole server reads."""
    return _LEGACY if target == "structural-tag" and options.legacy else ENGINES.get(target)


def load(target: str, payload: Any, options: Options | None = None) -> Any:
    """Load a payload with its engine; `ExportError` with the engine's own words when it does not take it."""
    asked = options if options is not None else Options()
    engine = engine_of(target, asked)
    if engine is None:
        raise ExportError("only the server itself loads this", target=target)
    try:
        return engine.load(payload, asked)
    except ImportError:
        raise
    except Exception as error:  # each engine has errors of its own
        found = " ".join(str(error).split())[:400]
        raise ExportError(
            f"{engine.label} does not load the export: {found}",
            target=target,
            hint="Simplify the tools' schemas, or export without the check.",
        ) from error
