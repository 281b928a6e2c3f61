"""What parsing costs: time a 4-character chunk, against the floor and against other parsers.

The floor is a loop that appends each chunk to a string and does one `str.find` near its end: what any streaming parser
in Python has to do at least. The peers are transformers' `ResponseParser` with an equivalent response template, and
`agent-tool-parser`, which reads whole texts only: to follow a stream with it, one has to give it all that has come at each
chunk, and that is what its column in the first table costs (up to 4 KB; it is quadratic).

All numbers come from one run. The parsers of one row take turns, so that whatever else the machine does hits all of them, and
the best of their turns counts, in processor time. A peer is timed where it reads the call right: its result is looked at first.

    python benchmarks/runtime.py [--quick]
"""

from __future__ import annotations

import gc
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

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
TURN: Final = 0.01
"""Seconds of a turn."""
QUADRATIC: Final = 4096
"""Up to this size a parser that begins anew at each chunk is timed."""
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


Action: TypeAlias = Callable[[], object]


def best(actions: Mapping[str, Action], turns: int = 5) -> dict[str, float]:
    """Let the actions take turns; return the shortest time of each, in seconds of processor time.

    A short action runs several times in its turn, since the one before it has filled the caches with its own.
    """
    found = dict.fromkeys(actions, float("inf"))
    gc.collect()
    gc.disable()
    for _ in range(turns):
        for name, action in actions.items():
            spent = 0.0
            while spent < TURN:
                begin = time.process_time()
                action()
                took = time.process_time() - begin
                found[name] = min(found[name], took)
                spent += took
    gc.enable()
    return found


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


def response_parser(template: dict[str, Any], chunks: Sequence[str]) -> list[tuple[str, Any]]:
    """The same with transformers' parser; return the calls."""
    from transformers.utils.chat_parsing.response_parser import ResponseParser  # noqa: PLC0415 - a slow import

    parser = ResponseParser(template, prefix="")
    for chunk in chunks:
        parser.feed(chunk)
    message, _ = parser.finalize()
    calls = [call["function"] for call in message.get("tool_calls") or []]
    return [(call["name"], call["arguments"]) for call in calls]


def agent_tool_parser(text: str) -> list[tuple[str, Any]]:
    """A whole text with agent-tool-parser; return the calls."""
    from agent_tool_parser import try_parse_tool_calls  # noqa: PLC0415 - may not be installed

    return [(call.name, call.args) for call in try_parse_tool_calls(text)]


def again_and_again(chunks: Sequence[str]) -> None:
    """Follow a stream with a parser of whole texts."""
    text = ""
    for chunk in chunks:
        text += chunk
        agent_tool_parser(text)


def build(label: str, key: str, size: int) -> tuple[str, Any]:
    """Return a call with one argument of about `size` characters, and the arguments."""
    _, head, how, tail = FORMATS[label]
    value: Any
    if key == "text":
        value = (PROSE * (size // len(PROSE) + 1))[:size]
        written = value if how == "raw" else json.dumps(value)
    else:
        value = [f"item {n % 100}" for n in range(size // 11)]
        written = json.dumps(value)
    return head % key + written + tail, {key: value}


AS_TEXT: Final = "as text"


def reads_right(parse: Callable[[], list[tuple[str, Any]]], arguments: Any) -> str:
    """Try a peer: empty when it gives the one call, `AS_TEXT` when it leaves the value undecoded, else what it does instead."""
    try:
        calls = parse()
    except Exception as error:  # noqa: BLE001 - a peer's refusal is a result
        return type(error).__name__
    if calls == [("put", arguments)]:
        return ""
    if calls == [("put", {key: json.dumps(value) for key, value in arguments.items()})]:
        return AS_TEXT
    return (
        "no call"
        if not calls
        else f"reads {calls[0][0][:24]!r}"
        if calls[0][0] != "put"
        else "other arguments"
    )


def version(package: str) -> str:
    """The installed version of a package, empty when there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def template_of(label: str) -> dict[str, Any]:
    """The response template of a format."""
    fields = {"tool_calls": TEMPLATES[label], "content": {"content": "text"}}
    return {"version": 1, "defaults": {"role": "assistant"}, "start_anchor": "@@", "fields": fields}


class Aims:
    """The worst of each figure that has an aim."""

    def __init__(self) -> None:
        self._worst: dict[str, tuple[float, str, float]] = {}

    def note(self, name: str, value: float, where: str, aim: float) -> None:
        """Keep the figure if it is the worst so far. An aim below 0 asks for at least so much."""
        old = self._worst.get(name)
        if old is None or (value > old[0]) == (aim > 0):
            self._worst[name] = (value, where, aim)

    def table(self) -> Table:
        """All figures with their aims."""
        table = Table("figure", "worst", "where", "aim", "", title="aims")
        for name, (value, where, aim) in self._worst.items():
            met = value <= aim if aim > 0 else value >= -aim
            table.add_row(
                name,
                f"{value:.2f}",
                where,
                f"{'<=' if aim > 0 else '>='} {abs(aim):g}",
                "met" if met else "NOT MET",
            )
        return table


def chunked(sizes: Sequence[int], turns: int, aims: Aims) -> Table:
    """One row a format, argument kind and size, in microseconds a chunk."""
    table = Table(
        "format", "argument", "size", "floor", "ours", "x floor", "ResponseParser", "x ours", "agent-tool-parser", "x ours",
        title=f"microseconds a {CHUNK}-character chunk",
    )  # fmt: skip
    tools = CompiledTools((TOOL,))
    for label, (name, *_) in FORMATS.items():
        template = template_of(label)
        for key in ("text", "list"):
            costs: list[float] = []
            for size in sizes:
                text, arguments = build(label, key, size)
                chunks = [text[at : at + CHUNK] for at in range(0, len(text), CHUNK)]
                actions: dict[str, Action] = {
                    "floor": partial(floor, chunks), "ours": partial(ours, name, chunks, tools),
                }  # fmt: skip
                says = {}
                says["rp"] = reads_right(partial(response_parser, template, chunks), arguments)
                says["atp"] = reads_right(partial(agent_tool_parser, text), arguments)
                if says["rp"] in {"", AS_TEXT}:
                    actions["rp"] = partial(response_parser, template, chunks)
                if not says["atp"] and size <= QUADRATIC:
                    actions["atp"] = partial(again_and_again, chunks)
                times = {what: took / len(chunks) * 1e6 for what, took in best(actions, turns).items()}
                own = times["ours"]
                costs.append(own)
                where = f"{label}, {'string' if key == 'text' else 'array'}, {size // 1024} KB"
                aims.note("times the floor", own / times["floor"], where, 12)
                if "rp" in times:
                    aims.note("ResponseParser over ours", times["rp"] / own, where, -2)
                row = [label, "string" if key == "text" else "array", f"{size // 1024} KB"]
                row += [f"{times['floor']:.2f}", f"{own:.2f}", f"{own / times['floor']:.1f}"]
                for peer in ("rp", "atp"):
                    if peer in times:
                        row += [f"{times[peer]:.2f} {says[peer]}", f"{times[peer] / own:.1f}"]
                    else:
                        row += [says[peer], ""]
                table.add_row(*row)
            aims.note("largest size over smallest, a chunk", costs[-1] / costs[0], f"{label}, {key}", 1.5)
            aims.note("microseconds a chunk", max(costs), f"{label}, {key}", 3)
    return table


def calls_at_once(turns: int) -> Table:
    """Whole calls, in microseconds."""
    table = Table(
        "format", "argument", "size", "ours", "ResponseParser", "x ours", "agent-tool-parser", "x ours",
        title="microseconds a call that comes whole",
    )  # fmt: skip
    tools = CompiledTools((TOOL,))
    for label, (name, *_) in FORMATS.items():
        for key, size in (("text", 1024), ("text", 65536), ("list", 65536)):
            text, arguments = build(label, key, size)
            peers: dict[str, Callable[[], list[tuple[str, Any]]]] = {
                "rp": partial(response_parser, template_of(label), [text]),
                "atp": partial(agent_tool_parser, text),
            }
            says = {peer: reads_right(parse, arguments) for peer, parse in peers.items()}
            actions: dict[str, Action] = {"ours": partial(ours, name, [text], tools)}
            actions |= {peer: parse for peer, parse in peers.items() if says[peer] in {"", AS_TEXT}}
            times = {what: took * 1e6 for what, took in best(actions, turns).items()}
            row = [
                label,
                "string" if key == "text" else "array",
                f"{size // 1024} KB",
                f"{times['ours']:.0f}",
            ]
            for peer in peers:
                took = times.get(peer)
                row += (
                    [says[peer], ""]
                    if took is None
                    else [f"{took:.0f} {says[peer]}", f"{took / times['ours']:.1f}"]
                )
            table.add_row(*row)
    return table


def whole(aims: Aims) -> None:
    """Whole texts against what they cannot do without, making parsers, importing, memory."""
    tools = CompiledTools((TOOL,))
    one = spec("json_tags")
    content = (PROSE * (1 << 15))[: 1 << 20]
    markers = list(Parser(one).compiled.text.marks)
    times = best(
        {
            "ours": partial(ours, "json_tags", [content], tools),
            "finds": lambda: [content.find(m) for m in markers],
        },
        15,
    )
    aims.note("1 MB of content at once, over its str.finds", times["ours"] / times["finds"], took(times), 2)

    argument = json.dumps({"text": (PROSE * 2200)[:100_000]})
    text = f'<tool_call>\n{{"name": "put", "arguments": {argument}}}\n</tool_call>'
    times = best(
        {"ours": partial(ours, "json_tags", [text], tools), "loads": partial(json.loads, argument)}, 40
    )
    aims.note("100 KB argument at once, over json.loads", times["ours"] / times["loads"], took(times), 3)

    made = best({"ours": lambda: [Parser(one, tools) for _ in range(2000)]})["ours"] / 2000
    aims.note("microseconds to make a parser", made * 1e6, "", 20)

    extra, where = imported()
    aims.note("milliseconds to import analyzer.runtime", extra * 1e3, where, 60)

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
    aims.note(f"megabytes for {len(parsers):,} parsers in a call", used / 1e6, "", 100)


def took(times: Mapping[str, float]) -> str:
    """The times in words."""
    return ", ".join(f"{name} {seconds * 1e3:.3f} ms" for name, seconds in times.items())


def imported(turns: int = 9) -> tuple[float, str]:
    """What importing the runtime costs beside starting Python, in seconds of processor time of a process of its own.

    The modules are compiled, as those of an installed package are, whatever the environment says of writing bytecode.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    lines = {"bare": "pass", "import": "import analyzer.runtime"}
    found = dict.fromkeys(lines, float("inf"))
    for _ in range(turns):
        for name, line in lines.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", line], check=True, cwd=ROOT, env=environment)  # noqa: S603 - our own interpreter
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            found[name] = min(found[name], used)
    return found["import"] - found["bare"], took(found)


def main() -> None:
    """Print the tables."""
    quick = "--quick" in sys.argv[1:]
    console = Console(width=150)
    peers = [
        f"{name} {version(name) or 'is not installed'}" for name in ("transformers", "agent-tool-parser")
    ]
    console.print(f"Python {platform.python_version()}, {platform.machine()}, {', '.join(peers)}")
    aims = Aims()
    console.print(chunked(SIZES[:2] if quick else SIZES, 3 if quick else 7, aims))
    console.print(calls_at_once(3 if quick else 7))
    whole(aims)
    console.print(aims.table())


if __name__ == "__main__":
    main()
