"""SGLang's parser interface for the tests, and requests and streams as the server makes them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from analyzer.chat import Message, Tool, ToolCall
from analyzer.export import export
from analyzer.spec import Spec
from tests.integrations.servers import DOUBLES, installed, real_files

TYPES: Final = "sglang.srt.function_call.core_types"
DETECTOR: Final = "sglang.srt.function_call.base_format_detector"
PARSER: Final = "sglang.srt.function_call.function_call_parser"
REASONING: Final = "sglang.srt.parser.reasoning_parser"
PROTOCOL: Final = "sglang.srt.entrypoints.openai.protocol"
DOUBLED: Final = {
    TYPES: DOUBLES / "sglang_types.py",
    DETECTOR: DOUBLES / "sglang_detector.py",
    PARSER: DOUBLES / "sglang_parser.py",
    REASONING: DOUBLES / "sglang_reasoning.py",
}
"""The interface: each double stands for the module of that name."""
HELD: Final = {
    PROTOCOL: DOUBLES / "sglang_protocol.py",
    "sglang.srt.environ": DOUBLES / "sglang_environ.py",
}
"""Doubles that are there in any case: the modules themselves load the engine."""
OWN: Final = [
    *DOUBLED,
    "sglang.srt.function_call.kimik3_format",
    "sglang.srt.function_call.muse_glimmer_format",
    "sglang.srt.parser.answer_frame",
    "sglang.srt.parser.inkling_tokenizer",
]
"""SGLang's own modules that are run where the archive was fetched; its other detectors are stubs."""
STUBBED: Final = ("sglang", "xgrammar", "orjson", "partial_json_parser")


def own_files() -> dict[str, Path]:
    """The files of SGLang's own modules; none when the archive was not fetched."""
    return real_files("sglang", OWN)


@contextmanager
def sglang(*, own: bool) -> Iterator[None]:
    """Make `import sglang` work, with its own interface or with the doubles."""
    files = {**HELD, **DOUBLED, **(own_files() if own else {})}
    with installed(files, STUBBED):
        yield


@dataclass
class Served:
    """A spec as SGLang serves it: through the exported file."""

    spec: Spec
    name: str
    protocol: Any
    calls: Any
    """SGLang's `FunctionCallParser`."""
    reasoning: Any
    """SGLang's `ReasoningParser`."""

    def tools(self, tools: Sequence[Tool]) -> list[Any]:
        """Tools as a request has them."""
        return [self.protocol.Tool.model_validate(tool.to_openai()) for tool in tools]

    def pair(self, tools: Sequence[Tool], **more: Any) -> tuple[Any, Any]:
        """A reasoning parser, where the format has reasoning, and a tool parser, where there are tools."""
        reasoning = None
        if self.spec.reasoning:
            reasoning = self.reasoning(self.name, tool_call_parser_active=bool(tools), **more)
        return reasoning, self.calls(self.tools(tools), self.name) if tools else None

    def whole(self, text: str, tools: Sequence[Tool], **more: Any) -> Message:
        """The message of a whole output."""
        reasoning, calls = self.pair(tools, **more)
        thought = None
        if reasoning is not None:
            thought, text = reasoning.parse_non_stream(text)
        found: list[Any] = []
        if calls is not None and calls.has_tool_call(text):
            text, found = calls.parse_non_stream(text)
        return Message(
            text or None, thought or None, tuple(ToolCall(item.name, item.parameters) for item in found)
        )

    def streamed(self, pieces: Sequence[str], tools: Sequence[Tool], **more: Any) -> Message:
        """The message that a client puts together from the deltas."""
        reasoning, calls = self.pair(tools, **more)
        thoughts, content = "", ""
        found: list[list[str]] = []
        for number, piece in enumerate([*pieces, ""]):
            last, text = number == len(pieces), piece
            if reasoning is not None:
                thought, text = reasoning.parse_stream_chunk(piece)
                thoughts += thought or ""
                if last:
                    thought, more_text = reasoning.parse_stream_end()
                    thoughts, text = thoughts + (thought or ""), (text or "") + (more_text or "")
            items: list[Any] = []
            if calls is not None:
                text, items = calls.parse_stream_chunk(text)
                if last:
                    more_text, more_items = calls.parse_stream_end()
                    text, items = text + more_text, [*items, *more_items]
            content += text
            for item in items:
                if item.name:
                    assert item.tool_index == len(found)
                    found.append([item.name, ""])
                found[item.tool_index][1] += item.parameters
        return Message(content or None, thoughts or None, tuple(ToolCall(name, text) for name, text in found))


def served(spec: Spec, folder: Path) -> Served:
    """Export a spec and run the file as a process of the server that imports it."""
    text = export("sglang-plugin", spec).payload
    place = folder / "plugin.py"
    place.write_text(text, encoding="utf-8")
    space: dict[str, Any] = {"__name__": "__mp_main__"}
    exec(compile(text, str(place), "exec"), space)  # noqa: S102  (our own file)
    return Served(
        spec,
        space["NAME"],
        importlib.import_module(PROTOCOL),
        importlib.import_module(PARSER).FunctionCallParser,
        importlib.import_module(REASONING).ReasoningParser,
    )
