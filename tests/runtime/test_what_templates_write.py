"""Formats that generated templates write are read in strict mode and in the default one, however the text is cut.

Each case was found by writing a random template for a random format and reading what it renders with the true spec.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.runtime import STRICT, Options, assemble
from analyzer.spec.model import Addition, Spec
from tests.runtime.checks import check_all_splits, tool

NAME = {"slot": "name"}
KEY = {"slot": "key"}
VALUE = {"slot": "value"}
JSON = {"slot": "arguments", "codec": "json"}
END = {"literal": "<e>"}
CONTENT = {"kind": "content", "end": END}
PYTHON = dict.fromkeys(["string", "array", "object", "integer", "number", "boolean", "null"], "python")
TOOLS = (
    tool(
        "f",
        {
            "city": "string",
            "days": "integer",
            "flag": "boolean",
            "list": "array",
            "deep": "object",
        },
    ),
    tool("g"),
)


def spec(*segments: Any, header: str = "<a>", **more: Any) -> Spec:
    """A spec of these segments."""
    turn = {"header": header, "prompts": [{"text": header}], "segments": list(segments), **more}
    return Spec.model_validate({"turn": turn})


def calls(*parts: Any, **more: Any) -> dict[str, Any]:
    """A calls segment with one sequence layout."""
    return {"kind": "calls", "layouts": [{"kind": "sequence", "parts": list(parts)}], "end": END, **more}


def items(item: list[Any], codecs: Any, separator: str = "") -> dict[str, Any]:
    """Arguments as items."""
    return {"slot": "arguments", "item": item, "codecs": codecs, "separator": separator}


PLAIN = ("<f>", NAME, "<a>", JSON, "</f>")
ITEM = ["<p>", KEY, "=", VALUE, "</p>"]
TAGS = ["<p=", KEY, ">", VALUE, "</p>\n"]
MESSAGES = [
    {"kind": "content", "when": "alone", "open": "<c>final<m>", "end": END},
    {"kind": "content", "when": "beside_calls", "open": "<c>final<m>", "end": {"literal": "<|end|>", "stop": False}},
    {
        "kind": "calls", "open": "<c>commentary<m><:【call】:>[", "close": "]", "separator": ", ", "array": True,
        "layouts": [{"kind": "json", "name": "key"}], "end": END,
    },
]  # fmt: skip
AFTER = [
    {"kind": "content", "when": "alone", "end": END},
    calls(*PLAIN, end=None),
    {"kind": "content", "when": "beside_calls", "open": "\n\n", "end": END},
]
THINK = {
    "kind": "reasoning",
    "open": "<think>\n",
    "close": "\n</think>\n\n",
    "empty": "<think>\n</think>\n\n",
}
ESCAPED = {"string": {"kind": "escaped", "escapes": {"&": "&amp;", "<": "&lt;"}}}
TWO_LAYOUTS = {
    "kind": "calls", "end": END,
    "layouts": [
        {"kind": "sequence", "parts": ['<call tool="', NAME, '">', items(ITEM, {"string": "raw"}), "</call>"]},
        {"kind": "sequence", "parts": ['<call tool="', NAME, '"><json>', JSON, "</json></call>"]},
    ],
}  # fmt: skip
F_G = [("f", {}), ("g", {})]

CASES: dict[str, tuple[Spec, str, str | None, list[tuple[str, Any]]]] = {
    **{
        f"a separator {separator!r} between calls without a section": (
            spec(CONTENT, calls(*PLAIN, separator=separator)),
            f"<f>f<a>{{}}</f>{separator}<f>g<a>{{}}</f><e>", None, F_G,
        )
        for separator in ("\n\n", ", ", "<|sep|>")
    },
    "a separator that no call follows": (
        spec(CONTENT, calls(*PLAIN, separator=", ")), "<f>f<a>{}</f>, and<e>", ", and", [("f", {})],
    ),
    "a section's close with white space in front": (
        spec(CONTENT, calls("«f»", NAME, "»a«", JSON, "»f«", open="«calls»", close="\n»calls«", separator=", ")),
        "«calls»«f»f»a«{}»f«, «f»g»a«{}»f«\n»calls«<e>", None, F_G,
    ),
    "white space of an opener inside content": (spec(*AFTER), "One.\n\nTwo.<e>", "One.\n\nTwo.", []),
    "white space that opens the content behind calls": (
        spec(*AFTER), "<f>f<a>{}</f>\n\nOne.\n\nTwo.<e>", "One.\n\nTwo.", [("f", {})],
    ),
    "white space before the opener of content behind calls, where an overlay opens calls with the opener's bracket": (
        spec(
            {"kind": "content", "when": "alone", "open": "[says]", "close": "[/says]", "end": END},
            calls(*PLAIN, open="[calls]", close="[/calls]", end=None),
            {"kind": "content", "when": "beside_calls", "open": "\n\n[says]", "close": "[/says]", "end": END},
        ).model_copy(update={"overlays": (Addition(overlay="lists", call_opens=("[",)),)}),
        "[calls]<f>f<a>{}</f>[/calls]\n\n[says]One.[/says]<e>", "One.", [("f", {})],
    ),
    "Python strings with both quotes inside": (
        spec(CONTENT, calls("<f=", NAME, ">\n", items(TAGS, {**PYTHON, "string": "raw"}), "</f>")),
        "<f=f>\n<p=list>['item', 'say \"q\" and \\'go\\'']</p>\n</f><e>",
        None, [("f", {"list": ["item", "say \"q\" and 'go'"]})],
    ),
    "Python strings that look like other values, and words before a tag": (
        spec(CONTENT, calls("<f=", NAME, ">\n", items(TAGS, PYTHON), "</f>")),
        "<f=f>\n<p=city>'true'</p>\n<p=flag>True</p>\n<p=days>9007199254740993</p>\n<p=x>None</p>\n</f><e>",
        None, [("f", {"city": "true", "flag": True, "days": 9007199254740993, "x": None})],
    ),
    "a header between two messages that ends in a word": (
        spec(*MESSAGES, header="【im】assistant\n", header_repeats=True),
        '<c>final<m>hi<|end|>【im】assistant\n<c>commentary<m><:【call】:>[{"f": {"x": 1}}]<e>', "hi", [("f", {"x": 1})],
    ),
    "the header's words inside the content": (
        spec(*MESSAGES, header="model\n", header_repeats=True), "<c>final<m>A model\nof it<e>", "A model\nof it", [],
    ),
    "escaped strings beside containers in JSON": (
        spec(CONTENT, calls("<f=", NAME, ">", items(ITEM, ESCAPED), "</f>")),
        '<f=f><p>deep={"a": "b &amp; c"}</p><p>city={a &amp; &lt;b}</p><p>list=["&amp;"]</p></f><e>',
        None, [("f", {"deep": {"a": "b &amp; c"}, "city": "{a & <b}", "list": ["&amp;"]})],
    ),
    **{
        f"numbers beside strings between {opener}": (
            spec(CONTENT, calls("<f=", NAME, ">", items(
                ITEM, {"string": {"kind": "quoted", "open": opener, "close": closer}}), "</f>")),
            f'<f=f><p>city={opener}Paris{closer}</p><p>days=3</p><p>deep={{"a": ["x"]}}</p></f><e>',
            None, [("f", {"city": "Paris", "days": 3, "deep": {"a": ["x"]}})],
        )
        for opener, closer in (('"', '"'), ("<![CDATA[", "]]>"))
    },
    "JSON values of each type in items": (
        spec(CONTENT, calls("<f=", NAME, ">", items(ITEM, {"string": "json"}), "</f>")),
        '<f=f><p>city="Paris"</p><p>days=3</p><p>flag=true</p><p>deep={"a": ["x"]}</p></f><e>',
        None, [("f", {"city": "Paris", "days": 3, "flag": True, "deep": {"a": ["x"]}})],
    ),
    "JSON values between tags that hold the key": (
        spec(CONTENT, calls("<f=", NAME, ">", items(["<", KEY, ">", VALUE, "</", KEY, ">\n"], {"string": "json"}), "</f>")),
        '<f=f><city>"Paris"</city>\n<days>3</days>\n</f><e>', None, [("f", {"city": "Paris", "days": 3})],
    ),
    "a bare list behind content and white space": (
        spec({**CONTENT, "close": "\n\n", "when": "beside_calls"}, calls(
            NAME, "(", items([KEY, "=", VALUE], PYTHON, ", "), ")", open="[", close="]", separator=", ")),
        "So.\n\n[f(city='x')]<e>", "So.", [("f", {"city": "x"})],
    ),
    "an end that begins with the bracket of a list": (
        spec({"kind": "content", "end": {"literal": "[/e]"}}, calls(
            NAME, "(", items([KEY, "=", VALUE], PYTHON, ", "), ")",
            open="[", close="]", separator=", ", end={"literal": "[/e]"})),
        "[f(city='x')][/e]", None, [("f", {"city": "x"})],
    ),
    "content behind what else closes reasoning": (
        spec({"kind": "reasoning", "when": "beside_calls", "open": "<think>", "close": "</think>"},
             {"kind": "content", "when": "alone", "open": "</think>", "end": END}),
        "</think>Hi<e>", "Hi", [],
    ),
    "a section's close that is a word": (
        spec(CONTENT, calls(NAME, "(", items([KEY, "=", VALUE], PYTHON, ", "), ")",
                            open="BEGIN CALLS:", close="END CALLS.", separator="\n")),
        "BEGIN CALLS:f(city='x')\ng()END CALLS.<e>", None, [("f", {"city": "x"}), ("g", {})],
    ),
    "a number before a closer that begins with E": (
        spec(CONTENT, calls("<f=", NAME, ">", items(["BEGIN ARG:", KEY, "=", VALUE, "END ARG."], {"string": "json"}), "</f>")),
        "<f=f>BEGIN ARG:days=3END ARG.BEGIN ARG:flag=trueEND ARG.</f><e>", None, [("f", {"days": 3, "flag": True})],
    ),
    "brackets that no call follows": (
        spec(CONTENT, calls(NAME, "(", items([KEY, "=", VALUE], PYTHON, ", "), ")", open="[", close="]", separator=", ")),
        "[quite] = (x, y); ok<e>", "[quite] = (x, y); ok", [],
    ),
    "reasoning that is spelt as absent": (spec(THINK, CONTENT), "<think>\n</think>\n\nHi<e>", "Hi", []),
    "white space that closes content which nothing ends": (
        spec({"kind": "content", "close": "\n"}), "Hi\n\nyou\n", "Hi\n\nyou", [],
    ),
    "the first of two layouts that begin alike": (
        spec(CONTENT, TWO_LAYOUTS), '<call tool="f"><p>city=Oslo</p></call><e>', None, [("f", {"city": "Oslo"})],
    ),
    "the second of two layouts that begin alike": (
        spec(CONTENT, TWO_LAYOUTS), '<call tool="f"><json>{"city": "Oslo"}</json></call><e>', None, [("f", {"city": "Oslo"})],
    ),
    "the first layout without arguments": (
        spec(CONTENT, TWO_LAYOUTS), '<call tool="g"></call><e>', None, [("g", {})],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("options", [STRICT, Options()], ids=["strict", "default"])
def test_what_templates_write_is_read(name: str, options: Options) -> None:
    """The message is the one that was written, without a problem, at any cut."""
    given, text, content, wanted = CASES[name]
    parsed = assemble(check_all_splits(given, text, TOOLS, options=options))
    assert [problem.kind for problem in parsed.problems] == []
    assert parsed.message.content == content
    assert parsed.message.reasoning_content is None
    assert [(call.name, json.loads(call.arguments)) for call in parsed.message.tool_calls] == wanted


@pytest.mark.parametrize("options", [STRICT, Options()], ids=["strict", "default"])
def test_a_prompt_that_opened_reasoning_which_stays_empty(options: Options) -> None:
    """What is left of the spelling of absent reasoning, behind the part that the prompt has written, is no reasoning."""
    given = spec(
        THINK,
        CONTENT,
        prompts=[{"text": "<a><think>\n"}],
    )
    for text, reasoning in (("</think>\n\nHi<e>", None), ("So.\n</think>\n\nHi<e>", "So.")):
        parsed = assemble(check_all_splits(given, text, options=options))
        assert (parsed.message.content, parsed.message.reasoning_content) == ("Hi", reasoning)
        assert parsed.problems == ()


BROKEN = {
    "two names": ('<t>{"name": "f", "name": "g", "arguments": {}}</t>', "malformed_call"),
    "a key without a value": ('<t>{"name": "f", "arguments": {"a"}}</t>', "malformed_call"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_call_at_any_cut(name: str) -> None:
    """A call is announced once, and a broken value breaks it however it comes."""
    layout = {"kind": "json", "open": "<t>", "close": "</t>", "name": ["name"], "arguments": ["arguments"]}
    text, kind = BROKEN[name]
    parsed = assemble(check_all_splits(spec(CONTENT, {"kind": "calls", "layouts": [layout]}), text, TOOLS))
    assert [problem.kind for problem in parsed.problems] == [kind]
    assert parsed.message.tool_calls == ()


def test_a_broken_value_of_an_item_at_any_cut() -> None:
    """The fast path hands a chunk to the value's scanner at once; that it breaks there is seen."""
    given = spec(CONTENT, calls("<f=", NAME, ">(", items([KEY, "=", VALUE], PYTHON, ", "), ")"))
    for text in ('<f=f>(deep={"")', "<f=f>(deep=[{'a': 1])"):
        parsed = assemble(check_all_splits(given, text, TOOLS))
        assert [problem.kind for problem in parsed.problems] == ["malformed_call"]
