"""Turning pydantic's validation errors into one SpecError that a person can act on.

Pydantic names the branch of every union it tried; what is shown here is the path in the file, its line, what was found
there and what may stand there, with the nearest spelling for a key or word that is unknown.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from analyzer.errors import SpecError
from analyzer.spec.reader import Document, Path_, spell
from analyzer.spec.scalars import quoted

SHOWN: Final = 5
"""How many problems of a file one message tells."""

_LONGEST_VALUE: Final = 40


def spec_error(error: ValidationError, document: Document, model: type[BaseModel]) -> SpecError:
    """Return the SpecError for the problems of `document` as `model`."""
    problems = _problems(error, document, model)
    sentences = [problem.sentence() for problem in problems]
    first = problems[0]
    more = ""
    if len(problems) > 1:
        others = [
            f"line {problem.line}, at {problem.path or 'the document'}: {sentence}"
            for problem, sentence in zip(problems[1:SHOWN], sentences[1:SHOWN], strict=True)
        ]
        rest = len(problems) - SHOWN
        more = f"Also {'; '.join(others)}" + (f"; and {rest} more problems." if rest > 0 else ".")
    return SpecError(sentences[0], file=document.file, line=first.line, path=first.path, hint=more)


@dataclass
class _Problem:
    """All of pydantic's errors at one place of the file."""

    path: str
    line: int | None
    where: tuple[type[BaseModel], ...]
    errors: list[ErrorDetails] = field(default_factory=list)

    def sentence(self) -> str:
        details = self.errors[0]
        if len(self.errors) > 1:
            return f"found {_found(details['input'])}, expected {_either(list(map(_expected, self.errors)))}"
        describe = _SENTENCES.get(details["type"])
        return (
            describe(details, self.where)
            if describe
            else f"found {_found(details['input'])}, expected {_expected(details)}"
        )


def _problems(error: ValidationError, document: Document, model: type[BaseModel]) -> list[_Problem]:
    problems: dict[str, _Problem] = {}
    for details in error.errors(include_url=False):
        path, models = _locate(details["loc"], document.data, model)
        problem = problems.setdefault(spell(path), _Problem(spell(path), document.line(path), models))
        problem.errors.append(details)
    for place, problem in problems.items():
        # A mapping is meant to be a slot and a text is none: what the other branch says of it is noise.
        if any(other.startswith((f"{place}.", f"{place}[")) for other in problems):
            problem.errors = [details for details in problem.errors if not _is_branch(details)]
        if isinstance(problem.errors[0]["input"] if problem.errors else None, dict):
            kept = [
                details
                for details in problem.errors
                if details["type"] not in {"string_type", "literal_error"}
            ]
            problem.errors = kept or problem.errors
    left = [problem for problem in problems.values() if problem.errors]
    return sorted(left or problems.values(), key=lambda problem: problem.line or 0)


def _is_branch(details: ErrorDetails) -> bool:
    return details["type"].endswith(("_type", "too_short"))


def _locate(
    location: tuple[int | str, ...], data: Any, model: type[BaseModel]
) -> tuple[Path_, tuple[type[BaseModel], ...]]:
    """Return the path in the file for a location of pydantic's, and the models that may stand there.

    A location also names the tag of the union's member (`segments`, 2, `calls`, `open`), and of an untagged union the
    member's type; neither is a key of the file.
    """
    path: Path_ = ()
    models: tuple[type[BaseModel], ...] = (model,)
    narrowed = True
    for position, key in enumerate(location):
        named = tuple(member for member in models if _tag(member) == key)
        if not narrowed and named:
            models, narrowed = named, True
            continue
        is_item = isinstance(data, list) and isinstance(key, int) and key < len(data)
        is_key = isinstance(data, dict) and key in data
        if not is_item and not is_key and position != len(location) - 1:
            continue
        fields = [member.model_fields[str(key)] for member in models if key in member.model_fields]
        if not is_item and not is_key and not fields:
            continue  # the label of a branch, such as `str`
        path += (key,)
        data = data[key] if is_item or is_key else None
        if fields:
            models = tuple(dict.fromkeys(found for item in fields for found in _models(item.annotation)))
        elif is_key and not isinstance(data, (dict, list)) and position == len(location) - 1:
            continue  # an unknown key: its siblings are what may stand there
        narrowed = False
    return path, models


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _tag(model: type[BaseModel]) -> Any:
    for name in ("kind", "slot"):
        if name in model.model_fields and get_args(model.model_fields[name].annotation):
            return model.model_fields[name].default
    return None


# --------------------------------------------------------------------------------------------------------- sentences


def _unknown_key(details: ErrorDetails, models: tuple[type[BaseModel], ...]) -> str:
    key = str(details["loc"][-1])
    allowed = list(dict.fromkeys(name for model in models for name in model.model_fields))
    return f"the key `{key}` is unknown{_near(key, allowed)}" + (
        f"; allowed are {', '.join(allowed)}" if allowed else ""
    )


def _missing(details: ErrorDetails, _models: tuple[type[BaseModel], ...]) -> str:
    return f"the key `{details['loc'][-1]}` is missing"


def _unknown_tag(details: ErrorDetails, _models: tuple[type[BaseModel], ...]) -> str:
    context = details["ctx"]
    name, tag = str(context["discriminator"]).strip("'"), str(context["tag"])
    allowed = [word.strip().strip("'") for word in str(context["expected_tags"]).split(",")]
    return f"{name} `{tag}` is unknown{_near(tag, allowed)}; allowed are {', '.join(allowed)}"


def _no_tag(details: ErrorDetails, models: tuple[type[BaseModel], ...]) -> str:
    name = str(details["ctx"]["discriminator"]).strip("'")
    keys = list(details["input"]) if isinstance(details["input"], Mapping) else []
    near = next((f" (is `{key}` meant?)" for key in keys if difflib.get_close_matches(str(key), [name])), "")
    allowed = ", ".join(str(_tag(model)) for model in models)
    return f"the key `{name}` is missing{near}" + (f"; it is one of {allowed}" if allowed else "")


def _wrong_word(details: ErrorDetails, _models: tuple[type[BaseModel], ...]) -> str:
    allowed = str(details["ctx"]["expected"]).replace(" or ", ", ").replace("'", "").split(", ")
    return f"found {_found(details['input'])}, expected {_either(allowed)}{_near(str(details['input']), allowed)}"


def _rule(details: ErrorDetails, _models: tuple[type[BaseModel], ...]) -> str:
    return details["msg"].removeprefix("Value error, ")


def _too_short(_details: ErrorDetails, _models: tuple[type[BaseModel], ...]) -> str:
    return "the list is empty"


_SENTENCES: Final = {
    "too_short": _too_short,
    "extra_forbidden": _unknown_key,
    "missing": _missing,
    "union_tag_invalid": _unknown_tag,
    "union_tag_not_found": _no_tag,
    "literal_error": _wrong_word,
    "value_error": _rule,
}

_EXPECTED: Final = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "an integer",
    "int_parsing": "an integer",
    "float_type": "a number",
    "float_parsing": "a number",
    "none_required": "null",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "string_unicode": "text without lone surrogates",
    "string_too_short": "text that is not empty",
}


def _expected(details: ErrorDetails) -> str:
    if details["type"] == "literal_error":
        return str(details["ctx"]["expected"]).replace("'", "")
    return _EXPECTED.get(details["type"], details["msg"])


def _found(value: Any) -> str:
    if isinstance(value, str):
        text = quoted(value[:_LONGEST_VALUE])
        return text + "..." if len(value) > _LONGEST_VALUE else text
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, Sequence):
        return "a list"
    return (
        {True: "true", False: "false", None: "null"}.get(value, str(value))
        if value is None or isinstance(value, bool)
        else str(value)
    )


def _near(word: str, allowed: Sequence[str]) -> str:
    matches = difflib.get_close_matches(word, allowed, n=1)
    return f" (is `{matches[0]}` meant?)" if matches and matches[0] != word else ""


def _either(words: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(words))
    return distinct[0] if len(distinct) == 1 else f"{', '.join(distinct[:-1])} or {distinct[-1]}"
