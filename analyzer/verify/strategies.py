"""Hypothesis strategies for cases: replies with 0-3 calls, 0-4 arguments of every JSON type, hostile strings.

The tests draw from them; ``verify`` takes a few of them through `collect`, the same ones for a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings
from hypothesis import strategies as st

from analyzer.chat import Tool
from analyzer.verify.cases import PLACES, Call, Case, Reply, needle, needles_in
from analyzer.verify.catalogue import GROUPS, HOSTILE, HOSTILE_TEXT, TYPED_LOOKING

_PIECES: Final = (
    "a",
    "B",
    "7",
    " ",
    "  ",
    "\n",
    "\t",
    '"',
    "'",
    "\\",
    "<",
    ">",
    "&",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "=",
    "|",
    "é",
    "ß",
    "中",
    "😀",
    "\u2028",
    "\u00a0",
    "-",
    ".",
    "true",
    "null",
    "None",
    "&amp;",
    "\\n",
    "\\u00e9",
    "%",
    "$",
    "`",
    "/",
    "#",
)

NEEDLES: Final = st.integers(100_000, 260_000).map(needle)
"""Needles that the covering array does not use."""


def hostile_strings() -> st.SearchStrategy[str]:
    """Strings of characters that formats trip over, each with a needle in it."""
    pieces = st.lists(st.sampled_from(_PIECES), max_size=6).map("".join)
    free = st.builds(lambda before, word, after: f"{before}{word}{after}", pieces, NEEDLES, pieces)
    known = st.builds(lambda pattern, word: pattern.format(word), st.sampled_from(HOSTILE), NEEDLES)
    return free | known


def plain_strings() -> st.SearchStrategy[str]:
    """Strings that no format trips over."""
    return NEEDLES.map(lambda word: f"some {word} words")


def string_values() -> st.SearchStrategy[str]:
    """Values under a schema of type string."""
    return plain_strings() | hostile_strings() | st.sampled_from(TYPED_LOOKING)


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that satisfy one of the catalogue's schemas."""
    kind = schema["type"]
    if kind == "array":
        return st.lists(values(schema["items"]), max_size=3)
    if kind == "object":
        fields = {key: values(inner) for key, inner in schema["properties"].items()}
        return st.fixed_dictionaries({}, optional=fields)
    simple: dict[str, st.SearchStrategy[Any]] = {
        "string": string_values(),
        "integer": st.integers(-(2**70), 2**70),
        "number": st.floats(-1e9, 1e9, allow_nan=False).filter(lambda value: str(value) != "-0.0"),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return simple[kind]


def calls(tool: Tool) -> st.SearchStrategy[Call]:
    """Calls of a tool with at most four of its parameters, in any order."""
    properties = dict((tool.parameters or {}).get("properties", {}))
    if not properties:
        return st.just(Call(tool.name))

    def filled(keys: list[str]) -> st.SearchStrategy[Call]:
        arguments = st.fixed_dictionaries({key: values(properties[key]) for key in keys})
        return arguments.map(lambda found: Call(tool.name, found))

    return st.lists(st.sampled_from(sorted(properties)), unique=True, max_size=4).flatmap(filled)


def texts() -> st.SearchStrategy[str]:
    """Content and reasoning."""
    known = st.builds(lambda pattern, word: pattern.format(word), st.sampled_from(HOSTILE_TEXT), NEEDLES)
    return plain_strings() | known


def replies(tools: tuple[Tool, ...]) -> st.SearchStrategy[Reply]:
    """Replies that say something: calls of these tools (never of the last one), content, reasoning."""
    one = st.sampled_from(tools[:-1]).flatmap(calls)
    made = st.builds(
        Reply,
        content=st.none() | texts(),
        reasoning=st.none() | texts(),
        calls=st.lists(one, max_size=3).map(tuple),
    )
    return made.filter(lambda reply: bool(reply.content or reply.calls))


def any_case(name: str = "random") -> st.SearchStrategy[Case]:
    """Cases with any group of tools at any place."""

    def placed(tools: tuple[Tool, ...]) -> st.SearchStrategy[Case]:
        return st.builds(Case, st.just(name), replies(tools), st.just(tools), st.sampled_from(PLACES))

    return st.sampled_from(GROUPS).flatmap(placed)


def collect(number: int, amount: int) -> tuple[Case, ...]:
    """So many random cases, the same ones for the same seed and version of Hypothesis."""
    if amount == 0:
        return ()
    found: list[Case] = []

    fresh = count(100_000)

    def keep(case: Case) -> None:
        reply = _renumbered(case.reply, fresh)
        found.append(Case(f"random {len(found)}", reply, case.tools, case.place))

    run: Callable[[], None] = seed(number)(_generating(amount)(given(any_case())(keep)))
    run()
    return tuple(found[:amount])


def _renumbered(reply: Reply, fresh: Iterator[int]) -> Reply:
    """The reply with needles of its own for each place, so that a missing one proves what is missing."""

    def again(value: Any) -> Any:
        if isinstance(value, str):
            for word in needles_in(value):
                value = value.replace(word, needle(next(fresh)))
            return value
        if isinstance(value, dict):
            return {key: again(item) for key, item in value.items()}
        return [again(item) for item in value] if isinstance(value, list) else value

    made = tuple(Call(call.name, again(call.arguments)) for call in reply.calls)
    return Reply(again(reply.content), again(reply.reasoning), made)


def texts_matching(pattern: str, amount: int) -> tuple[str, ...]:
    """So many different texts that match a regular expression whole; none when there are not as many."""
    found: dict[str, None] = {}

    def keep(text: str) -> None:
        found[text] = None

    run: Callable[[], None] = seed(0)(
        _generating(8 * amount)(given(st.from_regex(pattern, fullmatch=True))(keep))
    )
    run()
    return tuple(found)[-amount:] if len(found) >= amount else ()


def _generating(amount: int) -> settings:
    return settings(
        max_examples=amount,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
