"""What a server pays for each delta of four characters: parsing, and saying it in the words of an API.

Processor time a delta, the best of several repeats. `halves` is what the plug-ins of vLLM and SGLang do: two parsers, one
behind the other, of which the first hands over when reasoning is closed.

    python benchmarks/servers.py
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from analyzer.integrations import sse  # noqa: E402
from analyzer.integrations.anthropic import MessageStream  # noqa: E402
from analyzer.integrations.halves import CallsHalf, ReasoningHalf, start_of  # noqa: E402
from analyzer.integrations.openai import ChatResponse  # noqa: E402
from analyzer.runtime import Parser  # noqa: E402
from analyzer.spec import Spec, load_spec  # noqa: E402

REPEATS: Final = 5
SIZE: Final = 16_000
WORDS: Final = "It may rain in Paris, so take a coat. "


def parse(spec: Spec, pieces: Sequence[str]) -> None:
    parser = Parser(spec)
    for piece in pieces:
        parser.feed(piece)
    parser.finish()


def chat(spec: Spec, pieces: Sequence[str]) -> None:
    parser, choice = Parser(spec), ChatResponse("m").choice(spec)
    for piece in pieces:
        for chunk in choice.feed(parser.feed(piece)):
            sse.encode(chunk)
    choice.feed(parser.finish())


def messages(spec: Spec, pieces: Sequence[str]) -> None:
    parser, stream = Parser(spec), MessageStream("m")
    for piece in pieces:
        for event in stream.feed(parser.feed(piece)):
            sse.encode(event, event["type"])
    stream.feed(parser.finish())


def halves(spec: Spec, pieces: Sequence[str]) -> None:
    first, second = ReasoningHalf(spec, start_of(spec, None, {})), CallsHalf(spec, None)
    over = False
    for piece in pieces:
        if over:
            second.feed(piece)
            continue
        found = first.feed(piece)
        over = first.over
        second.feed(found.rest + (first.hand_over() if over else ""))
    second.finish()


WAYS: Final[dict[str, Callable[[Spec, Sequence[str]], None]]] = {
    "the runtime alone": parse,
    "Chat Completions, encoded": chat,
    "Messages, encoded": messages,
    "halves": halves,
}


def main() -> None:
    spec = load_spec(ROOT / "generated" / "own" / "json_tag_reasoning_toggle.yaml")
    long = WORDS * (SIZE // len(WORDS))
    call = json.dumps({"name": "note", "arguments": {"text": long}})
    texts = {
        "reasoning": f"<think>\n{long}\n</think>\n\nYes.",
        "content": long,
        "an argument": f"<tool_call>\n{call}\n</tool_call>",
    }
    table = Table("microseconds a delta", *texts, title=f"{SIZE // 1000} KB in deltas of 4 characters")
    for name, way in WAYS.items():
        cells = []
        for text in texts.values():
            pieces = [text[at : at + 4] for at in range(0, len(text), 4)]
            best = float("inf")
            for _ in range(REPEATS):
                start = time.process_time()
                way(spec, pieces)
                best = min(best, time.process_time() - start)
            cells.append(f"{best / len(pieces) * 1e6:.2f}")
        table.add_row(name, *cells)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
