"""What is fuzzed: functions that take bytes, and raise when a property does not hold.

`parse_text` reads its bytes as choices: a format, options, and the pieces of a text. `load_text` takes them as a spec file.
`scripts/fuzz` hands both to a coverage-guided fuzzer; the suite gives them a few inputs of its own, so that they stay alive.
"""

from __future__ import annotations

import json
import random
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import yaml

from analyzer.chat import Tool
from analyzer.errors import SpecError
from analyzer.runtime import STRICT, Event, Options, Parser, assemble, coalesce
from analyzer.spec import Spec, dumps, parse_spec
from analyzer.spec.reader import read_document
from tests.fuzz.choices import Choices
from tests.runtime.checks import check_calls, check_spans, tool
from tests.runtime.golden import golden_specs, literals, pieces, turns
from tests.runtime.specs import SPECS, spec
from tests.runtime.test_properties import OPTIONS, TOOLS, WORDS, format_literals

TOOL_SETS: Final[tuple[tuple[Tool, ...] | None, ...]] = (
    None,
    TOOLS,
    (
        tool("ping", {"text": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "list": {"$ref": "#/$defs/a"}}, **{
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        tool("put", {"x": {"type": ["integer", "boolean"], "nullable": True}, "data": {"enum": [1, "a", None]}}),
        Tool("get_weather", "", {"type": 7, "properties": ["no"]}),
    ),
)  # fmt: skip
MORE_OPTIONS: Final = (
    *OPTIONS,
    Options(max_calls=1, max_call_chars=80),
    Options(calls="text", reasoning="content"),
    Options(calls_in_reasoning="never", unknown_tools="drop"),
    Options(raw_limit=16, malformed="content", repair=True),
    STRICT.with_(overlays=True),
)
LONGEST: Final = 800
"""Characters of one text."""
LOOKS: Final = 8
"""So many times a character may be looked at, and so many characters of one short text beside that."""
ALLOWANCE: Final = 2000


@dataclass(frozen=True)
class Source:
    """A format with what its texts are made of."""

    name: str
    spec: Spec
    own: tuple[str, ...]
    whole: tuple[str, ...]


@cache
def sources() -> tuple[Source, ...]:
    """The formats of the runtime's own tests, and the proven golden specs."""
    found = [Source(name, spec(name), tuple(format_literals(name)), ("",)) for name in sorted(SPECS)]
    for golden in golden_specs():
        whole = tuple(text for _, text in turns(golden))
        found.append(Source(golden.name, golden.spec, tuple(literals(golden.spec)), whole or ("",)))
    return tuple(found)


def made(source: Source, choices: Choices) -> str:
    """A text of the format's literals, whole turns, common words, any characters, and repetitions of what stands there."""
    text = choices.of(source.whole)
    while choices and len(text) < LONGEST:
        kind = choices.below(8)
        if kind <= 1 and source.own:
            text += choices.of(source.own)
        elif kind == 2:
            text += choices.of(WORDS)
        elif kind == 3:
            text += chr(choices.below(1 << 16))
        elif kind == 4 and text:
            text = text[: choices.below(len(text) + 1)]
        elif kind == 5 and text:
            at = choices.below(len(text))
            text = text[:at] + text[at + 1 + choices.below(12) :]
        elif kind == 6 and text:
            at = choices.below(len(text) + 1)
            literal = choices.of(source.own) if source.own else ""
            text = text[:at] + literal + text[at:]
        else:
            text += text[-1 - choices.below(40) :] * choices.below(60)
    return text[:LONGEST]


def read(given: Spec, chunks: list[str], tools: Any, finish: str, **more: Any) -> tuple[list[Event], int]:
    """Return the events of a text in these chunks, and how many characters were looked at."""
    parser = Parser(given, tools, **more)
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    events += parser.finish(finish)
    return events, parser.scanned


def check_parsing(given: Spec, text: str, chunks: list[str], tools: Any, finish: str, **more: Any) -> None:
    """The properties of any text: events do not hang on the cuts, tile the text, are in order, and cost little."""
    whole, _ = read(given, [text], tools, finish, **more)
    expected = coalesce(whole)
    assemble(whole).message.to_openai()
    for cut in ([text], chunks, list(text)):
        events, looked = read(given, cut, tools, finish, **more)
        check_spans(events, len(text))
        check_calls(events)
        assert coalesce(events) == expected
        assert looked <= LOOKS * len(text) + ALLOWANCE, (looked, len(text))


def parse_text(data: bytes) -> None:
    """Parse a text that the bytes choose, with a format, tools and options that they choose too."""
    choices = Choices(data)
    source = choices.of(sources())
    options = choices.of(MORE_OPTIONS)
    tools = choices.of(TOOL_SETS)
    finish = choices.of(("stop", "length"))
    prompt = choices.of((None, *(prompt.text for prompt in source.spec.turn.prompts), "elsewhere"))
    text = made(source, choices)
    chunks = pieces(text, random.Random(zlib.crc32(data)))  # noqa: S311 - no secrets here
    try:
        check_parsing(source.spec, text, chunks, tools, finish, options=options, prompt=prompt)
    except Exception as error:
        about = f"{source.name=}\n{text=}\n{chunks=}\n{tools=}\n{options=}\n{finish=}\n{prompt=}"
        raise AssertionError(f"{error!r:.300}\n{about}") from error


def load_text(data: bytes) -> None:
    """Load a spec: it is refused with a `SpecError`, or survives writing, and the runtime reads any text with it."""
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    try:
        loaded = parse_spec(text)
    except SpecError as error:
        assert str(error).strip()  # noqa: PT017 - whatever else is raised goes on
        return
    written = dumps(loaded)
    assert parse_spec(written) == loaded
    assert dumps(parse_spec(written)) == written
    own = literals(loaded)
    chance = random.Random(zlib.crc32(data))  # noqa: S311 - no secrets here
    for options in (Options(), STRICT):
        sent = "".join(chance.choice([*WORDS, *own, *own]) for _ in range(chance.randrange(30)))[:LONGEST]
        chunks = pieces(sent, chance)
        try:
            check_parsing(loaded, sent, chunks, TOOLS, "stop", options=options)
        except Exception as error:
            raise AssertionError(f"{error!r:.300}\n{sent=}\n{chunks=}\n{options=}\n{written}") from error


# ------------------------------------------------------------------------------------------------------------ the seeds


def text_seeds() -> list[bytes]:
    """Rows of choices to begin with: each format, in each of several lengths."""
    chance = random.Random(0)  # noqa: S311 - no secrets here
    return [
        number.to_bytes(2, "little") + chance.randbytes(chance.choice((6, 20, 60)))
        for number in range(len(sources()))
    ]


def spec_seeds() -> list[bytes]:
    """Spec files to begin with."""
    return [dumps(source.spec).encode("utf-8", "surrogatepass") for source in sources()]


@cache
def _nodes() -> tuple[Any, ...]:
    """Parts of specs, to be put in elsewhere."""
    found: list[Any] = [
        None,
        True,
        0,
        -1,
        "",
        " ",
        "\n",
        [],
        {},
        "raw",
        "json",
        "\ud800",
        "{name}",
        "x" * 300,
    ]
    for source in sources()[::3]:
        _collect(read_document(dumps(source.spec)).data, found)
    return tuple(found)


def _collect(value: Any, found: list[Any]) -> None:
    found.append(value)
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _collect(inner, found)


def changed_spec(data: bytes, seed: int) -> bytes | None:
    """Change a spec file where a change of bytes hardly ever gives a spec: one node replaced, dropped, doubled or moved."""
    try:
        root = read_document(data.decode("utf-8", "surrogatepass")).data
    except (SpecError, UnicodeDecodeError):
        return None
    chance = random.Random(seed)  # noqa: S311 - no secrets here
    for _ in range(chance.randrange(1, 4)):
        _change(root, chance)
    try:
        text = yaml.safe_dump(root, allow_unicode=False, sort_keys=False)
    except (yaml.YAMLError, UnicodeError):
        text = json.dumps(root)
    return text.encode("utf-8", "surrogatepass")


def _change(root: Any, chance: random.Random) -> None:
    places = [(holder, key) for holder in _containers(root) for key in _keys(holder)]
    if not places:
        return
    holder, key = chance.choice(places)
    how = chance.randrange(5)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), holder[key])
    elif how == 2 and isinstance(holder[key], str):
        text = holder[key]
        at = chance.randrange(len(text) + 1)
        holder[key] = chance.choice(
            [text[:at], text[at:], text * 2, text[:at] + " \n" + text[at:], text.strip()]
        )
    elif how == 3:
        other, place = chance.choice(places)
        holder[key] = json.loads(json.dumps(other[place]))
    else:
        holder[key] = json.loads(json.dumps(chance.choice(_nodes())))


def _containers(value: Any) -> list[Any]:
    found: list[Any] = []
    _collect(value, found)
    return [item for item in found if isinstance(item, (dict, list))]


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))
