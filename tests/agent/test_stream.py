"""Chunks of a streamed completion, from servers that do it right and from those that do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.agent import ChatStream, ModelTurn, check
from analyzer.agent.stream import NOTES
from analyzer.integrations.openai import ChatResponse
from analyzer.runtime import Parser
from tests.agent.common import DATA, READ_FILE
from tests.runtime.specs import spec

LINES = (DATA / "stream.txt").read_text(encoding="utf-8").splitlines()
RECORDED = "6aKdJM1U5AYakbQUh2ae9giQx978MzKC"


def piece(
    index: int | None = 0, ident: str | None = None, name: str | None = None, text: str | None = None
) -> Any:
    """One entry of `delta.tool_calls`."""
    function = {key: value for key, value in (("name", name), ("arguments", text)) if value is not None}
    entry = {"index": index, "id": ident, "function": function}
    return {key: value for key, value in entry.items() if value is not None}


def stream(*pieces: Any, finish: str | None = "tool_calls", tools: Any = ()) -> tuple[ModelTurn, ChatStream]:
    """The turn of a stream of these pieces, one a chunk."""
    grown = ChatStream(tools)
    for one in pieces:
        grown.feed({"choices": [{"index": 0, "delta": {"tool_calls": [one]}, "finish_reason": None}]})
    if finish is not None:
        grown.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return grown.finish(), grown


def calls(turn: ModelTurn) -> list[tuple[str | None, str, str]]:
    """Id, name and arguments of each call."""
    return [(call.id, call.name, call.arguments) for call in turn.calls]


def kinds(grown: ChatStream) -> list[str]:
    """What was noted."""
    return [note.kind for note in grown.notes]


@pytest.mark.parametrize("as_bytes", [str.encode, str])
def test_the_recorded_stream(as_bytes: Any) -> None:
    """13 chunks, 11 argument pieces, one call whose arguments are JSON only at the end."""
    grown = ChatStream()
    early = []
    for line in LINES:
        grown.feed(as_bytes(line))
        early.append(grown.calls)
    turn = grown.finish()

    assert (grown.chunks, grown.done, turn.finish_reason) == (13, True, "tool_calls")
    assert grown.pieces == (11,)
    assert [(call.id, call.name, call.decoded()) for call in turn.calls] == [
        (RECORDED, "read_file", {"path": "pom.xml"})
    ]
    assert grown.notes == ()
    assert [(call.name, call.arguments) for call in early[1]] == [("read_file", "{")]
    assert check(turn, [READ_FILE]).ok


def test_the_recorded_stream_cut_anywhere() -> None:
    """A stream that ends early is said to, and half a call does not run."""
    for end in range(2, 13):
        grown = ChatStream()
        for line in LINES[:end]:
            grown.feed(line)
        checked = check(grown.finish(), [READ_FILE])

        assert checked.turn.finish_reason == "incomplete"
        assert kinds(grown) == ["ended_early"]
        assert bool(checked.runnable) is (end == 12)
        assert [problem.kind for problem in checked.problems] == ["cut", "cut_call"][: 1 if end == 12 else 2]


def test_parallel_calls_are_joined_by_index() -> None:
    """Pieces of two calls that take turns."""
    turn, grown = stream(
        piece(0, "a", "f", '{"x"'), piece(1, "b", "g", "{"), piece(0, text=": 1}"), piece(1, text="}")
    )

    assert calls(turn) == [("a", "f", '{"x": 1}'), ("b", "g", "{}")]
    assert grown.notes == ()


@pytest.mark.parametrize(
    ("pieces", "expected", "noted"),
    [
        ([piece(0, "a", "f", "{}"), piece(0, "b", "g", "{}")], [("a", "f", "{}"), ("b", "g", "{}")], ["index_reused"]),
        ([piece(None, "a", "f", "{"), piece(None, text="}"), piece(None, "b", "g", "{}")],
         [("a", "f", "{}"), ("b", "g", "{}")], ["no_index", "no_index"]),
        ([piece(None, None, "f", "{}"), piece(None, None, "g", "{}")], [("", "f", "{}"), ("", "g", "{}")],
         ["no_index", "no_index"]),
        ([piece(0, "a", "f", "{}"), piece(2, "b", "g", "{}")], [("a", "f", "{}"), ("b", "g", "{}")], ["index_gap"]),
        ([piece(1, "b", "g", "{}"), piece(0, "a", "f", "{}")], [("a", "f", "{}"), ("b", "g", "{}")], []),
        ([piece(0, "a", "f", "{"), piece(0, "a", text="}")], [("a", "f", "{}")], []),
        ([piece(0, "a", "f", "{"), piece(0, "", "", text="}")], [("a", "f", "{}")], []),
        ([piece(0, "a", "f", "{"), piece(0, "zzz", text="}")], [("a", "f", "{}")], ["id_changed"]),
        ([piece(0, "a", "f", "{}"), piece(1, "a", "g", "{}")], [("a", "f", "{}"), ("a", "g", "{}")], []),
        ([piece(0, "a", "read_", ""), piece(0, name="file", text="{}")], [("a", "read_file", "{}")], ["name_in_pieces"]),
        ([piece(0, "a", "read_file", "{"), piece(0, name="read_file", text="}")], [("a", "read_file", "{}")],
         ["name_repeated"]),
        ([piece(0, "a", "read", "{"), piece(0, name="read_file", text="}")], [("a", "read_file", "{}")],
         ["name_repeated"]),
        ([piece(0, text='{"x": 1}'), piece(0, "a", "f")], [("a", "f", '{"x": 1}')], []),
        ([piece(0, "a", ""), piece(0, name="f"), piece(0, text="{}")], [("a", "f", "{}")], []),
        ([piece(0, "a", text="{}")], [("a", "", "{}")], ["no_name"]),
        ([piece(0, "a", "f", '{"x":'), piece(0, text="1}"), piece(0, text='{"x": 1}')], [("a", "f", '{"x":1}')],
         ["arguments_repeated"]),
        ([piece(0, "a", "f", '{"x": 1}'), piece(0, text='{"y": 2}')], [("a", "f", '{"x": 1}{"y": 2}')], []),
        ([piece(0, "a", "f")], [("a", "f", "")], []),
        ([{"index": 0, "id": "a", "function": {"name": "f", "arguments": {"x": 1}}}], [("a", "f", '{"x": 1}')], []),
        ([{"index": 0, "function": None}, piece(0, "a", "f", "{}")], [("a", "f", "{}")], []),
        ([piece(0, None, "f", "{}"), piece(0, None, "g", "{}")], [("", "f", "{}"), ("", "g", "{}")], ["index_reused"]),
        ([piece(0, "a", "f", "{"), piece(0, "b", "f", "}")], [("a", "f", "{}")], ["id_changed", "name_repeated"]),
        ([{**piece(0, "a", "f", "{"), "index": "0"}, {**piece(0, "b", "g", "{"), "index": 1.0}, piece(0, text="}"),
          piece(1, text="}")], [("a", "f", "{}"), ("b", "g", "{}")], []),
    ],
    ids=["always index 0", "no index, ids", "no index, no ids", "a gap", "out of order", "the id again", "empty id and name",
         "another id", "one id for two", "a name in pieces", "the name again", "a growing name", "arguments first",
         "an empty name first", "no name", "arguments again", "two objects", "no arguments", "an object", "nulls",
         "always index 0, no ids", "an id with each piece", "indexes of other types"],
)  # fmt: skip
def test_what_servers_do(pieces: list[Any], expected: Any, noted: list[str]) -> None:
    """The one reading that is left, and a note where it is not the usual one."""
    turn, grown = stream(*pieces)

    assert calls(turn) == expected
    assert kinds(grown) == noted


def test_a_declared_name_settles_how_pieces_are_read() -> None:
    """`go` and `go` may be a name twice or `gogo`."""
    pieces = [piece(0, "a", "go", "{}"), piece(0, name="go")]
    from analyzer.chat import Tool  # noqa: PLC0415  (a name of this test alone)

    assert stream(*pieces)[0].calls[0].name == "go"
    assert stream(*pieces, tools=[Tool("gogo")])[0].calls[0].name == "gogo"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("stop", "tool_calls"),
        ("tool_calls", "tool_calls"),
        ("length", "length"),
        ("function_call", "tool_calls"),
        (None, "incomplete"),
    ],
)
def test_finish_reasons(sent: str | None, expected: str) -> None:
    """`stop` beside calls means calls; `length` has priority; no reason at all is a stream that broke off."""
    assert stream(piece(0, "a", "f", "{}"), finish=sent)[0].finish_reason == expected


def test_text_reasoning_usage_and_other_choices() -> None:
    """What else a stream holds."""
    grown = ChatStream()
    for chunk in (
        {"choices": [{"index": 0, "delta": {"reasoning_content": "Hm"}}]},
        {
            "choices": [
                {"index": 0, "delta": {"reasoning": "m."}},
                {"index": 1, "delta": {"content": "other"}},
            ]
        },
        {"choices": [{"index": 0, "delta": {"content": "Hel"}}]},
        {"choices": [{"delta": {"content": "lo"}}]},
        {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"total_tokens": 3}},
    ):
        grown.feed(chunk)
    turn = grown.finish()

    assert (turn.content, turn.reasoning_content, turn.finish_reason) == ("Hello", "Hmm.", "stop")
    assert grown.usage == {"total_tokens": 3}
    assert turn.message.content == "Hello"


@pytest.mark.parametrize(
    "line", ["", ": keep-alive", "event: message", "id: 3", "retry: 5", "data:", b"\r\n"]
)
def test_lines_without_data(line: str | bytes) -> None:
    """An event stream holds more than data."""
    grown = ChatStream()
    grown.feed(line)

    assert (grown.chunks, grown.notes) == (0, ())


def test_nothing_counts_after_done() -> None:
    """The stream is over when it says so."""
    grown = ChatStream()
    for line in [*LINES, LINES[1]]:
        grown.feed(line)

    assert grown.pieces == (11,)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("data: {broken", "unreadable_chunk"),
        ("data: 3", "unreadable_chunk"),
        ('data: {"error": {"code": 500, "message": "out of memory"}}', "server_error"),
        ('data: {"choices": [3, {"delta": {"tool_calls": [4, {"index": true}]}}]}', ""),
    ],
)
def test_damaged_streams(line: str, kind: str) -> None:
    """Noted, never raised."""
    grown = ChatStream()
    grown.feed(line)
    grown.finish()

    assert kind == "" or kinds(grown)[0] == kind
    assert set(kinds(grown)) <= set(NOTES)


def test_a_body_in_larger_parts() -> None:
    """Whole events, several at a time, with fields beside the data, count as their lines do; so does one plain chunk."""
    whole, plain = ChatStream(), ChatStream()
    whole.feed("event: chunk\r\n" + "\r\n\r\n".join(LINES[:5]))
    whole.feed("\n\n".join(LINES[5:]).encode())
    plain.feed(
        json.dumps({"choices": [{"delta": {"content": "a\u2028b"}, "finish_reason": "stop"}]}, indent=1)
    )

    assert calls(whole.finish()) == [(RECORDED, "read_file", whole.calls[0].arguments)]
    assert (whole.chunks, whole.pieces, whole.notes) == (13, (11,), ())
    assert (plain.finish().content, plain.notes) == ("a\u2028b", ())


def test_halves_of_a_character() -> None:
    """Two chunks may share one; a half that is left alone is no text."""
    turn, _ = stream(piece(0, "a", "f", '{"x": "\ud83d'), piece(0, text='\ude00\ud83d"}'))

    assert turn.calls[0].decoded() == {"x": "\U0001f600\ufffd"}


def test_a_whole_message_instead_of_deltas() -> None:
    """A server that does not stream, after all."""
    grown = ChatStream()
    message = {"content": "Hm.", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}
    grown.feed({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    turn = grown.finish()

    assert (turn.content, calls(turn)) == ("Hm.", [("a", "f", "{}")])
    assert grown.finish() is turn
    assert kinds(grown) == ["no_index"]


def test_the_old_form_of_one_call() -> None:
    """`function_call` deltas, without index and id."""
    grown = ChatStream()
    for part in ({"name": "f"}, {"arguments": "{"}, {"arguments": "}"}):
        grown.feed(json.dumps({"choices": [{"delta": {"function_call": part}}]}))

    assert calls(grown.finish()) == [("", "f", "{}")]


TAGGED = '<tool_call>{{"name": "{}", "arguments": {{"path": "{}"}}}}</tool_call>'


@pytest.mark.parametrize(
    ("format_", "text", "finish", "expected"),
    [
        ("json_tags", TAGGED.format("read_file", "a"), "stop", [("read_file", '{"path": "a"}')]),
        (
            "json_tags",
            "\n".join(
                [
                    TAGGED.format("read_file", "a"),
                    TAGGED.format("other", "b"),
                    TAGGED.format("read_file", "a"),
                ]
            ),
            "stop",
            [("read_file", '{"path": "a"}'), ("other", '{"path": "b"}'), ("read_file", '{"path": "a"}')],
        ),
        ("json_tags", TAGGED.format("read_file", "Oslo")[:58], "length", [("read_file", '{"path": "Os')]),
        (
            "name_in_id",
            '<|section_begin|><|call_begin|>functions.read_file:3<|call_argument|>{"path": "a"}<|call_end|><|section_end|>',
            "stop",
            [("read_file", '{"path": "a"}')],
        ),
    ],
    ids=["one", "parallel", "cut", "native id"],
)
def test_what_the_runtime_streams(format_: str, text: str, finish: str, expected: Any) -> None:
    """Indexes in order; id, type and whole name in a call's first piece and in no other; nothing to note, at any split."""
    for cut in range(1, len(text)):
        parser, choice = Parser(spec(format_), [READ_FILE]), ChatResponse("m").choice()
        grown, ids = ChatStream(), {}
        events = [*parser.feed(text[:cut]), *parser.feed(text[cut:]), *parser.finish(finish)]
        for chunk in choice.feed(events):
            grown.feed(chunk)
            for entry in chunk["choices"][0]["delta"].get("tool_calls", ()):
                if entry["index"] in ids:
                    assert not {"id", "type"} & set(entry)
                    assert "name" not in entry["function"]
                else:
                    assert (entry["index"], entry["type"]) == (len(ids), "function")
                    ids[entry["index"]] = entry["id"]
                assert entry["index"] == len(ids) - 1
        turn = grown.finish()

        assert [(call.name, call.arguments) for call in turn.calls] == expected
        assert [call.id for call in turn.calls] == list(ids.values())
        assert len({*ids.values()} - {""}) == len(ids)
        assert format_ != "name_in_id" or ids == {0: "functions.read_file:3"}
        assert (grown.notes, turn.finish_reason) == ((), "length" if finish == "length" else "tool_calls")
