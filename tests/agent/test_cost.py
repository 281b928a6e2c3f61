"""What tools add to a prompt."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import regex

from analyzer.agent import Size, tool_cost
from analyzer.chat import Tool
from tests.agent.common import DATA, READ_FILE, rendered

_VOCABULARY = json.loads((DATA / "vocabulary.json").read_text(encoding="utf-8"))
_RANKS = {token: rank for rank, token in enumerate(_VOCABULARY["tokens"])}
_SPECIAL = regex.compile("(" + "|".join(map(regex.escape, _VOCABULARY["special"])) + ")")
_WORDS = regex.compile(_VOCABULARY["pattern"])


def count(text: str) -> int:
    """How many tokens a text has, by byte-pair encoding with the part of a real vocabulary that it takes."""
    total = 0
    for piece in _SPECIAL.split(text):
        if _SPECIAL.fullmatch(piece):
            total += 1
            continue
        for word in _WORDS.findall(piece):
            parts = list(word)
            while len(parts) > 1:
                ranked = [(_RANKS.get(a + b, len(_RANKS)), at) for at, (a, b) in enumerate(pairwise(parts))]
                rank, at = min(ranked)
                if rank == len(_RANKS):
                    break
                parts[at : at + 2] = [parts[at] + parts[at + 1]]
            total += len(parts)
    return total


def prompt(tools: Sequence[Tool]) -> str:
    """A prompt of one question, as the template of a well-known model writes it."""
    system = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
    if tools:
        system += (
            "\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
            "You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
            + "".join("\n" + json.dumps(tool.to_openai()) for tool in tools)
            + "\n</tools>\n\nFor each function call, return a json object with function name and arguments within "
            "<tool_call></tool_call> XML tags:\n<tool_call>\n"
            '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
        )
    return (
        f"<|im_start|>system\n{system}<|im_end|>\n"
        "<|im_start|>user\nWhat is in pom.xml?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_one_small_tool() -> None:
    """155 of 190 tokens; the prompt has 804 characters."""
    cost = tool_cost(prompt, [READ_FILE], count)

    assert cost.with_tools == Size(804, 190)
    assert cost.without_tools.tokens == 35
    assert cost.tools.tokens == 155
    [(name, size)] = cost.each
    assert name == "read_file"
    assert size.characters == len(json.dumps(READ_FILE.to_openai())) + 1
    assert cost.tools == Size(
        size.characters + cost.frame.characters, (size.tokens or 0) + (cost.frame.tokens or 0)
    )


def test_tool_by_tool() -> None:
    """Each tool costs what the prompt is shorter without it; the rest is the frame."""
    long = Tool("write_file", "Write a text file. " * 20, READ_FILE.parameters)
    cost = tool_cost(
        lambda tools: rendered("json_tag_per_call", [{"role": "user", "content": "x"}], list(tools)),
        [READ_FILE, long],
    )
    sizes = dict(cost.each)

    assert sizes["write_file"].characters > sizes["read_file"].characters > 100
    assert cost.tools.characters == sum(size.characters for size in sizes.values()) + cost.frame.characters
    assert cost.tools.tokens is None
    assert "write_file: " in str(cost)


def test_no_tools_cost_nothing() -> None:
    """Nothing is added."""
    assert tool_cost(prompt, []).tools == Size(0)
