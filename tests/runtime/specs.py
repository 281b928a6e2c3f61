"""Hand-written specs, one for each kind of format, for the runtime's own tests."""

from __future__ import annotations

from functools import cache
from typing import Any

from analyzer.spec.model import Spec

THINK = {"kind": "reasoning", "open": "<think>\n", "close": "\n</think>\n\n"}
IM = {
    "header": "<|im_start|>assistant\n",
    "prompts": [
        {"text": "<|im_start|>assistant\n"},
        {"text": "<|im_start|>assistant\n", "after": "result"},
        {"set": {"enable_thinking": True}, "text": "<|im_start|>assistant\n<think>\n"},
        {"set": {"enable_thinking": False}, "text": "<|im_start|>assistant\n<think>\n\n</think>\n\n"},
    ],
}
IM_END = {"literal": "<|im_end|>"}
NAME = {"slot": "name"}
KEY = {"slot": "key"}
VALUE = {"slot": "value"}


def _turn(frame: dict[str, Any], *segments: dict[str, Any]) -> dict[str, Any]:
    return {"turn": {**frame, "segments": list(segments)}}


def _items(item: list[Any], codecs: dict[str, str]) -> dict[str, Any]:
    """A turn whose arguments are such items."""
    arguments = {"slot": "arguments", "item": item, "codecs": codecs}
    return _turn(
        {"header": "<bot>", "prompts": [{"text": "<bot>"}]},
        {"kind": "content", "end": {"literal": "<eos>"}},
        {
            "kind": "calls",
            "separator": "\n",
            "end": {"literal": "<eos>"},
            "layouts": [{"kind": "sequence", "parts": ["<run>", NAME, "\n", arguments, "</run>"]}],
        },
    )


def _typed(text: str, *, number: str, flag: str, other: str) -> dict[str, Any]:
    """A slot with a word for each type of value."""
    words = {"string": text, "integer": number, "number": number, "boolean": flag}
    return {"slot": "type", "words": {**words, **dict.fromkeys(["null", "array", "object"], other)}}


def _content(**more: Any) -> list[dict[str, Any]]:
    return [
        {"kind": "content", "when": "alone", "end": IM_END, **more},
        {"kind": "content", "when": "beside_calls", "close": "\n", **more},
    ]


SPECS: dict[str, dict[str, Any]] = {
    # one JSON object in each pair of tags
    "json_tags": _turn(
        IM,
        THINK,
        *_content(),
        {
            "kind": "calls", "separator": "\n", "end": IM_END,
            "layouts": [
                {"kind": "json", "open": "<tool_call>\n", "close": "\n</tool_call>", "name": ["name"],
                 "arguments": ["arguments"],
                 "parts": ['{"name": "', NAME, '", "arguments": ', {"slot": "arguments", "codec": "json"}, "}"]},
            ],
        },
    ),
    # parameters in tags, strings raw, the rest JSON
    "tagged_raw": _turn(
        IM,
        THINK,
        *_content(),
        {
            "kind": "calls", "separator": "\n", "end": IM_END,
            "layouts": [
                {"kind": "sequence", "parts": [
                    "<tool_call>\n<function=", NAME, ">\n",
                    {"slot": "arguments", "item": ["<parameter=", KEY, ">\n", VALUE, "\n</parameter>\n"],
                     "codecs": {"string": "raw"}},
                    "</function>\n</tool_call>"]},
            ],
        },
    ),
    # the same, with an empty line between text and calls
    "tagged_apart": _turn(
        IM,
        THINK,
        {"kind": "content", "when": "alone", "end": IM_END},
        {"kind": "content", "when": "beside_calls", "close": "\n\n"},
        {
            "kind": "calls", "separator": "\n", "end": IM_END,
            "layouts": [
                {"kind": "sequence", "parts": [
                    "<tool_call>\n<function=", NAME, ">\n",
                    {"slot": "arguments", "item": ["<parameter=", KEY, ">\n", VALUE, "\n</parameter>\n"],
                     "codecs": {"string": "raw"}},
                    "</function>\n</tool_call>"]},
            ],
        },
    ),
    # invokes in one wrapper, no line breaks around values
    "invoke_raw": _turn(
        {"header": "<bot>", "prompts": [{"text": "<bot>"}, {"set": {"think": True}, "text": "<bot><think>"}]},
        {"kind": "reasoning", "open": "<think>", "close": "</think>"},
        {"kind": "content", "end": {"literal": "<eos>"}},
        {
            "kind": "calls", "open": "<x:calls>\n", "close": "\n</x:calls>", "separator": "\n",
            "end": {"literal": "<eos>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    '<invoke name="', NAME, '">\n',
                    {"slot": "arguments", "item": ['<parameter name="', KEY, '">', VALUE, "</parameter>\n"],
                     "codecs": {"string": "raw"}},
                    "</invoke>"]},
            ],
        },
    ),
    # an attribute says whether the value is text or JSON
    "typed_attribute": _turn(
        {"header": "<bot>", "prompts": [{"text": "<bot>"}]},
        {"kind": "reasoning", "open": "<think>", "close": "</think>", "empty": "</think>"},
        {"kind": "content", "end": {"literal": "<eos>"}},
        {
            "kind": "calls", "open": "<｜D｜tool_calls>\n", "close": "\n</｜D｜tool_calls>", "separator": "\n",
            "end": {"literal": "<eos>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    '<｜D｜invoke name="', NAME, '">\n',
                    {"slot": "arguments",
                     "item": ['<｜D｜parameter name="', KEY, '" string="',
                              {"slot": "type", "words": {"string": "true", "integer": "false", "number": "false",
                                                         "boolean": "false", "null": "false", "array": "false",
                                                         "object": "false"}},
                              '">', VALUE, "</｜D｜parameter>\n"],
                     "codecs": {"string": "raw"}},
                    "</｜D｜invoke>"]},
            ],
        },
    ),
    # each value in an element named by its type: the closer says it once more
    "typed_elements": _items(
        ["<arg ", KEY, "><", _typed("text", number="number", flag="flag", other="json"), ">", VALUE,
         _typed("</text></arg>\n", number="</number></arg>\n", flag="</flag></arg>\n", other="</json></arg>\n")],
        {"string": "raw"},
    ),
    # raw text, whose closer alone says what type it is of
    "typed_closers": _items(
        ["<arg ", KEY, ">", VALUE, _typed("</text>\n", number="</value>\n", flag="</value>\n", other="</value>\n")],
        {"string": "raw"},
    ),
    # JSON and Python words, the closer escaped behind some types
    "escaped_closers": _items(
        ["<arg ", KEY, ">", VALUE,
         {"slot": "type", "words": {**dict.fromkeys(["string", "array", "object"], "&lt;/arg&gt;\n"),
                                    **dict.fromkeys(["integer", "number", "boolean", "null"], "</arg>\n")}}],
        {"string": "json", "boolean": "python", "null": "python"},
    ),
    # JSON array in tags
    "array_tags": _turn(
        IM,
        *_content(),
        {
            "kind": "calls", "open": "<tool_calls>[", "close": "]</tool_calls>", "separator": ", ", "array": True,
            "end": IM_END,
            "layouts": [{"kind": "json", "name": ["name"], "arguments": ["arguments"]}],
        },
    ),
    # JSON array after a marker, ids behind the arguments
    "array_marker": _turn(
        {"prompts": [{"text": "[/INST]"}]},
        {"kind": "content", "end": {"literal": "</s>"}},
        {
            "kind": "calls", "open": "[TOOL_CALLS] [", "close": "]", "separator": ", ", "array": True,
            "end": {"literal": "</s>"},
            "layouts": [{"kind": "json", "name": ["name"], "arguments": ["arguments"], "id": ["id"]}],
        },
    ),
    # a marker, the name, a marker, JSON
    "name_args": _turn(
        {"prompts": [{"text": "[/INST]"}]},
        {"kind": "reasoning", "open": "[THINK]", "close": "[/THINK]"},
        {"kind": "content", "end": {"literal": "</s>"}},
        {
            "kind": "calls", "end": {"literal": "</s>"},
            "layouts": [{"kind": "sequence",
                         "parts": ["[TOOL_CALLS]", NAME, "[ARGS]", {"slot": "arguments", "codec": "json"}]}],
        },
    ),
    # channels: several messages a turn, recipients, three ends
    "channels": _turn(
        {"header": "<|start|>assistant", "header_repeats": True, "prompts": [{"text": "<|start|>assistant"}]},
        {"kind": "reasoning", "open": "<|channel|>analysis<|message|>", "close": "",
         "end": {"literal": "<|end|>", "stop": False}},
        {"kind": "content", "when": "beside_calls", "open": "<|channel|>commentary<|message|>",
         "end": {"literal": "<|end|>", "stop": False}},
        {"kind": "content", "when": "alone", "open": "<|channel|>final<|message|>",
         "end": {"literal": "<|return|>"}},
        {
            "kind": "calls", "end": {"literal": "<|call|>"},
            "layouts": [
                {"kind": "sequence", "parts": [" to=functions.", NAME, "<|channel|>commentary json<|message|>",
                                               {"slot": "arguments", "codec": "json"}]},
                {"kind": "sequence", "parts": ["<|channel|>commentary to=functions.", NAME,
                                               " <|constrain|>json<|message|>",
                                               {"slot": "arguments", "codec": "json"}]},
            ],
        },
    ),
    # Python calls in a list between markers
    "python_calls": _turn(
        IM,
        *_content(),
        {
            "kind": "calls", "open": "<|tool_call_start|>[", "close": "]<|tool_call_end|>", "separator": ", ",
            "end": IM_END,
            "layouts": [
                {"kind": "sequence", "parts": [
                    NAME, "(",
                    {"slot": "arguments", "item": [KEY, "=", VALUE], "separator": ", ",
                     "codecs": dict.fromkeys(
                         ["string", "integer", "number", "boolean", "null", "array", "object"], "python")},
                    ")"]},
            ],
        },
    ),
    # Python calls between tags, one a line
    "python_lines": _turn(
        IM,
        *_content(),
        {
            "kind": "calls", "open": "<function_calls>", "close": "</function_calls>", "separator": "\n",
            "end": IM_END,
            "layouts": [
                {"kind": "sequence", "parts": [
                    NAME, "(",
                    {"slot": "arguments", "item": [KEY, "=", VALUE], "separator": ", ",
                     "codecs": dict.fromkeys(
                         ["string", "integer", "number", "boolean", "null", "array", "object"], "json")},
                    ")"]},
            ],
        },
    ),
    # bare keys and quotes of its own
    "dialect": _turn(
        {"header": "<|turn>model\n", "prompts": [{"text": "<|turn>model\n"}]},
        {"kind": "reasoning", "open": "<|channel>thought\n", "close": "<channel|>"},
        {"kind": "content", "end": {"literal": "<turn|>"}},
        {
            "kind": "calls", "end": {"literal": "<|tool_response>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    "<|tool_call>call:", NAME,
                    {"slot": "arguments", "codec": {"kind": "dialect", "quote": '<|"|>'}}, "<tool_call|>"]},
            ],
        },
    ),
    # the argument's name is the tag, containers are nested tags
    "nested_tags": _turn(
        {"header": "<bot>", "prompts": [{"text": "<bot>"}, {"set": {"mode": "on"}, "text": "<bot><mm:think>"}]},
        {"kind": "reasoning", "open": "<mm:think>", "close": "</mm:think>"},
        {"kind": "content", "end": {"literal": "<eos>"}},
        {
            "kind": "calls", "open": "]<]n[>[<tool_call>\n", "close": "]<]n[>[</tool_call>", "separator": "",
            "end": {"literal": "<eos>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    ']<]n[>[<invoke name="', NAME, '">',
                    {"slot": "arguments", "item": ["]<]n[>[<", KEY, ">", VALUE, "]<]n[>[</", KEY, ">"],
                     "codecs": {"string": "raw", "integer": "raw", "number": "raw", "boolean": "raw", "null": "raw",
                                "array": {"kind": "nested", "array_key": "item"},
                                "object": {"kind": "nested", "array_key": "item"}}},
                    "]<]n[>[</invoke>\n"]},
            ],
        },
    ),
    # pairs of key and value
    "pairs": _turn(
        {"header": "<|assistant|>", "prompts": [{"text": "<|assistant|>"},
                                                {"set": {"think": True}, "text": "<|assistant|><think>"}]},
        {"kind": "reasoning", "open": "<think>", "close": "</think>"},
        {"kind": "content", "end": {"literal": "<|user|>"}},
        {
            "kind": "calls", "end": {"literal": "<|observation|>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    "<tool_call>", NAME,
                    {"slot": "arguments", "item": ["<arg_key>", KEY, "</arg_key><arg_value>", VALUE, "</arg_value>"],
                     "codecs": {"string": "raw"}},
                    "</tool_call>"]},
            ],
        },
    ),
    # pairs, one a line
    "pairs_lines": _turn(
        {"header": "<|assistant|>", "prompts": [{"text": "<|assistant|>"}]},
        {"kind": "content", "end": {"literal": "<|user|>"}},
        {
            "kind": "calls", "separator": "\n", "end": {"literal": "<|observation|>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    "<tool_call>", NAME, "\n",
                    {"slot": "arguments",
                     "item": ["<arg_key>", KEY, "</arg_key>\n<arg_value>", VALUE, "</arg_value>\n"],
                     "codecs": {"string": "raw"}},
                    "</tool_call>"]},
            ],
        },
    ),
    # nothing but JSON
    "bare_json": _turn(
        {"header": "<|a|>\n\n", "prompts": [{"text": "<|a|>\n\n"}]},
        {"kind": "content", "when": "alone", "end": {"literal": "<|eot|>"}},
        {
            "kind": "calls", "end": {"literal": "<|eot|>"},
            "layouts": [{"kind": "json", "name": ["name"], "arguments": ["parameters"]}],
        },
    ),
    # nothing but a JSON array, after reasoning
    "bare_array": _turn(
        {"header": "<|a|>\n", "prompts": [{"text": "<|a|>\n"}, {"set": {"think": True}, "text": "<|a|>\n<think>\n"}]},
        THINK,
        {"kind": "content", "when": "alone", "end": {"literal": "<|eot|>"}},
        {
            "kind": "calls", "open": "[", "close": "]", "array": True, "separator": ", ",
            "end": {"literal": "<|eot|>"},
            "layouts": [{"kind": "json", "name": ["name"], "arguments": ["parameters"]}],
        },
    ),
    # the id is all there is
    "name_in_id": _turn(
        {"header": "<|im_assistant|>", "prompts": [{"text": "<|im_assistant|>"}]},
        {"kind": "reasoning", "open": "<think>", "close": "</think>"},
        {"kind": "content", "end": IM_END},
        {
            "kind": "calls", "open": "<|section_begin|>", "close": "<|section_end|>", "end": IM_END,
            "layouts": [
                {"kind": "sequence", "parts": [
                    "<|call_begin|>", {"slot": "id", "pattern": "functions.{name}:{index}"}, "<|call_argument|>",
                    {"slot": "arguments", "codec": "json"}, "<|call_end|>"]},
            ],
        },
    ),
    # JSON in a code fence
    "fenced": _turn(
        {"header": "<｜A｜>", "prompts": [{"text": "<｜A｜>"}]},
        {"kind": "content", "end": {"literal": "<｜eos｜>"}},
        {
            "kind": "calls", "open": "<｜calls▁begin｜>", "close": "<｜calls▁end｜>", "separator": "\n",
            "end": {"literal": "<｜eos｜>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    "<｜call▁begin｜>function<｜sep｜>", NAME, "\n```json\n", {"slot": "arguments", "codec": "json"},
                    "\n```<｜call▁end｜>"]},
            ],
        },
    ),
    # a section of invokes in call markers
    "marked_invokes": _turn(
        {"header": "<｜A｜>", "prompts": [{"text": "<｜A｜>"}]},
        {"kind": "content", "end": {"literal": "<｜eos｜>"}},
        {
            "kind": "calls", "open": "<｜calls_begin｜>", "close": "<｜calls_end｜>", "end": {"literal": "<｜eos｜>"},
            "layouts": [
                {"kind": "sequence", "parts": [
                    '<｜call_begin｜>function<｜sep｜><s:invoke name="', NAME, '">',
                    {"slot": "arguments", "item": ['<s:parameter name="', KEY, '">', VALUE, "</s:parameter>"],
                     "codecs": {"string": "raw"}},
                    "</s:invoke><｜call_end｜>"]},
            ],
        },
    ),
    # two markers and a JSON object
    "plugin": _turn(
        IM,
        *_content(),
        {
            "kind": "calls", "end": IM_END,
            "layouts": [{"kind": "json", "open": "<|action_start|><|plugin|>\n", "close": "<|action_end|>",
                         "name": ["name"], "arguments": ["parameters"]}],
        },
    ),
    # a header without markers
    "plain_header": _turn(
        {"header": "<|im_start|>assistant", "prompts": [{"text": "<|im_start|>assistant"}]},
        {"kind": "content", "open": "\n", "end": IM_END},
        {
            "kind": "calls", "open": " -> tool/function_call\n[", "close": "]", "separator": ", ", "array": True,
            "end": IM_END,
            "layouts": [{"kind": "json", "name": ["name"], "arguments": ["arguments"]}],
        },
    ),
    # wrapped content, ids before the name, a counter
    "wrapped": _turn(
        {"header": "<|bot|>", "prompts": [{"text": "<|bot|>"}]},
        {"kind": "reasoning", "open": "<|think_start|>", "close": "<|think_end|>"},
        {"kind": "content", "open": "<|say_start|>", "close": "<|say_end|>", "end": {"literal": "<|done|>"}},
        {
            "kind": "calls", "open": "<|act_start|>[\n", "close": "\n]<|act_end|>", "separator": ",\n", "array": True,
            "end": {"literal": "<|done|>"},
            "layouts": [{"kind": "json", "name": ["tool_name"], "arguments": ["parameters"], "id": ["tool_call_id"]}],
        },
    ),
    # the name is the key
    "name_is_key": _turn(
        {"header": "<|bot|>", "prompts": [{"text": "<|bot|>"}]},
        {"kind": "content"},
        {
            "kind": "calls", "open": "<|tools|>[", "close": "]<|/tools|>", "separator": ", ", "array": True,
            "layouts": [{"kind": "json", "name": "key"}],
        },
    ),
    # arguments as JSON text, nested paths
    "json_text": _turn(
        IM,
        *_content(),
        {
            "kind": "calls", "end": IM_END,
            "layouts": [{"kind": "json", "open": "<call>", "close": "</call>", "name": ["function", "name"],
                         "arguments": ["function", "arguments"], "arguments_codec": "json_text", "id": ["id"]}],
        },
    ),
    # strings raw between quotes, containers JSON
    "quoted": _turn(
        IM,
        *_content(),
        {
            "kind": "calls", "open": "<|tool_call_start|>[", "close": "]<|tool_call_end|>", "separator": ", ",
            "end": IM_END,
            "layouts": [
                {"kind": "sequence", "parts": [
                    NAME, "(",
                    {"slot": "arguments", "item": [KEY, "=", VALUE], "separator": ", ",
                     "codecs": {"string": {"kind": "quoted", "open": "'", "close": "'"}, "integer": "python",
                                "number": "python", "boolean": "python", "null": "python"}},
                    ")"]},
            ],
        },
    ),
}  # fmt: skip


@cache
def spec(name: str) -> Spec:
    """Return one of the specs above."""
    return Spec.model_validate(SPECS[name])
