"""What parsing costs: time a 4-character chunk, against the floor and against transformers' `ResponseParser`.

The floor is a loop that appends each chunk to a string and does one `str.find` near its end: what any streaming parser
in Python has to do at least. All numbers of one table come from one run; the best of several repeats counts.

    python benchmarks/runtime.py
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import platform
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from analyzer.chat import Tool  # noqa: E402
from analyzer.runtime import CompiledTools, Parser  # noqa: E402
from tests.runtime.specs import spec  # noqa: E402

TOOL: Final = Tool(
    "put", "", {"type": "object", "properties": {"text": {"type": "string"}, "list": {"type": "array"}}}
)
SIZES: Final = (1024, 4096, 16384, 65536)
CHUNK: Final = 4
PROSE: Final = "The quick brown fox, jumps over the lazy dog. "
FORMATS: Final[dict[str, tuple[str, str, str, str]]] = {
    "JSON in tags": ("json_tags", '<tool_call>\n{"name": "put", "arguments": {"%s": ', "%s", "}}\n</tool_call>"),
    "tagged raw values": (
        "tagged_raw", "<tool_call>\n<function=put>\n<parameter=%s>\n", "raw", "\n</parameter>\n</function>\n</tool_call>",
    ),
    "name + JSON": ("name_args", '[TOOL_CALLS]put[ARGS]{"%s": ', "%s", "}"),
    "Python-like": ("python_calls", "<|tool_call_start|>[put(%s=", "%s", ")]<|tool_call_end|>"),
}  # fmt: skip
CALL: Final = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
JSON_CALL: Final = {
    "type": "function",
    "function": {"name": "{content.name}", "arguments": "{content.arguments}"},
}
TEMPLATES: Final[dict[str, dict[str, Any]]] = {
    "JSON in tags": {
        "open": "<tool_call>\n", "close": "\n</tool_call>", "repeats": True, "content": "json", "transform": JSON_CALL,
    },
    "tagged raw values": {
        "open_pattern": "<tool_call>\n<function=(?P<name>[^>\n]+)>\n", "close": "</function>\n</tool_call>",
        "repeats": True, "content": "xml-inline", "transform": CALL,
        "content_args": {"tag_pattern": "<parameter=(?P<key>[^>\n]+)>\n?(?P<value>.*?)\n?</parameter>"},
    },
    "name + JSON": {
        "open_pattern": r"\[TOOL_CALLS\](?P<name>[^\[\n]+)\[ARGS\]", "close_pattern": r"(?=\[TOOL_CALLS\])|</s>",
        "repeats": True, "content": "json", "transform": CALL,
    },
    "Python-like": {
        "open": "<|tool_call_start|>", "close": "<|tool_call_end|>", "content": "python-call-list",
        "transform_each": True,
        "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}},
    },
}  # fmt: skip


def best(action: Callable[[], object], repeats: int = 5) -> float:
    """Return the shortest time of several runs, in seconds."""
    times = []
    gc.disable()
    for _ in range(repeats):
        begin = time.process_time()
        action()
        times.append(time.process_time() - begin)
    gc.enable()
    return min(times)


def floor(chunks: Sequence[str]) -> None:
    """Append, and search near the end."""
    text = ""
    for chunk in chunks:
        text += chunk
        text.find("</tool_call>", max(0, len(text) - 16))


def ours(name: str, chunks: Sequence[str], tools: CompiledTools) -> None:
    """Feed all chunks and finish."""
    parser = Parser(spec(name), tools)
    feed = parser.feed
    for chunk in chunks:
        feed(chunk)
    parser.finish()


def theirs(template: dict[str, Any], chunks: Sequence[str]) -> None:
    """The same with transformers' parser."""
    from transformers.utils.chat_parsing.response_parser import ResponseParser  # noqa: PLC0415 - a slow import

    parser = ResponseParser(template, prefix="")
    for chunk in chunks:
        parser.feed(chunk)
    parser.finalize()


def build(label: str, key: str, size: int) -> str:
    """Return a call with one argument of about `size` characters."""
    _, head, how, tail = FORMATS[label]
    if key == "text":
        text = (PROSE * (size // len(PROSE) + 1))[:size]
        value = text if how == "raw" else json.dumps(text)
    else:
        value = json.dumps([f"item {n % 100}" for n in range(size // 11)])
    return head % key + value + tail


def chunked(table: Table) -> None:
    """One row a format, argument kind and size."""
    tools = CompiledTools((TOOL,))
    try:
        version = importlib.metadata.version("transformers")
    except importlib.metadata.PackageNotFoundError:
        version = ""
    table.title = f"microseconds a {CHUNK}-character chunk (transformers {version or 'is not installed'})"
    for label, (name, *_) in FORMATS.items():
        fields = {"tool_calls": TEMPLATES[label], "content": {"content": "text"}}
        template = {"version": 1, "defaults": {"role": "assistant"}, "start_anchor": "@@", "fields": fields}
        for key in ("text", "list"):
            for size in SIZES:
                text = build(label, key, size)
                chunks = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
                low = best(lambda chunks=chunks: floor(chunks)) / len(chunks)
                own = best(lambda chunks=chunks, name=name: ours(name, chunks, tools)) / len(chunks)
                peer = "-"
                ratio = "-"
                if version:
                    try:
                        took = best(lambda chunks=chunks, t=template: theirs(t, chunks), 2) / len(chunks)
                    except Exception as error:  # noqa: BLE001 - a peer's refusal is a result
                        peer = type(error).__name__
                    else:
                        peer, ratio = f"{took * 1e6:.2f}", f"{took / own:.1f}"
                table.add_row(
                    label, "string" if key == "text" else "array", f"{size // 1024} KB", f"{low * 1e6:.2f}",
                    f"{own * 1e6:.2f}", f"{own / low:.1f}", peer, ratio,
                )  # fmt: skip


def whole(table: Table) -> None:
    """Whole texts, making parsers, memory."""
    tools = CompiledTools((TOOL,))
    content = (PROSE * (1 << 15))[: 1 << 20]
    markers = Parser(spec("json_tags")).compiled.text.marks
    finds = best(lambda: [content.find(marker) for marker in markers])
    parse = best(lambda: ours("json_tags", [content], tools))
    table.add_row(
        "1 MB of content at once",
        f"{parse * 1e3:.2f} ms",
        f"{finds * 1e3:.2f} ms",
        f"{parse / finds:.2f}",
        "2",
    )

    argument = json.dumps({"text": (PROSE * 2200)[:100_000]})
    text = f'<tool_call>\n{{"name": "put", "arguments": {argument}}}\n</tool_call>'
    loads = best(lambda: json.loads(argument), 30)
    parse = best(lambda: ours("json_tags", [text], tools), 30)
    table.add_row(
        "100 KB argument at once",
        f"{parse * 1e3:.3f} ms",
        f"{loads * 1e3:.3f} ms",
        f"{parse / loads:.2f}",
        "3",
    )

    one = spec("json_tags")
    made = best(lambda: [Parser(one, tools) for _ in range(2000)]) / 2000
    table.add_row("making a parser", f"{made * 1e6:.1f} us", "", "", "20 us")

    head = '<tool_call>\n{"name": "put", "arguments": {"text": "'
    tracemalloc.start()
    parsers = []
    for _ in range(10_000):
        parser = Parser(one, tools)
        parser.feed(head)
        parser.feed(PROSE * 4)
        parsers.append(parser)
    used = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    table.add_row(f"{len(parsers)} parsers in a call", f"{used / 1e6:.0f} MB", "", "", "100 MB")


def main() -> None:
    """Print both tables."""
    console = Console(width=120)
    console.print(f"Python {platform.python_version()}, {platform.machine()}")
    table = Table("format", "argument", "size", "floor", "ours", "x floor", "ResponseParser", "x ours")
    chunked(table)
    console.print(table)
    table = Table("what", "ours", "against", "ratio", "aim", title="whole texts and parsers")
    whole(table)
    console.print(table)


if __name__ == "__main__":
    main()
