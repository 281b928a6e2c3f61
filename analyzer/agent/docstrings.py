"""What a docstring says of a function and its parameters: the Google, NumPy and Sphinx conventions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from inspect import cleandoc
from textwrap import dedent
from typing import Final, NamedTuple

_PARAMETERS: Final = frozenset(
    {"args", "arguments", "parameters", "params", "other parameters", "keyword args", "keyword arguments"}
)
_OTHERS: Final = frozenset(
    {
        "returns",
        "return",
        "yields",
        "yield",
        "raises",
        "raise",
        "example",
        "examples",
        "note",
        "notes",
        "see also",
    }
    | {"warns", "warning", "warnings", "attributes", "references", "todo"}
)
_google_item = re.compile(
    r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\s+(\S.*)\Z|\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:\Z"
).match
_numpy_item = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?\Z").match
_sphinx_item = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+):\s*(.*)\Z"
).match
_sphinx_field = re.compile(r":[a-z]+(?:\s[^:]*)?:").match


class Docstring(NamedTuple):
    """A docstring taken apart."""

    description: str
    """The text before the first section: one line a paragraph."""
    parameters: dict[str, str]
    """What is said of each parameter, on one line."""


class _Section(NamedTuple):
    title: str
    numpy: bool
    lines: list[str]


def read_docstring(text: str | None) -> Docstring:
    """Take a docstring apart; never raises, what is not understood belongs to the description."""
    prose: list[str] = []
    found: dict[str, list[str]] = {}
    for section in _sections(cleandoc(text or "").splitlines()):
        if section.title == "":
            prose += _without_fields(section.lines, found)
        elif section.title in _PARAMETERS:
            _read_parameters(section, found)
    parameters = {name: " ".join(" ".join(lines).split()) for name, lines in found.items()}
    paragraphs = "\n".join(prose).split("\n\n")
    description = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs if paragraph.strip())
    return Docstring(description, {name: said for name, said in parameters.items() if said})


def _sections(lines: list[str]) -> Iterator[_Section]:
    section = _Section("", numpy=False, lines=[])
    skip = False
    for line, below in zip(lines, [*lines[1:], ""], strict=False):
        if skip:
            skip = False
            continue
        title = line.strip().lower()
        ruled = len(below.strip()) > 2 and not below.strip().strip("-")  # noqa: PLR2004  (a rule is no dash)
        known = _PARAMETERS | _OTHERS
        if not line[:1].isspace() and (
            title in known if ruled else title[-1:] == ":" and title[:-1] in known
        ):
            yield section
            section, skip = _Section(title.rstrip(":"), ruled, []), ruled
        else:
            section.lines.append(line)
    yield section


def _read_parameters(section: _Section, found: dict[str, list[str]]) -> None:
    names: list[str] = []
    for line in dedent("\n".join(section.lines)).splitlines():
        item = None if line[:1].isspace() else (_numpy_item if section.numpy else _google_item)(line)
        if item is None:
            for name in names:
                found[name].append(line)
        elif section.numpy:
            names = [name.strip().lstrip("*") for name in item[1].split(",")]
            found.update({name: [] for name in names})
        else:
            names = [item[1] or item[3]]
            found[names[0]] = [item[2] or ""]


def _without_fields(lines: Iterable[str], found: dict[str, list[str]]) -> Iterator[str]:
    """The lines that are no Sphinx field; fields of parameters are put into `found`."""
    into: list[str] | None = None
    for line in lines:
        item = _sphinx_item(line)
        if item is not None:
            into = found[item[1]] = [item[2]]
        elif _sphinx_field(line) is not None:
            into = []
        elif into is not None and line[:1].isspace():
            into.append(line)
        else:
            into = None
            yield line
