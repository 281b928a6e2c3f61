"""A server of both usual APIs around one format spec, in the standard library alone.

    python examples/server.py format.yaml reply.txt --port 8000

It has no model: `generate` replays a file in pieces, and that function is what you replace. Everything else is what a real
server needs: tools and `tool_choice` of the request, deltas as the text comes, `n` choices, whole answers.

    POST /v1/chat/completions    Chat Completions
    POST /v1/messages            Messages
"""

# ruff: noqa: INP001, T201 - a script that prints

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from analyzer import Parser, load_spec
from analyzer.agent import from_anthropic, from_openai, parser_options
from analyzer.errors import AnalyzerError, UsageError
from analyzer.integrations import anthropic, sse
from analyzer.integrations.openai import ChatResponse
from analyzer.runtime import Event, Options, assemble
from analyzer.spec import Spec


class Server(ThreadingHTTPServer):
    """Serves one spec; a request's `seed` says which of the texts is replayed, cut into `piece` characters."""

    daemon_threads = True

    def __init__(self, spec: Spec, texts: list[str], *, port: int = 0, piece: int = 8) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.spec, self.texts, self.piece = spec, texts, piece
        self.options = Options()
        """How the parser treats what the format does not say."""
        self.whole_calls = False
        """True: clients are told of a call when it is complete."""
        self.end = "stop"
        """Why your model's turns end; a real model says `length` when its limit cut the turn."""

    def generate(self, body: dict[str, Any], choice: int) -> Iterator[str]:
        """Yield the model's text in pieces: put your model here."""
        text = self.texts[(int(body.get("seed") or 0) + choice) % len(self.texts)]
        yield from (text[at : at + self.piece] for at in range(0, len(text), self.piece))


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer, or say what is wrong with the request."""
        serve = {"/v1/chat/completions": self.chat, "/v1/messages": self.messages}.get(self.path)
        try:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if serve is None:
                raise UsageError(f"there is no {self.path}")
            serve(body)
        except (AnalyzerError, ValueError) as error:
            self.whole(
                {"type": "error", "error": {"type": "invalid_request_error", "message": str(error)}}, 400
            )

    def chat(self, body: dict[str, Any]) -> None:
        """Chat Completions."""
        spec, response = self.server.spec, ChatResponse(str(body.get("model")))
        tools, options = from_openai(body.get("tools") or ()), parser_options(body, self.server.options)
        settings = body.get("chat_template_kwargs") or {}
        count = int(body.get("n") or 1)
        turns = [self.turn(body, n, Parser(spec, tools, options, settings=settings)) for n in range(count)]
        if not body.get("stream"):
            parsed = [assemble(event for events in turn for event in events) for turn in turns]
            self.whole(response.completion(parsed, spec))
            return
        self.head()
        for number, turn in enumerate(turns):
            choice = response.choice(spec, number, whole_calls=self.server.whole_calls)
            for events in turn:
                for chunk in choice.feed(events):
                    self.wfile.write(sse.encode(chunk))
        self.wfile.write(sse.DONE)

    def messages(self, body: dict[str, Any]) -> None:
        """Messages."""
        none = (body.get("tool_choice") or {}).get("type") == "none"
        options = self.server.options.with_(calls="text") if none else self.server.options
        turn = self.turn(body, 0, Parser(self.server.spec, from_anthropic(body.get("tools") or ()), options))
        if not body.get("stream"):
            self.whole(
                anthropic.message(assemble(event for events in turn for event in events), str(body["model"]))
            )
            return
        self.head()
        stream = anthropic.MessageStream(str(body.get("model")), whole_calls=self.server.whole_calls)
        for events in turn:
            for data in stream.feed(events):
                self.wfile.write(sse.encode(data, data["type"]))

    def turn(self, body: dict[str, Any], choice: int, parser: Parser) -> Iterator[list[Event]]:
        """One turn: the events of each piece, and those of the end."""
        for text in self.server.generate(body, choice):
            yield parser.feed(text)
        yield parser.finish(self.server.end)

    def head(self) -> None:
        """Begin a stream."""
        self.send_response(200)
        self.send_header("Content-Type", sse.CONTENT_TYPE)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def whole(self, data: dict[str, Any], status: int = 200) -> None:
        """Answer with one object."""
        text = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until interrupted."""
    reader = argparse.ArgumentParser(description="Serve one format spec, replaying a text.")
    reader.add_argument("spec", type=Path, help="the format spec, as `analyzer infer -o` writes it")
    reader.add_argument("reply", type=Path, help="a file with what the model says, in its own format")
    reader.add_argument("--port", type=int, default=8000, help="where to listen; 8000 without it")
    asked = reader.parse_args()
    try:
        spec = load_spec(asked.spec)
        server = Server(spec, [asked.reply.read_text(encoding="utf-8")], port=asked.port)
    except (AnalyzerError, OSError) as error:
        raise SystemExit(f"server: {error}") from None
    print(f"http://127.0.0.1:{server.server_port}/v1")
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
