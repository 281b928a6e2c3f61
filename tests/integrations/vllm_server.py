"""vLLM's parser interface for the tests, and requests and streams as the server makes them."""

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
from tests.integrations.servers import DOUBLES, Tokenizer, installed, real_files

PROTOCOL: Final = "vllm.entrypoints.generate.base.protocol"
CHAT: Final = "vllm.entrypoints.openai.chat_completion.protocol"
TOOL_PARSER: Final = "vllm.tool_parsers.abstract_tool_parser"
REASONING: Final = "vllm.reasoning.abs_reasoning_parsers"
PARSER: Final = "vllm.parser.abstract_parser"
DOUBLED: Final = {
    PROTOCOL: DOUBLES / "vllm_protocol.py",
    CHAT: DOUBLES / "vllm_chat.py",
    TOOL_PARSER: DOUBLES / "vllm_tool_parser.py",
    REASONING: DOUBLES / "vllm_reasoning.py",
    PARSER: DOUBLES / "vllm_parser.py",
}
"""The interface: each double stands for the module of that name."""
HELD: Final = {
    "vllm.entrypoints.serve.engine.protocol": DOUBLES / "vllm_engine.py",
    "vllm.sampling_params": DOUBLES / "vllm_sampling.py",
}
"""Doubles that are there in any case: the modules themselves load the engine."""
OWN: Final = [
    PROTOCOL,
    CHAT,
    TOOL_PARSER,
    REASONING,
    PARSER,
    "vllm.exceptions",
    "vllm.parser.engine.adapters",
    "vllm.parser.engine.parser_engine_config",
    "vllm.parser.chat_parsing",
    "vllm.parser.chat_parsing.content_parsers",
    "vllm.parser.chat_parsing.response_parser",
    "vllm.parser.chat_parsing.response_templates",
    "vllm.parser.parser_manager",
    "vllm.parser.response_template",
    "vllm.parser.response_template_grammar",
    "vllm.reasoning",
    "vllm.tool_parsers",
    "vllm.tool_parsers.tool_strict_level",
    "vllm.utils.collection_utils",
    "vllm.utils.import_utils",
]
"""vLLM's own modules that are run where the archive was fetched."""
STUBBED: Final = ("vllm", "xgrammar", "prometheus_client", "torch")


def own_files() -> dict[str, Path]:
    """The files of vLLM's own modules; none when the archive was not fetched."""
    return real_files("vllm", OWN)


@contextmanager
def vllm(*, own: bool) -> Iterator[None]:
    """Make `import vllm` work, with its own interface or with the doubles."""
    files = {**HELD, **DOUBLED, **(own_files() if own else {})}
    with installed(files, STUBBED):
        yield


@dataclass
class Served:
    """A spec as vLLM serves it: through the exported file."""

    spec: Spec
    tokenizer: Tokenizer
    parser_cls: Any
    chat: Any
    """vLLM's module of requests."""

    def request(self, tools: Sequence[Tool] = (), choice: Any = "auto", **more: Any) -> Any:
        """A request with tools."""
        declared = [tool.to_openai() for tool in tools] or None
        chosen = {"type": "function", "function": {"name": choice}} if choice not in _WORDS else choice
        if hasattr(self.chat, "ChatCompletionMessageParam"):  # vLLM's own requests must have some messages
            more |= {"model": "m", "messages": [self.chat.ChatCompletionMessageParam()]}
        return self.chat.ChatCompletionRequest(
            tools=declared, tool_choice=chosen if declared else "none", **more
        )

    def parser(self, request: Any) -> Any:
        """A pair of parsers for one choice."""
        return self.parser_cls(
            self.tokenizer, request.tools, chat_template_kwargs=request.chat_template_kwargs or {}
        )

    def whole(self, text: str, request: Any, prompt: str) -> Message:
        """The message of a whole output."""
        parser = self.parser(request)
        parser.set_prompt_token_ids(self.tokenizer.encode(prompt))
        reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True)
        found = tuple(ToolCall(call.name, call.arguments, call.id) for call in calls or ())
        return Message(content or None, reasoning or None, found)

    def streamed(self, pieces: Sequence[str], request: Any, prompt: str) -> Message:
        """The message that a client puts together from the deltas."""
        return put_together(list(self.deltas(pieces, request, prompt)))

    def deltas(self, pieces: Sequence[str], request: Any, prompt: str) -> Iterator[Any]:
        """The deltas of a stream."""
        parser, ids = self.parser(request), self.tokenizer.encode(prompt)
        for number, piece in enumerate([*pieces, ""]):
            said = parser.parse_delta(
                piece, self.tokenizer.encode(piece), request, ids, finished=number == len(pieces)
            )
            if said is not None:
                yield said


_WORDS = ("auto", "none", "required", None)


def put_together(deltas: Sequence[Any]) -> Message:
    """A message from deltas: pieces are joined by index, and each call has its head once."""
    content, reasoning = "", ""
    calls: list[list[Any]] = []
    for delta in deltas:
        content += delta.content or ""
        reasoning += delta.reasoning or ""
        for piece in delta.tool_calls:
            if piece.id is not None:
                assert piece.index == len(calls)
                assert piece.type == "function"
                calls.append([piece.function.name, "", piece.id])
            else:
                assert piece.function.name is None
            calls[piece.index][1] += piece.function.arguments or ""
    return Message(
        content or None, reasoning or None, tuple(ToolCall(name, text, ident) for name, text, ident in calls)
    )


def served(spec: Spec, folder: Path, *, reasoning: bool = True, tools: bool = True) -> Served:
    """Export a spec, load the file as the server does, and look both parsers up by their name."""
    text = export("vllm-plugin", spec).payload
    place = folder / "plugin.py"
    place.write_text(text, encoding="utf-8")
    space: dict[str, Any] = {"__name__": "plugin"}
    exec(compile(text, str(place), "exec"), space)  # noqa: S102  (our own file)
    name = space["NAME"]
    base = importlib.import_module(PARSER).DelegatingParser
    tool_cls = importlib.import_module(TOOL_PARSER).ToolParserManager.get_tool_parser(name)
    reasoning_cls = importlib.import_module(REASONING).ReasoningParserManager.get_reasoning_parser(name)
    parser_cls = type(
        "Pair",
        (base,),
        {
            "reasoning_parser_cls": reasoning_cls if reasoning else None,
            "tool_parser_cls": tool_cls if tools else None,
        },
    )
    special = [*spec.grammar.preserved_tokens, *spec.grammar.stops]
    return Served(spec, Tokenizer(list(dict.fromkeys(special))), parser_cls, importlib.import_module(CHAT))
