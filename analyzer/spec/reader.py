"""Reading YAML: plain data with the line of every key and item, and nothing that a spec does not need.

Less is read here than YAML allows, so that a file means one thing only:

* a key stands once in its mapping, and every key is text (`null: json` has the key "null");
* `true`, `false`, `null`, decimal integers and floats are the only typed scalars; `no`, `on`, `2024-01-01` and `007` are text;
* no anchors and aliases, no tags, one document, a limited size and depth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from analyzer.errors import SpecError, UsageError

MAX_CHARACTERS: Final = 1_000_000
"""The longest document that is read."""

MAX_DEPTH: Final = 64
"""The deepest nesting that is read."""

Path_: TypeAlias = tuple[str | int, ...]

_INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?\Z")
_SPECIAL: Final[dict[str, bool | float | None]] = {
    "true": True,
    "false": False,
    "null": None,
    "": None,
    ".inf": float("inf"),
    "-.inf": float("-inf"),
    ".nan": float("nan"),
}
_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]|\\U0000[dD][89a-fA-F]")
_STANDARD_TAG: Final = "tag:yaml.org,2002:"
_IMPLICIT_TAGS: Final = frozenset({"str", "int", "float", "bool", "null", "timestamp", "merge", "value"})
"""What the loader takes plain text for; none of it counts here, the text is looked at anew."""

_FastLoader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """One YAML document as plain data, with the line of each key and item by its path."""

    data: Any
    file: str = ""
    lines: dict[Path_, int] = field(default_factory=dict)

    def line(self, path: Path_) -> int | None:
        """Return the line of the node at `path`, or of the nearest one around it."""
        for length in range(len(path), -1, -1):
            if (line := self.lines.get(path[:length])) is not None:
                return line
        return None


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file.

    Raises:
        UsageError: the file cannot be read.
        SpecError: it is too large, or no text in UTF-8.
    """
    try:
        size = path.stat().st_size
        if size > 4 * MAX_CHARACTERS:
            raise SpecError(
                f"the file has {size:,} bytes; at most {4 * MAX_CHARACTERS:,} are read", file=str(path)
            )
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UsageError(f"{path}: the file cannot be read: {reason}") from error
    return decode(data, file=str(path))


def decode(data: bytes, *, file: str = "") -> str:
    """Return the text that `data` holds in UTF-8; SpecError says what is wrong with anything else."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"this is not a text file in UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}"
        raise SpecError(found, file=file, line=line) from error
    if "\0" in text:
        raise SpecError("this is a binary file: it holds NUL bytes", file=file)
    return text


def read_document(text: str, *, file: str = "") -> Document:
    """Return the one document of `text`."""
    if len(text) > MAX_CHARACTERS:
        found = f"the document has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read"
        raise SpecError(found, file=file)
    if unprintable := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, unprintable.start()) + 1
        code = ord(unprintable.group())
        found = f"the character U+{code:04X} may not stand in YAML as it is"
        raise SpecError(found, file=file, line=line, hint=f'Write it in double quotes as "\\u{code:04X}".')
    document = Document(data=None, file=file)
    return Document(_Builder(document).build(_compose(text, file)), file, document.lines)


def _compose(text: str, file: str) -> yaml.Node:
    # libyaml refuses escaped surrogates, which a literal may hold; the loader written in Python takes them.
    loader_class = yaml.SafeLoader if _SURROGATE_ESCAPE.search(text) else _FastLoader
    loader = loader_class(text)
    try:
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        found = ", ".join(part for part in (error.context, error.problem) if part)
        line = mark.line + 1 if mark else None
        raise SpecError(f"this is not valid YAML: {found}", file=file, line=line) from error
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        raise SpecError(f"this is not valid YAML: {type(error).__name__}: {error}", file=file) from error
    finally:
        loader.dispose()
    if node is None:
        raise SpecError("the document is empty", file=file)
    assert isinstance(node, yaml.Node)  # noqa: S101 - the loader has no types
    return node


class _Builder:
    """Turns nodes into data; a node met twice is an alias."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._file = document.file
        self._lines = document.lines
        self._seen: set[int] = set()

    def build(self, node: yaml.Node, path: Path_ = ()) -> Any:
        if id(node) in self._seen:
            found = "aliases (`*name`) are not read: write the value out"
            raise SpecError(found, file=self._file, line=self._document.line(path), path=spell(path))
        self._seen.add(id(node))
        if len(path) > MAX_DEPTH:
            raise self._error(f"the document is nested more than {MAX_DEPTH} levels deep", node, path[:3])
        self._lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path)
        if isinstance(node, yaml.SequenceNode):
            self._check_tag(node, path, "seq")
            return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
        assert isinstance(node, yaml.MappingNode)  # noqa: S101 - there are no other kinds of nodes
        self._check_tag(node, path, "map")
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = self._key(key_node, path)
            place = (*path, key)
            if key in data:
                first = self._lines[place]
                raise self._error(f"the key `{key}` stands twice, first in line {first}", key_node, path)
            self._lines[place] = key_node.start_mark.line + 1
            data[key] = self.build(value_node, place)
        return data

    def _key(self, node: yaml.Node, path: Path_) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._error("a key is plain text, not a list or a mapping", node, path)
        if id(node) in self._seen:
            raise self._error("aliases (`*name`) are not read: write the key out", node, path)
        self._seen.add(id(node))
        return str(node.value)

    def _scalar(self, node: yaml.ScalarNode, path: Path_) -> str | bool | int | float | None:
        text = str(node.value)
        if node.style:  # plain text has none, or "" from libyaml
            self._check_tag(node, path, "str")
            return text
        if node.tag.removeprefix(_STANDARD_TAG) not in _IMPLICIT_TAGS:
            self._check_tag(node, path, "str")
        if text in _SPECIAL:
            return _SPECIAL[text]
        try:
            if _INTEGER.match(text):
                return int(text)
            if _FLOAT.match(text):
                return float(text)
        except ValueError as error:  # more digits than Python converts
            raise self._error(f"the number has too many digits ({len(text):,})", node, path) from error
        return text

    def _check_tag(self, node: yaml.Node, path: Path_, expected: str) -> None:
        if node.tag != _STANDARD_TAG + expected:
            raise self._error(f"tags (`{node.tag}`) are not read", node, path)

    def _error(self, found: str, node: yaml.Node, path: Path_) -> SpecError:
        return SpecError(found, file=self._file, line=node.start_mark.line + 1, path=spell(path))


def spell(path: Path_) -> str:
    """Return a path as it is written in messages: `turn.segments[2].open`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(".")
