"""Reading and writing spec files."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml
from hypothesis import given

from analyzer.errors import SpecError, UsageError
from analyzer.spec.document import dump, dumps, load_spec, parse_spec
from analyzer.spec.model import ContentSegment, Spec, Turn
from analyzer.spec.writer import write_yaml
from tests.spec.strategies import specs

SMALL = 'format_version: 1\nturn: {segments: [{kind: content, close: "<end>"}]}\n'


def error_of(text: str, file: str = "spec.yaml") -> SpecError:
    """Return the error that reading `text` raises."""
    with pytest.raises(SpecError) as caught:
        parse_spec(text, file=file)
    return caught.value


@given(specs())
def test_a_spec_survives_yaml(spec: Spec) -> None:
    """Loading what was dumped gives an equal spec, and dumping that gives the same bytes."""
    text = dumps(spec)
    again = parse_spec(text)

    assert spec == again
    assert text == dumps(again)


@given(specs())
def test_dumped_text_shows_every_character(spec: Spec) -> None:
    """A dump is plain UTF-8 text without characters that a person cannot see."""
    text = dumps(spec)

    assert text.encode("utf-8")
    assert all(character == "\n" or character.isprintable() for character in text)


@given(specs())
def test_other_readers_see_the_same_texts(spec: Spec) -> None:
    """What is dumped means the same to a plain YAML 1.1 loader."""
    text = dumps(spec)
    header = yaml.safe_load(text)["turn"].get("header", "")

    assert spec.turn.header == header


def test_a_small_spec_is_a_short_file() -> None:
    """Defaults are left out; tags and the version stay."""
    spec = Spec(turn=Turn(segments=(ContentSegment(close="<end>"),)))

    assert dumps(spec) == 'format_version: 1\nturn:\n  segments:\n    - {kind: content, close: "<end>"}\n'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("word", "word"),
        ("functions.{name}", '"functions.{name}"'),
        ("no", '"no"'),
        ("2024-01-01", '"2024-01-01"'),
        ("two words", '"two words"'),
        ("<think>\n", '"<think>\\n"'),
        ("\u00a0\u200b\u202e", '"\\xA0\\u200B\\u202E"'),
        ("<｜tool▁sep｜>", '"<｜tool▁sep｜>"'),
        ("\ud800", '"\\uD800"'),
        ("\U000e0041", '"\\U000E0041"'),
        (1.0, "1.0"),
        (1e16, "1e+16"),
        (True, "true"),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_scalars_are_spelled(value: object, expected: str) -> None:
    """Words stand plain; everything else stands in quotes with what cannot be seen escaped."""
    assert f"key: {expected}\n" == write_yaml({"key": value})


def test_lists_break_where_they_are_long() -> None:
    """A list that fits stands on one line, a long one has a line an item."""
    assert write_yaml({"key": ["a", "b"]}) == "key: [a, b]\n"
    assert write_yaml({"key": ["a" * 70, "b" * 70]}) == f"key:\n  - {'a' * 70}\n  - {'b' * 70}\n"


def test_text_and_path_are_told_apart(tmp_path: Path) -> None:
    """A string with a line break or a brace in front is a spec, another one a path."""
    path = tmp_path / "spec.yaml"
    path.write_text(SMALL, encoding="utf-8")
    inline = "{format_version: 1, turn: {segments: []}}"

    assert load_spec(SMALL) == load_spec(path) == load_spec(str(path))
    assert load_spec(inline).turn.segments == ()


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    """Editors that begin a file with a byte order mark do no harm."""
    path = tmp_path / "spec.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())

    assert load_spec(SMALL) == load_spec(path)


def test_dump_replaces_the_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    """The file is whole and keeps its mode; no temporary file stays."""
    path = tmp_path / "spec.yaml"
    spec = parse_spec(SMALL)
    dump(spec, path)
    path.chmod(0o640)
    dump(spec, path)

    assert dumps(spec) == path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [path] == list(tmp_path.iterdir())


def test_a_failed_dump_keeps_the_old_file(tmp_path: Path) -> None:
    """What cannot be written leaves the directory as it was."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        dump(parse_spec(SMALL), tmp_path / "folder")

    assert [tmp_path / "folder"] == list(tmp_path.iterdir())


# ----------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "the key `c` stands twice, first in line 3"),
        ("a: &x [1]\nb: *x\n", 2, "aliases"),
        ("a: &x\n  b: *x\n", 2, "aliases"),
        ("a: !!python/object/apply:os.system [x]\n", 1, "tags"),
        ("a: !!binary aGk=\n", 1, "tags"),
        ("? [a]\n: 1\n", 1, "a key is plain text"),
        ('a: "x\n', 2, "not valid YAML"),
        ("a: 1\n---\nb: 1\n", 2, "not valid YAML"),
        ("- a\n", 1, "no mapping"),
        ("# nothing\n", None, "empty"),
        ("a: \x07\n", 1, "U+0007"),
        ("a: \ud800\n", 1, "U+D800"),
        ("a: " + "[" * 70 + "]" * 70 + "\n", 1, "levels deep"),
        ("a: " + "[" * 100_000 + "\n", None, "not valid YAML"),
        ("a: " + "9" * 5000 + "\n", 1, "too many digits"),
        ("a: 1\n", 1, "`format_version` is missing"),
        ("turn: {segments: []}\nformat_version: 2\n", 2, "format version 2; this package reads version 1"),
        ('format_version: "1"\n', 1, "format version '1'"),
        ("format_version: true\n", 1, "format version True"),
    ],
)
def test_what_is_no_document_is_refused(text: str, line: int | None, found: str) -> None:
    """The error tells the file, the line and what is wrong."""
    error = error_of(text)

    assert found in error.found
    assert error.file == "spec.yaml"
    if line is not None:
        assert line == error.line


def test_a_large_document_is_refused() -> None:
    """Size is limited before anything is parsed."""
    assert "at most" in error_of("a: " + "x" * 5_000_000).found


@pytest.mark.parametrize(
    ("data", "found"),
    [(b"a: \xff\xfe", "byte 0xff at offset 3"), (b"GGUF\x00\x00", "binary"), (b"\xff\xfea\x00", "UTF-8")],
)
def test_a_binary_file_is_refused(tmp_path: Path, data: bytes, found: str) -> None:
    """A file that is no text is called so."""
    path = tmp_path / "spec.yaml"
    path.write_bytes(data)
    with pytest.raises(SpecError, match=found):
        load_spec(path)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """The error names the file."""
    with pytest.raises(UsageError, match=r"none\.yaml: the file cannot be read: No such file"):
        load_spec(tmp_path / "none.yaml")


HEAD = """format_version: 1
turn:
  segments:
"""
CALLS = (
    HEAD
    + """    - kind: calls
      layouts:
        - kind: sequence
          parts: [{slot: name}, {slot: arguments, codec: json}]
"""
)


@pytest.mark.parametrize(
    ("text", "line", "path", "found"),
    [
        (
            HEAD + '    - kind: reasoning\n      opn: "<think>"\n      open: ""\n      close: ""\n',
            5,
            "turn.segments[0].opn",
            "the key `opn` is unknown (is `open` meant?); allowed are kind, when, fields, open, close, empty, kept, end",
        ),
        (
            HEAD + '    - {kind: reasoning, open: ""}\n',
            4,
            "turn.segments[0].close",
            "the key `close` is missing",
        ),
        (
            HEAD + "    - {kind: callz}\n",
            4,
            "turn.segments[0]",
            "kind `callz` is unknown (is `calls` meant?); allowed are reasoning, content, calls",
        ),
        (
            HEAD + "    - {knd: content}\n",
            4,
            "turn.segments[0]",
            "the key `kind` is missing (is `knd` meant?); it is one of reasoning, content, calls",
        ),
        (HEAD + "    - 5\n", 4, "turn.segments[0]", "found 5, expected a mapping"),
        (HEAD + "    - {kind: calls, layouts: []}\n", 4, "turn.segments[0].layouts", "the list is empty"),
        (
            CALLS.replace("{slot: name}", "{slot: nme}"),
            7,
            "turn.segments[0].layouts[0].parts[0]",
            "slot `nme` is unknown (is `name` meant?); allowed are name, id, index, arguments",
        ),
        (
            CALLS.replace("{slot: name}", "{slot: name, x: 1}"),
            7,
            "turn.segments[0].layouts[0].parts[0].x",
            "the key `x` is unknown; allowed are slot",
        ),
        (
            CALLS.replace("{slot: name}", "7"),
            7,
            "turn.segments[0].layouts[0].parts[0]",
            "found 7, expected text or a mapping",
        ),
        (
            CALLS.replace("codec: json", "codec: jsn"),
            7,
            "turn.segments[0].layouts[0].parts[1].codec",
            "kind `jsn` is unknown (is `json` meant?); allowed are raw, json, python",
        ),
        (
            CALLS.replace(", codec: json", ""),
            7,
            "turn.segments[0].layouts[0].parts[1]",
            "an arguments slot has either",
        ),
        (
            CALLS.replace("[{slot: name}, ", "["),
            6,
            "turn.segments[0].layouts[0]",
            "a sequence layout has a name slot",
        ),
        (
            CALLS + "      parallel: no\n",
            8,
            "turn.segments[0].parallel",
            'found "no", expected true or false',
        ),
        (
            CALLS + "      end: {literal: ''}\n",
            8,
            "turn.segments[0].end.literal",
            'found "", expected text that is not empty',
        ),
        (CALLS + "  header: 5\n", 8, "turn.header", "found 5, expected text"),
        (CALLS + "trun: {}\n", 8, "trun", "the key `trun` is unknown (is `turn` meant?)"),
        (
            CALLS + "input: {content: txt}\n",
            8,
            "input.content",
            'found "txt", expected text, parts or both (is `text` meant?)',
        ),
        (
            CALLS + "input: {variables: {a: [1]}}\n",
            8,
            "input.variables.a",
            "found a list, expected true or false, an integer, a number or text",
        ),
        (
            CALLS + "evidence:\n  turn.note:\n    - {comparison: C1}\n",
            10,
            "evidence.turn.note[0].found",
            "missing",
        ),
    ],
)
def test_what_is_no_spec_is_told_with_its_place(text: str, line: int, path: str, found: str) -> None:
    """The error tells line and path in the file, what was found, and what may stand there."""
    error = error_of(text)

    assert (line, path) == (error.line, error.path)
    assert found in error.found
    assert error.hint == ""


def test_one_message_tells_the_first_five_problems() -> None:
    """The first is told with its place, the others after it."""
    text = HEAD + "".join(f"    - {{kind: content, wrong{number}: 1}}\n" for number in range(8))
    error = error_of(text)

    assert error.path == "turn.segments[0].wrong0"
    assert error.hint.count("is unknown") == 4
    assert "and 3 more problems" in str(error)


def test_scalars_are_read_as_written() -> None:
    """Only true, false, null and decimal numbers are typed; keys are text."""
    text = CALLS + (
        "input:\n  variables: {a: no, b: on, c: 2024-01-01, d: 007, e: 1.5, f: -3, g: 0x10, h: 1_000, i: ~, j: 1e3, k: null}\n"
    )
    read = parse_spec(text).input.variables

    expected = ["no", "on", "2024-01-01", "007", 1.5, -3, "0x10", "1_000", "~", 1000.0, None]
    assert expected == list(read.values())
