"""A call described by an example in tags or in Python's way of calling.

    <tool_call>function_name                      [function_name1(key1=value1, ...), function_name2(key=value)]
    <arg_key>key</arg_key>
    <arg_value>value</arg_value>
    </tool_call>

In tags the arguments are items, each a key and a value: the key an attribute of the value's tag, or a tag of its own before it.
What holds the items and, before them, one more placeholder (an attribute, a text or a tag), is the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from analyzer.infer.described_frame import MASK
from analyzer.spec.model import SequenceLayout
from analyzer.spec.parts import (
    ArgumentsSlot,
    Codecs,
    ItemPart,
    JsonCodec,
    KeySlot,
    NameSlot,
    Part,
    PythonCodec,
    RawCodec,
    ValueSlot,
)

_TAG = re.compile(r"<(/?)([^\s<>/=\"'\x00]{1,80})((?:=|\s)[^<>\n\x00]{0,120})?>")
_ATTRIBUTE = re.compile(r"""(?:\s+[\w-]+\s*)?=\s*(["']?)([^"'<>=]+)\1\Z""")
_PLACEHOLDER = re.compile(r"[^\n\x00]{1,120}\Z")
_ELLIPSIS = re.compile(r"\s*(?:\.\.\.|…)(?=\s|<)")
_MORE = re.compile(r"\s*(?:\.\.\.|…)\s*\Z")
_PYTHON = re.compile(r"(?<![\w.])([^\W\d][\w.]*)\(\s*([^\W\d]\w*)\s*=\s*([^()\[\]\x00]{1,200})\)")
_PYTHON_NEXT = re.compile(r"(\s*,\s*)([^\W\d][\w.]*)\([^()\x00]{0,200}\)")
_PYTHON_END = re.compile(r"(?:\s*,?\s*(?:\.\.\.|…)|\s*,)?\s*\]")
_NAME_OF_KEY = ("key", "name")
_MOST_TAGS = 1_000


@dataclass(frozen=True, slots=True)
class SequenceExample:
    """An example of a call as literals and slots, and where it stands."""

    start: int
    end: int
    layout: SequenceLayout
    section_open: str = ""
    section_close: str = ""
    separator: str = "\n"
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Node:
    """A tag with its closer."""

    name: str
    attributes: str
    start: int
    inner: int
    close: int = 0
    end: int = 0
    children: list[_Node] = field(default_factory=list)

    def attribute(self) -> tuple[int, int] | None:
        """Where the value of the only attribute stands in the text."""
        match = _ATTRIBUTE.match(self.attributes)
        if match is None:
            return None
        offset = self.inner - 1 - len(self.attributes)
        return offset + match.start(2), offset + match.end(2)


def tag_examples(text: str) -> Iterator[SequenceExample]:
    """The calls in tags that `text` shows."""
    for root in _trees(text):
        yield from _calls_in(text, root, ())


def _trees(text: str) -> list[_Node]:
    """The tags that close, as trees; what does not close is text."""
    roots: list[_Node] = []
    stack: list[_Node] = []
    for tag in islice(_TAG.finditer(text), _MOST_TAGS):
        closing, name, attributes = tag.group(1), tag.group(2), tag.group(3) or ""
        if not closing:
            stack.append(_Node(name, attributes, tag.start(), tag.end()))
            continue
        at = next((number for number in range(len(stack) - 1, -1, -1) if stack[number].name == name), None)
        if at is None:
            continue
        node = stack[at]
        node.close, node.end = tag.start(), tag.end()
        del stack[at:]
        (stack[-1].children if stack else roots).append(node)
    return roots + [child for left in stack for child in left.children]


def _calls_in(text: str, node: _Node, outer: tuple[_Node, ...]) -> Iterator[SequenceExample]:
    found = _call(text, node, outer) if MASK not in text[node.start : node.end] else None
    if found is not None:
        yield found
        return
    for child in node.children:
        yield from _calls_in(text, child, (*outer, node))


def _call(text: str, node: _Node, outer: tuple[_Node, ...]) -> SequenceExample | None:
    """Read a node as a call; None when it is none."""
    children = list(node.children)
    name = node.attribute()
    if name is None:
        name = _leading_text(text, node)
    if name is None and len(children) > 1 and _leaf(text, children[0]) and not children[0].attributes:
        name = _trimmed(text, children[0].inner, children[0].close)
        children = children[1:]
    if name is None or not children:
        return None
    slot = _arguments(text, children)
    if slot is None:
        return None
    arguments, first, last = slot
    parts: list[Part] = [
        text[node.start : name[0]],
        NameSlot(),
        text[name[1] : first],
        arguments,
        _ELLIPSIS.sub("", text[last : node.end]),
    ]
    found = SequenceExample(node.start, node.end, SequenceLayout(parts=tuple(part for part in parts if part)))
    return _in_section(text, found, outer)


def _in_section(text: str, found: SequenceExample, outer: tuple[_Node, ...]) -> SequenceExample:
    """What holds nothing but calls is their section."""
    if not outer:
        return found
    holder = outer[-1]
    before, after = text[holder.inner : found.start], text[found.end : holder.close]
    if before.strip() or holder.attributes or not (_MORE.match(after) or not after.strip() or "<" in after):
        return found
    single = len(holder.children) == 1 and not _MORE.match(after)
    gap = text[holder.children[0].end : holder.children[1].start] if len(holder.children) > 1 else "\n"
    close = after if not after.strip() else after[len(after.rstrip()) :]
    return SequenceExample(
        holder.start,
        holder.end,
        found.layout,
        section_open=text[holder.start : found.start],
        section_close=close + text[holder.close : holder.end],
        separator=gap if not gap.strip() else "\n",
        notes=("whether the outer markers frame each call or all of them is not said",) if single else (),
    )


def _leaf(text: str, node: _Node) -> bool:
    return not node.children and bool(text[node.inner : node.close].strip())


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip()))


def _leading_text(text: str, node: _Node) -> tuple[int, int] | None:
    """The placeholder between a tag and its first child."""
    if not node.children:
        return None
    start, end = _trimmed(text, node.inner, node.children[0].start)
    return (start, end) if start < end and _PLACEHOLDER.match(text[start:end]) else None


def _arguments(text: str, nodes: Sequence[_Node]) -> tuple[ArgumentsSlot, int, int] | None:
    """The arguments slot that the nodes spell, and where it begins and ends."""
    first = nodes[0]
    if not _leaf(text, first):
        return None
    attribute = first.attribute()
    value = _trimmed(text, first.inner, first.close)
    parts: list[ItemPart]
    if attribute is not None:
        parts = [text[first.start : attribute[0]], KeySlot(), text[attribute[1] : value[0]], ValueSlot()]
        return _run(text, [*parts, text[value[1] : first.end]], nodes, 1)
    if len(nodes) > 1 and _leaf(text, nodes[1]) and nodes[1].name != first.name and not nodes[1].attributes:
        key, value = value, _trimmed(text, nodes[1].inner, nodes[1].close)
        named = any(word in (text[key[0] : key[1]] + first.name).lower() for word in _NAME_OF_KEY)
        if not named or text[value[0]] == "{":  # an object is no value of one argument
            return None
        parts = [text[first.start : key[0]], KeySlot(), text[key[1] : value[0]], ValueSlot()]
        return _run(text, [*parts, text[value[1] : nodes[1].end]], nodes, 2)
    return _one_value(text, nodes, value)


def _one_value(
    text: str, nodes: Sequence[_Node], value: tuple[int, int]
) -> tuple[ArgumentsSlot, int, int] | None:
    """The arguments as one JSON object between tags."""
    inner = text[value[0] : value[1]]
    if len(nodes) != 1 or not (inner.startswith("{") or "json" in inner.lower()):
        return None
    return ArgumentsSlot(codec=JsonCodec()), *value


def _run(
    text: str, item: Sequence[ItemPart], nodes: Sequence[_Node], used: int
) -> tuple[ArgumentsSlot, int, int]:
    """The slot of a run of items, the first of which is made of the first `used` nodes."""
    end = nodes[used - 1].end
    following = next((node.start for node in nodes[used:] if node.name == nodes[0].name), None)
    separator = text[end:following] if following is not None else text[end : end + 1]
    if separator.strip() or following is None:
        separator = "\n" if "\n" in separator else ""
    parts = tuple(part for part in item if part)
    slot = ArgumentsSlot(item=parts, separator=separator, codecs=Codecs(string=RawCodec()))
    return slot, nodes[0].start, nodes[-1].end


def python_examples(text: str) -> Iterator[SequenceExample]:
    """The lists of Python calls that `text` shows: `[name(key=value, ...), ...]`."""
    for match in _PYTHON.finditer(text):
        before = text[: match.start()].rstrip()
        if not before.endswith("["):
            continue
        following = _PYTHON_NEXT.match(text, match.end())
        if following is not None and following.group(2) == match.group(1):
            continue  # the same word in each call is no name
        at = following.end() if following is not None else match.end()
        closing = _PYTHON_END.match(text, at)
        if closing is None:
            continue
        python = PythonCodec()
        codecs = Codecs(string=python, boolean=python, null=python, array=python, object=python)
        slot = ArgumentsSlot(item=(KeySlot(), "=", ValueSlot()), separator=", ", codecs=codecs)
        yield SequenceExample(
            len(before) - 1,
            closing.end(),
            SequenceLayout(parts=(NameSlot(), "(", slot, ")")),
            section_open="[",
            section_close="]",
            separator=", ",
            notes=("how texts are quoted is not said; read as Python literals",),
        )
