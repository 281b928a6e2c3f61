"""The catalogue: the tools that cases declare, and plain and hostile values for their parameters.

Tools come in three groups, so that renders of the conversation before the turn are shared between cases.  Names
include one of a single character, one of 64, words that formats reserve (`all`, `user`, `final`), a prefix of
another name, dots, hyphens and underscores.  Each group holds a tool that is never called.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from analyzer.chat import Tool
from analyzer.verify.cases import OWN_LITERAL

TypeLevel: TypeAlias = str

TYPE_LEVELS: Final[tuple[TypeLevel, ...]] = (
    "text",
    "hostile text",
    "typed-looking text",
    "integer",
    "number",
    "boolean",
    "null",
    "array",
    "object",
)
"""What the arguments of a case are made of: the JSON types, strings in three kinds."""

_SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "string": {"type": "string", "description": "Some text."},
    "integer": {"type": "integer", "description": "A whole number."},
    "number": {"type": "number", "description": "A number."},
    "boolean": {"type": "boolean", "description": "Yes or no."},
    "null": {"type": "null", "description": "Nothing."},
    "array": {"type": "array", "items": {"type": "string"}, "description": "A list."},
    "object": {
        "type": "object",
        "description": "A thing.",
        "properties": {
            "street": {"type": "string", "description": "Some text."},
            "number": {"type": "integer", "description": "A whole number."},
            "open": {"type": "boolean", "description": "Yes or no."},
            "rates": {"type": "array", "items": {"type": "number"}, "description": "A list."},
        },
    },
}

_KEYS: Final[tuple[dict[str, tuple[str, ...]], ...]] = (
    {
        "string": ("city", "city_name"),
        "integer": ("days",),
        "number": ("ratio",),
        "boolean": ("metric",),
        "null": ("nothing",),
        "array": ("tags",),
        "object": ("place",),
    },
    {
        "string": ("name", "x"),
        "integer": ("n",),
        "number": ("value",),
        "boolean": ("flag",),
        "null": ("none",),
        "array": ("list",),
        "object": ("arguments",),
    },
    {
        "string": ("text-body", "key"),
        "integer": ("count_2",),
        "number": ("Score",),
        "boolean": ("is_new",),
        "null": ("unset",),
        "array": ("rows",),
        "object": ("parameters",),
    },
)


def _tool(name: str, keys: dict[str, tuple[str, ...]]) -> Tool:
    properties = {key: _SCHEMAS[kind] for kind, names in keys.items() for key in names}
    required = [keys["string"][0]]
    return Tool(name, "Does a thing.", {"type": "object", "properties": properties, "required": required})


LONG_NAME: Final = "collect_every_measurement_of_the_previous_day_and_sort_by_place_"

GROUPS: Final[tuple[tuple[Tool, ...], ...]] = (
    (
        _tool("get_weather", _KEYS[0]),
        _tool("get_weather_now", _KEYS[0]),
        _tool("all", _KEYS[0]),
        Tool("never_called", "Is not used.", {"type": "object", "properties": {}}),
    ),
    (
        _tool("math.add", _KEYS[1]),
        _tool("a", _KEYS[1]),
        _tool("user", _KEYS[1]),
        Tool("math.add_never", "Is not used.", {"type": "object", "properties": {}}),
    ),
    (
        _tool("do-it", _KEYS[2]),
        _tool(LONG_NAME, _KEYS[2]),
        _tool("final", _KEYS[2]),
        Tool("do-not", "Is not used.", {"type": "object", "properties": {}}),
    ),
)
"""The declared tools of a case are one of these groups; the last tool of a group is never called."""


TOOL_LEVELS: Final[tuple[frozenset[str], ...]] = (
    frozenset(),
    frozenset({"null"}),
    frozenset({"null", "object"}),
    frozenset({"null", "object", "array"}),
)
"""The types that tools are declared without: some templates cannot print a schema of type null, or a nested one."""


def without(tools: tuple[Tool, ...], types: frozenset[str]) -> tuple[Tool, ...]:
    """The tools without their parameters of these types."""
    if not types:
        return tools
    return tuple(_stripped(tool, types) for tool in tools)


def _stripped(tool: Tool, types: frozenset[str]) -> Tool:
    parameters = dict(tool.parameters or {})
    kept = {key: schema for key, schema in parameters["properties"].items() if schema["type"] not in types}
    return Tool(tool.name, tool.description, {**parameters, "properties": kept})


def keys_of(group: int, kind: str) -> tuple[str, ...]:
    """The parameters of this JSON type that the tools of a group have."""
    return _KEYS[group][kind]


HOSTILE: Final[tuple[str, ...]] = (
    "say \"{}\" and 'go'",
    "{}\nsecond line\n\nfourth",
    "C:\\dir\\new {} \\\\ \\n \\u0041",
    "a < {} && b > c &amp; &lt;b&gt; <b>bold</b>",
    "naïve {} 東京 — Größe ☕",
    "😀 {} 👩‍👩‍👧 \u200b\u00a0 end",
    "  {} padded both ends  ",
    "\n{} framed by line breaks\n",
    "\t{}\ttabs\t",
    '{} {{{{ braces }}}} {{% if x %}} ${{y}} [0] {{"k": 1}}',
    OWN_LITERAL + "{}" + OWN_LITERAL,
    "# {} *md* `code` ```json\n{{}}\n``` | - _x_",
    '{},"b": 2}}]}}',
    "{}: key = value; other=1, next",
    "'{}",
    "{} ends in a backslash \\",
)
"""Patterns of hostile strings; ``str.format`` puts the needle in."""

TYPED_LOOKING: Final[tuple[str, ...]] = (
    "3",
    "true",
    "null",
    "{}",
    "001",
    "[]",
    "1.50",
    "None",
    "-0",
    "False",
    "1e5",
    '"quoted"',
    '{"a": 1}',
    "",
    "[1, 2]",
)
"""Strings that look like values of another type."""

INTEGERS: Final[tuple[int, ...]] = (3, 0, -17, 9007199254740993)
NUMBERS: Final[tuple[float, ...]] = (0.5, -12.25, 3.0, 1e-07, 1.5e22)

HOSTILE_TEXT: Final[tuple[str, ...]] = (
    'He said "{}" & it\'s < 5 > 3.\n\nNext paragraph: C:\\new, naïve ☕ 東京 😀.',
    "  {} with space at both ends \n",
    "\n\n{}\n\n",
    '{{"{}": [1, 2]}} is not a call.',
    "[{}] = (x, y); *bold* `code`\n```py\nprint({{}})\n```",
    "# {}\n\n- one\n- two &amp; three <b>x</b>",
)
"""Patterns of hostile content and reasoning."""
