"""The example server with texts to replay, and the official clients' ways of reading it."""

from __future__ import annotations

import importlib.util
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from analyzer.chat import Message, Tool, ToolCall
from analyzer.runtime import Options, Parsed, Parser, assemble
from analyzer.spec import Spec, load_spec

ROOT = Path(__file__).resolve().parents[2]


@cache
def example() -> ModuleType:
    """`examples/server.py` as a module."""
    found = importlib.util.spec_from_file_location("example_server", ROOT / "examples" / "server.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@cache
def own(name: str) -> Spec:
    """The golden spec of one of the project's own templates."""
    return load_spec(ROOT / "generated" / "own" / f"{name}.yaml")


@contextmanager
def running() -> Iterator[Any]:
    """The server, replaying `server.turns`: for each choice the pieces of its text."""
    module = example()

    class Replay(module.Server):  # type: ignore[misc, name-defined]
        turns: Sequence[Sequence[str]] = ()

        def generate(self, body: dict[str, Any], choice: int) -> Iterator[str]:
            """The pieces as they are."""
            assert isinstance(body, dict)
            yield from self.turns[choice]

    with Replay(own("json_tag_per_call"), []) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def parsed(
    spec: Spec, pieces: Sequence[str], tools: Sequence[Tool], options: Options, end: str = "stop"
) -> Parsed:
    """What the runtime itself makes of the pieces."""
    parser = Parser(spec, tools, options)
    events = [event for piece in pieces for event in parser.feed(piece)]
    return assemble([*events, *parser.finish(end)])


def of_openai(message: Any) -> Message:
    """A client's `ChatCompletionMessage` as a message."""
    data = message.model_dump()
    calls = tuple(
        ToolCall(call["function"]["name"], call["function"]["arguments"], call["id"])
        for call in data.get("tool_calls") or ()
    )
    return Message(data.get("content") or None, data.get("reasoning_content"), calls)


def of_anthropic(message: Any) -> Message:
    """A client's `Message` as a message; `input` becomes JSON text again."""
    blocks = message.content
    text = "".join(block.text for block in blocks if block.type == "text")
    thoughts = [block.thinking for block in blocks if block.type == "thinking"]
    calls = tuple(
        ToolCall(block.name, json.dumps(block.input), block.id)
        for block in blocks
        if block.type == "tool_use"
    )
    return Message(text or None, "\n".join(thoughts) or None, calls)


def same(left: Message, right: Message) -> bool:
    """Whether content, reasoning, names and decoded arguments are the same; ids are looked at elsewhere.

    Half of a surrogate pair is as good as U+FFFD, which clients are told in its place.
    """

    def plain(message: Message) -> Any:
        calls = [
            (call.name, re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(call.decoded(), ensure_ascii=False)))
            for call in message.tool_calls
        ]
        return message.content, message.reasoning_content, calls

    return bool(plain(left) == plain(right))
