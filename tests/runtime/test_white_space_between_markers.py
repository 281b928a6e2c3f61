"""Markers that the template writes without anything between them, and models with line breaks: the same calls.

The other half: a literal that closes a call and ends the turn in one, whose end a server took off.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.analysis import analyze
from analyzer.render import InProcessRenderer
from analyzer.runtime import STRICT, Options, assemble, parse
from analyzer.runtime.literals import OK, Lit
from analyzer.spec.model import Spec
from analyzer.template import Template
from tests.generated.check import TOOLS
from tests.runtime.checks import check_all_splits, run, tool
from tests.runtime.golden import Golden, golden_specs, turns, unreadable

NAME: Final = {"slot": "name"}
KEY: Final = {"slot": "key"}
VALUE: Final = {"slot": "value"}
RAW: Final = {"string": "raw"}
END: Final = {"literal": "<|eot|>"}
BREAK: Final = "¶"
"""Where a model may write white space that the template does not."""
WHITE: Final = ("", "\n", " \n\t ", "\r\n\n")
DECLARED: Final = (
    tool("f", {"x": "string", "n": "integer", "l": "array", "o": "object"}),
    tool("g", {}),
)


def spec_of(*parts: Any, **calls: Any) -> Spec:
    """A spec whose calls are such a sequence."""
    layout = {"kind": "sequence", "parts": list(parts)}
    segments = [
        {"kind": "content", "end": END},
        {"kind": "calls", "layouts": [layout], "end": END, **calls},
    ]
    return Spec.model_validate({"turn": {"header": "<|bot|>", "segments": segments}})


def items(*item: Any, **more: Any) -> dict[str, Any]:
    """Arguments as items of strings as they are."""
    return {"slot": "arguments", "item": list(item), "codecs": RAW, **more}


FORMATS: Final[dict[str, tuple[Spec, str]]] = {
    "key and value each in tags": (
        spec_of(
            "<tool_call>", NAME,
            items("<arg_key>", KEY, "</arg_key><arg_value>", VALUE, "</arg_value>"),
            "</tool_call>",
        ),
        ("<tool_call>f¶<arg_key>x</arg_key>¶<arg_value>V</arg_value>¶<arg_key>n</arg_key>¶<arg_value>3</arg_value>¶</tool_call>"
        "¶<tool_call>g</tool_call>"),
    ),
    "a key in an attribute, a tag around the value": (
        spec_of(
            '<calls><call name="', NAME, '">',
            items('<arg key="', KEY, '"><v>', VALUE, "</v></arg>"),
            "</call></calls>",
        ),
        ('<calls>¶<call name="f">¶<arg key="x">¶<v>V</v>¶</arg>¶<arg key="n">¶<v>3</v>¶</arg>¶</call>¶</calls>'
        '¶<calls>¶<call name="g">¶</call>¶</calls>'),
    ),
    "a key that a lone bracket ends": (
        spec_of(
            "<|calls|><|call|><fn=", NAME, "><args>",
            items("<arg=", KEY, "><v>", VALUE, "</v></arg>"),
            "</args><|end_call|><|end_calls|>",
        ),
        ("<|calls|>¶<|call|>¶<fn=f>¶<args>¶<arg=x>¶<v>V</v>¶</arg>¶<arg=n>¶<v>3</v>¶</arg>¶</args>¶<|end_call|>¶<|end_calls|>"
        "¶<|calls|>¶<|call|>¶<fn=g>¶<args>¶</args>¶<|end_call|>¶<|end_calls|>"),
    ),
    "markers in square brackets": (
        spec_of(
            "[TOOL_CALLS][NAME]", NAME, "[/NAME][ARGS]",
            {"slot": "arguments", "codec": "json"}, "[/ARGS][/TOOL_CALLS]",
        ),
        ('[TOOL_CALLS]¶[NAME]f[/NAME]¶[ARGS]¶{"x": "V", "n": 3}¶[/ARGS]¶[/TOOL_CALLS]'
        "¶[TOOL_CALLS]¶[NAME]g[/NAME]¶[ARGS]¶{}¶[/ARGS]¶[/TOOL_CALLS]"),
    ),
    "a section whose ends are two markers each": (
        spec_of(
            "<call>", NAME, "</name><args>", {"slot": "arguments", "codec": "json"}, "</args></call>",
            open="<|tools|><calls>", close="</calls><|end_tools|>",
        ),
        ('<|tools|>¶<calls>¶<call>f</name>¶<args>¶{"x": "V", "n": 3}¶</args>¶</call>'
        "¶<call>g</name>¶<args>¶{}¶</args>¶</call>¶</calls>¶<|end_tools|>"),
    ),
    "separators between arguments": (
        spec_of(
            "<call><name>", NAME, "</name><arg>",
            items("<k>", KEY, "</k><v>", VALUE, "</v>", separator="</arg><arg>"),
            "</arg></call>",
        ),
        ("<call>¶<name>f</name>¶<arg>¶<k>x</k>¶<v>V</v>¶</arg>¶<arg>¶<k>n</k>¶<v>3</v>¶</arg>¶</call>"
        "¶<call>¶<name>g</name>¶<arg>¶</arg>¶</call>"),
    ),
    "a bracket behind a marker": (
        spec_of(
            NAME, "(",
            {"slot": "arguments", "item": [KEY, "=", VALUE], "separator": ", ", "codecs": {"string": "python"}}, ")",
            open="<|calls|>[", close="]<|end_calls|>", separator=", ",
        ),
        "<|calls|>¶[¶f(x='V', n=3), g()¶]<|end_calls|>",
    ),
}  # fmt: skip
BOTH: Final = [("f", {"x": "V", "n": 3}), ("g", {})]


def calls_of(message: Any) -> list[tuple[str, Any]]:
    """Names and decoded arguments."""
    return [(call.name, json.loads(call.arguments)) for call in message.tool_calls]


@pytest.mark.parametrize("white", WHITE)
@pytest.mark.parametrize("name", FORMATS)
def test_white_space_between_markers_is_nothing(name: str, white: str) -> None:
    """Each format, by default and however the text is cut; no problem, no content."""
    format_spec, text = FORMATS[name]
    parsed = assemble(check_all_splits(format_spec, text.replace(BREAK, white) + "<|eot|>", DECLARED))
    assert calls_of(parsed.message) == BOTH
    assert (parsed.message.content, parsed.problems) == (None, ())


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_each_place_has_white_space_of_its_own(name: str, data: st.DataObject) -> None:
    """Some line breaks and some not."""
    format_spec, text = FORMATS[name]
    text = re.sub(BREAK, lambda _: data.draw(st.text(" \t\r\n", max_size=5)), text)
    parsed = parse(format_spec, text, tools=DECLARED)
    assert calls_of(parsed.message) == BOTH
    assert (parsed.message.content, parsed.problems) == (None, ())


@pytest.mark.parametrize(
    "options", [STRICT, Options(soft_white_space=False)], ids=["strict", "without the rule"]
)
@pytest.mark.parametrize("name", FORMATS)
def test_without_the_rule_only_the_templates_own_spelling_is_read(name: str, options: Options) -> None:
    """`soft_white_space` governs it."""
    format_spec, text = FORMATS[name]
    own = parse(format_spec, text.replace(BREAK, "") + "<|eot|>", tools=DECLARED, options=options)
    assert (calls_of(own.message), own.problems) == (BOTH, ())
    other = parse(format_spec, text.replace(BREAK, "\n") + "<|eot|>", tools=DECLARED, options=options)
    assert (calls_of(other.message), other.problems) != (BOTH, ())


@pytest.mark.parametrize(
    "value",
    [
        "",
        " a",
        "a\n",
        "\n a \n\n",
        "<v>",
        "</v>",
        "</v>x</arg>",
        "</arg_value>\n",
        "x</call></calls>y",
        "</tool_call>z",
    ],
)
@pytest.mark.parametrize("white", WHITE)
@pytest.mark.parametrize("name", list(FORMATS)[:3])
def test_a_value_keeps_what_it_holds(name: str, white: str, value: str) -> None:
    """White space beside a value is the value's own, and a closer inside of it that no structure follows."""
    format_spec, text = FORMATS[name]
    parsed = assemble(check_all_splits(format_spec, text.replace(BREAK, white).replace("V", value), DECLARED))
    assert calls_of(parsed.message) == [("f", {"x": value, "n": 3}), ("g", {})]


def test_a_call_that_was_lost() -> None:
    """The text that showed it: line breaks between all tags but the calls'."""
    text = (
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Beijing</arg_value>\n<arg_key>date</arg_key>\n"
        "<arg_value>2024-06-27</arg_value>\n</tool_call><tool_call>get_all</tool_call>"
    )
    weather = tool("get_weather", {"city": "string", "date": "string"})
    parsed = parse(FORMATS["key and value each in tags"][0], text, tools=[weather, tool("get_all", {})])
    assert calls_of(parsed.message) == [
        ("get_weather", {"city": "Beijing", "date": "2024-06-27"}),
        ("get_all", {}),
    ]
    assert parsed.problems == ()


_BETWEEN: Final = re.compile(r"(?<=[\w\"'/|｜]>)(?=<[\w/|｜])|(?<=[A-Z]\])(?=\[[A-Z/])")


def _spread(value: Any) -> Any:
    """The same literals, with a line break between two markers."""
    if isinstance(value, str):
        return _BETWEEN.sub("\n", value)
    if isinstance(value, list):
        return [_spread(one) for one in value]
    return {key: _spread(one) for key, one in value.items()} if isinstance(value, dict) else value


def _spread_specs() -> list[tuple[Golden, Golden]]:
    """Proven specs whose calls have markers side by side, and the same spread out."""
    found = []
    for golden in golden_specs():
        dumped = golden.spec.model_dump(mode="json")
        for segment in dumped["turn"]["segments"]:
            if segment["kind"] == "calls":
                segment.update(
                    {key: _spread(segment[key]) for key in ("open", "close", "separator", "layouts")}
                )
        spread = Spec.model_validate(dumped)
        if spread.turn != golden.spec.turn:
            found.append((golden, Golden(golden.name, spread)))
    return found


SPREAD: Final = _spread_specs()


def test_proven_formats_have_markers_side_by_side() -> None:
    """Enough of them for the next test to say something."""
    assert len(SPREAD) >= 10


@pytest.mark.parametrize(("golden", "spread"), [pytest.param(*pair, id=pair[0].name) for pair in SPREAD])
def test_turns_of_proven_formats_with_line_breaks(golden: Golden, spread: Golden) -> None:
    """They are read as those without: names, arguments, content, reasoning and problems."""
    for (message, own), (_, other) in zip(turns(golden), turns(spread), strict=True):
        if unreadable(golden.spec, message):
            continue
        usual = assemble(run(golden.spec, [own], TOOLS, prompt=golden.spec.turn.header))
        parsed = assemble(run(golden.spec, [other], TOOLS, prompt=golden.spec.turn.header))
        assert parsed.message == usual.message, other
        assert [item.kind for item in parsed.problems] == [item.kind for item in usual.problems], other


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("</k><v>", ("</k>", "<v>")),
        ("><v>", (">", "<v>")),
        ("<|a|><|b|>", ("<|a|>", "<|b|>")),
        ("<｜a▁b｜><｜c｜>", ("<｜a▁b｜>", "<｜c｜>")),
        ("[A][/B]", ("[A]", "[/B]")),
        ("<a>[", ("<a>", "[")),
        ('<a>{"name": "', ("<a>", '{"name": "')),
        ("<a>\n<b><c>", ("<a>", "<b>", "<c>")),
        ("<|a|>", ("<|a|>",)),
        ('[{"', ('[{"',)),
        ('{"name": "', ('{"name": "',)),
        ("]<]m[>[<a>", ("]<]m[>[<a>",)),
        ("]<|a|>", ("]<|a|>",)),
        ("->[", ("->[",)),
    ],
)
def test_where_a_literal_may_have_white_space(text: str, tokens: tuple[str, ...]) -> None:
    """Between two whole markers, nowhere inside one; as written it is matched at once, in strict mode only so."""
    assert Lit(text, soft=True).tokens == tokens
    assert Lit(text, soft=True).match(text, 0, 0, final=True) == (OK, len(text), len(tokens))
    assert Lit(text, soft=False).tokens == (text,)


# ----------------------------------------------------------------------------------------- an end that was taken off

FRAME: Final = """
{%- for message in messages -%}
    {%- if message.role == 'assistant' -%}
        {{- '<|assistant|>' -}}
        {%- if message.tool_calls -%}
            {%- for call in message.tool_calls -%}CALL{%- endfor -%}
        {%- else -%}
            {{- message.content + '<|eot|>' -}}
        {%- endif -%}
    {%- else -%}
        {{- '<|' + message.role + '|>' + message.content + '<|eot|>' -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}
"""
TAGGED: Final = (
    "{{- '<fn_calls><call>' + call.function.name + '\\n' -}}"
    "{%- for key, value in call.function.arguments | items -%}"
    "{{- '<p=' + key + '>' + (value if value is string else value | tojson) + '</p>\\n' -}}{%- endfor -%}"
)
OBJECT: Final = (
    """{{- '<fn_calls><call>{"name": "' + call.function.name + '", "arguments": ' -}}"""
    """{{- (call.function.arguments | tojson) + '}' -}}"""
)
TAGGED_TEXT: Final = "<fn_calls><call>f\n<p=x>A</p>\n<p=n>3</p>\n"
OBJECT_TEXT: Final = '<fn_calls><call>{"name": "f", "arguments": {"x": "A", "n": 3}}'
ENDED: Final[dict[str, tuple[str, str, str]]] = {
    "two tags and the end": (TAGGED, TAGGED_TEXT, "</call></fn_calls>"),
    "one tag and the end": (
        TAGGED.replace("<fn_calls>", ""),
        TAGGED_TEXT.replace("<fn_calls>", ""),
        "</call>",
    ),
    "a line break between the tags": (TAGGED, TAGGED_TEXT, "</call>\n</fn_calls>"),
    "an object": (OBJECT, OBJECT_TEXT, "</call></fn_calls>"),
}


def _ended(name: str) -> Template:
    """A template whose each call ends with its closer and the end of the message in one."""
    call, _, closer = ENDED[name]
    written = closer.replace("\n", "\\n")
    return Template(name, FRAME.replace("CALL", call + "{{- '" + written + "<|eot|>' -}}"))


@pytest.fixture(scope="module")
def ended() -> dict[str, Spec]:
    """The spec of each such template, inferred once."""
    return {name: analyze(_ended(name), renderer=InProcessRenderer(), verify=False).spec for name in ENDED}


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("behind", ["", "\n", "<|eot|>"])
@pytest.mark.parametrize("name", ENDED)
def test_the_end_that_closes_a_call_too_may_be_missing(
    ended: dict[str, Spec], name: str, behind: str, finish: str
) -> None:
    """What stands of the closer is markup, not content, and nothing is said to be missing."""
    _, text, closer = ENDED[name]
    events = check_all_splits(ended[name], text + closer + behind, DECLARED, finish)
    parsed = assemble(events)
    assert calls_of(parsed.message) == [("f", {"x": "A", "n": 3})]
    assert (parsed.message.content, parsed.problems) == (None, ())


@pytest.mark.parametrize("name", ENDED)
def test_more_than_the_end_is_missing(ended: dict[str, Spec], name: str) -> None:
    """A closer without its last marker of its own is said to be missing; what stands there is no content either."""
    _, text, closer = ENDED[name]
    first, last = re.fullmatch(r"(.*?)\s*(<[^<]*>)", closer, re.DOTALL).groups()  # type: ignore[union-attr]
    parsed = assemble(check_all_splits(ended[name], text + first, DECLARED))
    assert calls_of(parsed.message) == [("f", {"x": "A", "n": 3})]
    assert parsed.message.content is None
    assert [(item.kind, last in item.message) for item in parsed.problems] == [("missing_close", True)]


@pytest.mark.parametrize("name", ENDED)
def test_text_behind_an_end_that_is_missing(ended: dict[str, Spec], name: str) -> None:
    """Where the text goes on, the end is missing, and the text is content without any of the closer."""
    _, text, closer = ENDED[name]
    parsed = assemble(check_all_splits(ended[name], text + closer + "So be it.", DECLARED))
    assert calls_of(parsed.message) == [("f", {"x": "A", "n": 3})]
    assert parsed.message.content == "So be it."
    assert [item.kind for item in parsed.problems] == ["missing_close"]


def test_a_section_that_ends_the_turn() -> None:
    """The section's closer and the turn's end in one."""
    format_spec = spec_of(
        "<call>", NAME, "</name>", items("<k>", KEY, "</k><v>", VALUE, "</v>"), "</call>",
        open="<calls>", close="</calls><|eot|>",
    )  # fmt: skip
    text = "<calls><call>f</name><k>x</k><v>A</v></call></calls>"
    for behind in ("", "\n", "<|eot|>"):
        parsed = assemble(check_all_splits(format_spec, text + behind, DECLARED))
        assert calls_of(parsed.message) == [("f", {"x": "A"})]
        assert (parsed.message.content, parsed.problems) == (None, ())


def test_a_broken_call_does_not_swallow_the_end() -> None:
    """What ends the turn ends it also behind a call that is not whole, where the call's closer holds it."""
    format_spec = spec_of(
        "<call>", NAME, "</name>", items("<k>", KEY, "</k><v>", VALUE, "</v>"), "</call></calls><|eot|>"
    )
    parsed = assemble(check_all_splits(format_spec, "<call>f</name>???<|eot|>More.", DECLARED))
    assert parsed.message.content is None
    assert [item.kind for item in parsed.problems] == ["malformed_call", "text_after_end"]
