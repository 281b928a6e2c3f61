"""What a template's syntax tree says, without rendering anything.

Pure syntax: which variables a template wants, which names it reads from them, which strings it writes and compares.
Nothing here knows what a name means; probing finds that out.  Nothing of the template is evaluated either, so this
is safe on hostile templates (Jinja's own analysis of variables would fold constants).

A *path* is written as ``messages[].tool_calls[].function.name``: ``[]`` is any item of a list or value of a mapping.
Loop variables, plain assignments and macro arguments are followed back to where their value came from, whatever
their scope; filters and methods are passed through.  So a path may be one that no render takes, but a name that is
read by its literal spelling is not missed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import jinja2
from jinja2 import nodes

from analyzer.errors import TemplateError
from analyzer.render.environment import environment
from analyzer.render.outcome import STANDARD_VARIABLES

Scalar: TypeAlias = str | int | float | bool | None

PATHS_KEPT: Final = 64
CALLS_FOLLOWED: Final = 64
_ITEM: Final = "[]"
_NAME: Final = re.compile(r"[^\W\d][\w-]*\Z")
_EQUAL_TESTS: Final = frozenset({"equalto", "eq", "==", "ne", "!="})
_ITEM_FILTERS: Final = frozenset({"first", "last", "random", "min", "max"})
_ATTRIBUTE_FILTERS: Final = frozenset({"map", "selectattr", "rejectattr", "groupby", "sum", "sort", "unique"})


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """What a template's source says of itself; each tuple in order of first appearance, without repetition.

    ``variables``: what the template takes from outside, the standard variables included: what it never sets itself, or
    asks whether it is set.  ``inputs``: those of them that are no standard variables.  ``switches``: the inputs that are tested for truth.  ``literals``: text and string constants.  ``names``:
    attribute and item names that are read.  ``reads``: the same as paths.  ``compared``: the strings that a path is
    compared with.  ``defaults``: the constants that a variable gets when it is not set.
    """

    variables: tuple[str, ...]
    inputs: tuple[str, ...]
    switches: tuple[str, ...]
    literals: tuple[str, ...]
    names: tuple[str, ...]
    reads: tuple[str, ...]
    compared: Mapping[str, tuple[str, ...]]
    defaults: Mapping[str, tuple[Scalar, ...]]

    def fields(self, path: str) -> tuple[str, ...]:
        """The names read directly from a path: ``fields("messages[]")`` might be ``("role", "content")``."""
        under = [read[len(path) + 1 :] for read in self.reads if read.startswith(f"{path}.")]
        return _distinct(re.split(r"\.|\[\]", rest, maxsplit=1)[0] for rest in under)


@lru_cache(maxsize=16)
def template_facts(source: str) -> TemplateFacts:
    """The facts of a template; raises `TemplateError` when its syntax is wrong.

    Those of the last few templates are kept, since several stages ask for them.
    """
    try:
        tree = environment().parse(source)
        return _Reader(tree).facts()
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(error.message or "The syntax is wrong", line=error.lineno) from None
    except RecursionError:
        raise TemplateError("The template is nested too deeply to be read") from None
    except ValueError as error:  # a number that Python refuses to read
        raise TemplateError(f"A constant cannot be read: {error}") from None


class _Reader:
    """Walks one tree.  ``origins`` says which expressions a local name may stand for."""

    def __init__(self, tree: nodes.Template) -> None:
        self._tree = tree
        self._all = list(_preorder(tree))
        self._methods = {id(node.node) for node in self._all if isinstance(node, nodes.Call)}
        self._calls: dict[str, list[nodes.Call]] = {}
        for node in self._all:
            if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
                self._calls.setdefault(node.node.name, []).append(node)
        self._origins: dict[str, list[tuple[nodes.Node, str]]] = {}
        self._known: dict[str, tuple[str, ...]] = {}
        for node in self._all:
            self._note_origins(node)

    def facts(self) -> TemplateFacts:
        literals = _distinct(text for node in self._all if (text := _text_of(node)) is not None)
        reads = [(name, path) for node in self._all for name, path in self._reads_of(node)]
        compared = [pair for node in self._all for pair in self._comparisons_of(node)]
        tested = [
            name for node in self._all for test in _conditions_of(node) for name in self._truths_of(test)
        ]
        defaults = [pair for node in self._all for pair in self._defaults_of(node)]
        wanted = _wanted(self._all)
        order = _distinct(node.name for node in self._all if isinstance(node, nodes.Name))
        variables = tuple(name for name in order if name in wanted)
        inputs = tuple(name for name in variables if name not in STANDARD_VARIABLES)
        return TemplateFacts(
            variables=variables,
            inputs=inputs,
            switches=tuple(name for name in inputs if name in tested),
            literals=literals,
            names=_distinct(name for name, _ in reads),
            reads=_distinct(path for _, path in reads),
            compared=_grouped(compared),
            defaults=_grouped((name, value) for name, value in defaults if name in inputs),
        )

    def _note_origins(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.For):
            targets = node.target.items if isinstance(node.target, nodes.Tuple) else [node.target]
            if isinstance(targets[-1], nodes.Name):  # the value of a pair
                self._note(targets[-1].name, node.iter, _ITEM)
        elif isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Name):
            self._note(node.target.name, node.node, "")
        elif isinstance(node, nodes.Macro):
            for call in self._calls.get(node.name, ())[:CALLS_FOLLOWED]:
                for parameter, value in zip(node.args, call.args, strict=False):
                    self._note(parameter.name, value, "")
                for keyword in call.kwargs:
                    self._note(keyword.key, keyword.value, "")

    def _note(self, name: str, value: nodes.Node, suffix: str) -> None:
        self._origins.setdefault(name, []).append((value, suffix))

    def _paths(self, node: nodes.Node) -> tuple[str, ...]:
        """The paths that an expression may stand for; empty when it is none."""
        match node:
            case nodes.Name():
                return self._paths_of_name(node.name)
            case nodes.Getattr():
                return self._below(node.node, f".{node.attr}")
            case nodes.Getitem(arg=nodes.Const(value=str() as key)):
                return self._below(node.node, f".{key}")
            case nodes.Getitem(arg=nodes.Slice()):
                return self._paths(node.node)
            case nodes.Getitem():
                return self._below(node.node, _ITEM)
            case nodes.Call(node=nodes.Getattr() as method):
                suffix = ""
                match method.attr, node.args:
                    case "get", [nodes.Const(value=str() as key), *_]:
                        suffix = f".{key}"
                return self._below(method.node, suffix)
            case nodes.Filter(name="attr", args=[nodes.Const(value=str() as key)]) if node.node is not None:
                return self._below(node.node, f".{key}")
            case nodes.Filter() if node.node is not None:
                return self._below(node.node, _ITEM if node.name in _ITEM_FILTERS else "")
            case nodes.CondExpr():
                branches = [node.expr1, *([node.expr2] if node.expr2 is not None else [])]
                return _distinct(path for branch in branches for path in self._paths(branch))
            case nodes.Or():
                return _distinct([*self._paths(node.left), *self._paths(node.right)])
        return ()

    def _paths_of_name(self, name: str) -> tuple[str, ...]:
        if name not in self._known:
            self._known[
                name
            ] = ()  # what a name is made of itself (``content = content.strip()``) adds nothing
            origins = self._origins.get(name, ())
            found = [path + suffix for value, suffix in origins for path in self._paths(value)]
            self._known[name] = _distinct(found)[:PATHS_KEPT] or (name,)
        return self._known[name]

    def _below(self, node: nodes.Node, suffix: str) -> tuple[str, ...]:
        return tuple(path + suffix for path in self._paths(node))

    def _reads_of(self, node: nodes.Node) -> Iterator[tuple[str, str]]:
        """Name and path of what a node reads."""
        match node:
            case nodes.Getattr() if id(node) not in self._methods:
                yield from self._named(node.attr, node)
            case nodes.Getitem(arg=nodes.Const(value=str() as key)):
                yield from self._named(key, node)
            case nodes.Call(node=nodes.Getattr(attr="get"), args=[nodes.Const(value=str() as key), *_]):
                yield from self._named(key, node)
            case nodes.Filter(name="attr", args=[nodes.Const(value=str() as key)]):
                yield from self._named(key, node)
            case nodes.Filter() if node.name in _ATTRIBUTE_FILTERS and node.node is not None:
                for key in _attributes_named(node):
                    for path in self._paths(node.node) or ("",):
                        yield key, f"{path}{_ITEM}.{key}"
            case nodes.Compare(
                expr=nodes.Const(value=str() as key), ops=[nodes.Operand(op="in" | "notin") as side]
            ):
                if _NAME.match(key) and not isinstance(side.expr, (nodes.List, nodes.Tuple)):
                    for path in self._paths(side.expr):
                        yield key, f"{path}.{key}"

    def _named(self, name: str, node: nodes.Node) -> Iterator[tuple[str, str]]:
        for path in self._paths(node) or (f"?.{name}",):
            yield name, path

    def _comparisons_of(self, node: nodes.Node) -> Iterator[tuple[str, str]]:
        """Path and string of what a node compares."""
        match node:
            case nodes.Compare():
                sides = [node.expr, *(operand.expr for operand in node.ops)]
                values = [text for side in sides for text in _strings_of(side)]
                if all(operand.op in ("eq", "ne", "in", "notin") for operand in node.ops):
                    yield from (
                        (path, text) for side in sides for path in self._paths(side) for text in values
                    )
            case nodes.Test(name=test, args=[nodes.Const(value=str() as text)]) if test in _EQUAL_TESTS:
                yield from ((path, text) for path in self._paths(node.node))
            case nodes.Filter(
                args=[
                    nodes.Const(value=str() as key),
                    nodes.Const(value=test),
                    nodes.Const(value=str() as text),
                ]
            ):
                if node.name in _ATTRIBUTE_FILTERS and test in _EQUAL_TESTS and node.node is not None:
                    yield from ((f"{path}{_ITEM}.{key}", text) for path in self._paths(node.node))

    def _truths_of(self, test: nodes.Node | None) -> Iterator[str]:
        """The paths whose truth a condition asks for."""
        match test:
            case nodes.Not():
                yield from self._truths_of(test.node)
            case nodes.And() | nodes.Or():
                yield from self._truths_of(test.left)
                yield from self._truths_of(test.right)
            case nodes.Test(name="true" | "false"):
                yield from self._truths_of(test.node)
            case nodes.Compare(ops=[nodes.Operand(op="eq" | "ne", expr=nodes.Const(value=bool()))]):
                yield from self._truths_of(test.expr)
            case nodes.Name() | nodes.Filter():
                yield from self._paths(test)

    def _defaults_of(self, node: nodes.Node) -> Iterator[tuple[str, Scalar]]:
        """Variable and constant of what a node falls back on."""
        match node:
            case nodes.Filter(name="default" | "d", args=[nodes.Const(value=value), *_]) if (
                node.node is not None
            ):
                yield from ((path, value) for path in self._paths(node.node))
            case nodes.Assign(target=nodes.Name(name=name), node=nodes.Const(value=value)):
                yield name, value


_SPECIAL_NAMES: Final = frozenset({"loop", "self", "super", "caller", "varargs", "kwargs"})
"""Names that Jinja itself gives a meaning in some places."""


def _wanted(all_nodes: Iterable[nodes.Node]) -> set[str]:
    """The names that are never given a value, and those whose being set is asked for; parameters and items of loops are neither."""
    read: set[str] = set()
    stored: set[str] = set()
    asked: set[str] = set()
    bound: set[str] = set()
    for node in all_nodes:
        match node:
            case nodes.Macro(name=name):
                bound.update((name, *(parameter.name for parameter in node.args)))
            case nodes.For():
                bound.update(target.name for target in node.target.find_all(nodes.Name))
                if isinstance(node.target, nodes.Name):
                    bound.add(node.target.name)
            case nodes.Name(name=name):
                (read if node.ctx == "load" else stored).add(name)
            case nodes.Test(name="defined" | "undefined" | "none", node=nodes.Name(name=name)):
                asked.add(name)
            case nodes.Filter(name="default" | "d", node=nodes.Name(name=name)):
                asked.add(name)
    return ((read - stored) | asked) - bound - set(environment().globals) - _SPECIAL_NAMES


def _preorder(node: nodes.Node) -> Iterator[nodes.Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(list(node.iter_child_nodes())))


def _text_of(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.TemplateData):
        return node.data
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None


def _strings_of(node: nodes.Node) -> list[str]:
    items = node.items if isinstance(node, (nodes.List, nodes.Tuple)) else [node]
    return [item.value for item in items if isinstance(item, nodes.Const) and isinstance(item.value, str)]


def _attributes_named(node: nodes.Filter) -> list[str]:
    by_keyword = [keyword.value for keyword in node.kwargs if keyword.key == "attribute"]
    by_place = node.args[:1] if node.name in ("selectattr", "rejectattr", "groupby") else []
    return [name for value in (*by_keyword, *by_place) for name in _strings_of(value)]


def _conditions_of(node: nodes.Node) -> list[nodes.Node]:
    """The expressions in a node of which only the truth matters."""
    match node:
        case nodes.If() | nodes.CondExpr():
            return [node.test]
        case nodes.For() if node.test is not None:
            return [node.test]
        case nodes.And():
            return [node.left, node.right]
        case nodes.Not():
            return [node.node]
    return []


def _distinct(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _grouped(pairs: Iterable[tuple[str, Any]]) -> dict[str, tuple[Any, ...]]:
    """Values by key, in order; equal values of different types (``1`` and ``true``) are kept apart."""
    groups: dict[str, dict[tuple[type, Any], Any]] = {}
    for key, value in pairs:
        groups.setdefault(key, {}).setdefault((type(value), value), value)
    return {key: tuple(values.values()) for key, values in groups.items()}
