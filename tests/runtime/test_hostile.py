"""What nobody means to send: schemas made to be expensive, numbers without end, misuse, bytes that are no characters."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from analyzer.errors import UsageError
from analyzer.runtime import Options, Parser, assemble, coalesce
from analyzer.runtime.adapters import BytesParser, TokenParser
from analyzer.runtime.coerce import CompiledTools, Types, decode_text
from analyzer.spec.model import Spec
from tests.runtime.checks import check_all_splits, run, tool
from tests.runtime.specs import spec

CALL = '<tool_call>\n{"name": "put", "arguments": {"text": "%s"}}\n</tool_call>'


# ------------------------------------------------------------------------------------------------------------- schemas


def test_a_schema_of_references_in_all_directions() -> None:
    """Twenty definitions, each a union of all: every one is looked into once, not every path through them."""
    names = [f"d{number}" for number in range(20)]
    union = {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    root = {"$defs": {**dict.fromkeys(names, union), "last": {"type": "integer"}}}
    root["$defs"]["d19"] = {"anyOf": [*union["anyOf"], {"$ref": "#/$defs/last"}]}
    types = Types({"$ref": "#/$defs/d0"}, root)

    assert types.names == {"integer"}
    assert types.child("x") is None


def test_a_deep_schema_says_nothing() -> None:
    """A schema nested deeper than any that is meant breaks nothing."""
    schema: Any = {"type": "string"}
    for _ in range(20_000):
        schema = {"anyOf": [schema], "items": schema}

    assert Types(schema, schema).names == {"array"}
    assert Types({"anyOf": [{"allOf": [{"type": "null"}, schema]}]}, {}).names is not None


@pytest.mark.parametrize(
    ("ref", "names"),
    [
        ("#", {"object"}),
        ("#/$defs/a", {"integer"}),
        ("#/$defs/b%20c", {"number"}),
        ("#/$defs/d~1e", {"boolean"}),
        ("#/$defs/list/1", {"null"}),
        ("#/$defs/list/²", None),
        ("#/$defs/list/9", None),
        ("#anchor", None),
        ("https://example.org/schema.json", None),
        ("other.json#/$defs/a", None),
        ("#/$defs/loop", None),
    ],
)
def test_references(ref: str, names: set[str] | None) -> None:
    """JSON Pointers inside the document are followed, anything else says nothing."""
    root = {
        "type": "object",
        "$defs": {
            "a": {"type": "integer"},
            "b c": {"type": "number"},
            "d/e": {"type": "boolean"},
            "list": [{}, {"type": "null"}],
            "loop": {"$ref": "#/$defs/loop"},
        },
    }

    assert Types({"$ref": ref}, root).names == names


# ------------------------------------------------------------------------------------------------------------- numbers

LONG = "9" * 6000  # more digits than Python turns into an integer


def test_integers_of_any_size() -> None:
    """Digits go through as they are, whatever the types and however deep."""
    assert decode_text(LONG, None, python=True) == (LONG, "")
    assert decode_text(f"[{LONG}]", None, python=True) == (f"[{LONG}]", "")
    assert decode_text(LONG, frozenset({"integer"}), python=True) == (LONG, "")
    text = f"<|tool_call_start|>[put(text={LONG})]<|tool_call_end|>"
    parsed = assemble(run(spec("python_calls"), [text[at : at + 4] for at in range(0, len(text), 4)]))
    assert [call.arguments for call in parsed.message.tool_calls] == [f'{{"text": {LONG}}}']


def test_a_hexadecimal_number_without_end() -> None:
    """A number that Python could not write in decimal digits breaks the call, not the parser."""
    digits = "0x" + "f" * 6000

    assert decode_text(digits, frozenset({"integer"}), python=True) == (f'"{digits}"', "type_mismatch")
    text = f"<|tool_call_start|>[put(text={digits})]<|tool_call_end|>"
    whole = coalesce(run(spec("python_calls"), [text]))
    assert (
        coalesce(run(spec("python_calls"), [text[at : at + 700] for at in range(0, len(text), 700)])) == whole
    )
    parsed = assemble(whole)
    assert [json.loads(call.arguments) for call in parsed.message.tool_calls] == [{"text": digits}]
    assert [item.kind for item in parsed.problems] == ["foreign_quotes"]


@pytest.mark.parametrize("size", [1 << 16, (1 << 16) + 1])
def test_the_longest_word_is_exact(size: int) -> None:
    """A number of as many digits as are read, and one of one digit more, in one piece and in several."""
    text = "<|tool_call_start|>[put(text=" + "7" * size + ")]<|tool_call_end|>"
    whole = coalesce(run(spec("python_calls"), [text]))
    for step in (4, 65_000):
        parser = Parser(spec("python_calls"))
        events = [event for at in range(0, len(text), step) for event in parser.feed(text[at : at + step])]
        assert coalesce(events + parser.finish()) == whole
    assert len(assemble(whole).message.tool_calls) == (size <= 1 << 16)


# -------------------------------------------------------------------------------------------------------------- misuse


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ({"malformed": "text"}, "`problem`, `content`"),
        ({"reasoning": None}, "`split`"),
        ({"max_calls": -1}, "from 0"),
    ],
)
def test_options_that_do_not_exist(wrong: dict[str, Any], found: str) -> None:
    """A policy is one of those that are documented, a number counts from 0."""
    with pytest.raises(UsageError) as caught:
        Options(**wrong)

    assert found in str(caught.value.hint)


def test_a_turn_that_is_over() -> None:
    """More text is refused; nothing, and saying so again, is not."""
    parser = Parser(spec("json_tags"))
    parser.feed("Hello")
    parser.finish()

    assert (parser.feed(""), parser.finish()) == ([], [])
    with pytest.raises(UsageError, match="over"):
        parser.feed(".")


def test_a_prompt_that_ends_a_turn() -> None:
    """An end in the prompt is another turn's: the model's own begins behind it."""
    given = Spec.model_validate(
        {
            "format_version": 1,
            "turn": {
                "prompts": [{"text": "Hi.<end>\n<end>"}],
                "segments": [{"kind": "content", "end": {"literal": "<end>"}}],
            },
        }
    )
    parsed = assemble(run(given, ["Hello.<end>"]))

    assert parsed.message.content == "Hello."
    assert parsed.events[-1].start == len("Hello.<end>")


# -------------------------------------------------------------------------------------------------------------- limits


def test_the_longest_size_of_a_call_is_exact() -> None:
    """A call of as many characters as are allowed is a call, one more is too much, however the text was cut."""
    text = CALL % "Oslo" + "\nbehind"
    size = text.index("\nbehind")
    for limit, status in ((size, 1), (size - 1, 0), (30, 0)):
        events = check_all_splits(spec("json_tags"), text, options=Options(max_call_chars=limit))
        parsed = assemble(events)
        assert len(parsed.message.tool_calls) == status
        assert ("call_too_long" in {item.kind for item in parsed.problems}) == (not status)


def test_limits_cost_no_more() -> None:
    """Many calls in one piece, each of them below the limit: the text behind a call is not copied for it."""
    text = CALL % "x" * 3000
    parser = Parser(spec("json_tags"), options=Options(max_call_chars=200, max_calls=2000))
    parsed = assemble(parser.feed(text) + parser.finish())

    assert len(parsed.message.tool_calls) == 2000
    assert parser.scanned <= 6 * len(text)


# ------------------------------------------------------------------------------------------------------------ adapters


class ByteTokens:
    """A tokenizer whose tokens are bytes; counts what it decodes."""

    def __init__(self) -> None:
        self.decoded = 0

    def decode(self, ids: Any, *, skip_special_tokens: bool) -> str:
        """Decode UTF-8."""
        assert not skip_special_tokens
        self.decoded += len(ids)
        return bytes(ids).decode("utf-8", "replace")


def test_tokens_that_are_no_characters() -> None:
    """Bytes that never become a character are not decoded over and over, and the text behind them comes out."""
    tokens = ByteTokens()
    parser = TokenParser(Parser(spec("json_tags")), tokens)
    events = parser.feed([0xFF] * 3000)
    events += parser.feed("so é 😀".encode()) + parser.finish()

    assert tokens.decoded < 40 * 3000
    assert str(assemble(events).message.content).endswith("so é 😀")


def test_adapters_are_copied_in_the_middle_of_a_character() -> None:
    """Half a character that is held belongs to the copy, too."""
    data = (CALL % "é😀").encode()
    expected = coalesce(run(spec("json_tags"), [data.decode()]))
    for at in range(len(data)):
        for make in (
            lambda: BytesParser(Parser(spec("json_tags"))),
            lambda: TokenParser(Parser(spec("json_tags")), ByteTokens()),
        ):
            first: Any = make()
            events = first.feed(data[:at])
            other = first.fork()
            for one in (first, other):
                assert coalesce([*events, *one.feed(data[at:]), *one.finish()]) == expected


# ------------------------------------------------------------------------------------------------------------- imports


def test_importing_the_runtime_imports_little() -> None:
    """No models, no YAML, no template engine, no tokenizer: nothing outside the standard library."""
    line = "import sys; before = set(sys.modules); import analyzer.runtime; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    packages = {name.partition(".")[0] for name in done.stdout.split()}

    assert packages - set(sys.stdlib_module_names) == {"analyzer"}
    assert not packages & {"urllib", "asyncio", "email", "http", "inspect_", "unittest"}


def test_tools_are_compiled_when_they_are_needed() -> None:
    """Making a parser looks at no schema: one that cannot even be iterated is no trouble before its call comes."""

    class Watched(dict[str, Any]):
        reads = 0

        def get(self, *arguments: Any) -> Any:
            Watched.reads += 1
            return super().get(*arguments)

    declared = tool("put", {"text": "string"})
    tools = CompiledTools([declared, type(declared)("other", "", Watched(type="object"))])
    parser = Parser(spec("tagged_raw"), tools)
    events = parser.feed(
        "<tool_call>\n<function=put>\n<parameter=text>\n7\n</parameter>\n</function>\n</tool_call>"
    )

    assert json.loads(assemble(events + parser.finish()).message.tool_calls[0].arguments) == {"text": "7"}
    assert Watched.reads == 0
