"""The example agent, against a server on this machine that replays raw model text through the runtime."""

from __future__ import annotations

import importlib.util
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from analyzer.chat import tools_from_openai
from analyzer.integrations import sse
from analyzer.integrations.openai import ChatResponse
from analyzer.runtime import Parser
from tests.agent.common import ROOT, rendered, spec_of

TEMPLATE = "json_tag_per_call"
CALL = '<tool_call>\n{{"name": "{}", "arguments": {}}}\n</tool_call>'


@pytest.fixture(scope="module")
def agent() -> ModuleType:
    """The example as a module."""
    found = importlib.util.spec_from_file_location("example_agent", ROOT / "examples" / "agent.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


class Server(ThreadingHTTPServer):
    """Says one recorded text a request, parsed as a server would parse it."""

    daemon_threads = True

    def __init__(self, texts: list[tuple[str, str]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.texts = texts
        self.prompts: list[str] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_POST(self) -> None:
        """Render the conversation, parse the next text, stream the deltas."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = list(tools_from_openai(body["tools"]))
        prompt = rendered(TEMPLATE, body["messages"], tools)
        self.server.prompts.append(prompt)
        text, finish = self.server.texts[len(self.server.prompts) - 1]
        parser = Parser(spec_of(TEMPLATE), tools, prompt=prompt)
        events = [event for at in range(0, len(text), 5) for event in parser.feed(text[at : at + 5])]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for chunk in ChatResponse("replayed").choice().feed([*events, *parser.finish(finish)]):
            self.wfile.write(sse.encode(chunk))
        self.wfile.write(sse.DONE)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two files."""
    (tmp_path / "pom.xml").write_text("<project>demo</project>", encoding="utf-8")
    (tmp_path / "README.md").write_text("# Demo", encoding="utf-8")
    return tmp_path


def talk(agent: ModuleType, workspace: Path, *texts: tuple[str, str]) -> tuple[str, list[str]]:
    """The agent's answer, and the prompts that the server saw."""
    with Server(list(texts)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            said = agent.answer(server.url, "What is in pom.xml?", agent.workspace_tools(workspace))
        finally:
            server.shutdown()
            thread.join()
        return said, server.prompts


def results_of(prompt: str) -> list[str]:
    """The results in a prompt, in order."""
    return [part.split("\n</tool_response>")[0] for part in prompt.split("<tool_response>\n")[1:]]


def test_the_example_is_short() -> None:
    """Under 120 lines."""
    assert len((ROOT / "examples" / "agent.py").read_text(encoding="utf-8").splitlines()) < 120


def test_the_loop(agent: ModuleType, workspace: Path) -> None:
    """It looks, makes mistakes that are told to the model, gets both files in order, and answers."""
    both = [CALL.format("read_file", f'{{"path": "{name}"}}') for name in ("pom.xml", "README.md")]
    wrong = [
        CALL.format("read_files", '{"path": "pom.xml"}'),
        CALL.format("read_file", '{"file": "pom.xml"}'),
        CALL.format("read_file", '{"path": "../secret"}'),
        CALL.format("read_file", '{"path": "pom"}'),
    ]
    said, prompts = talk(
        agent,
        workspace,
        ("Let me look.\n" + CALL.format("list_files", "{}") + "<|im_end|>", "stop"),
        ("\n".join(wrong), "stop"),
        ("\n".join(both), "stop"),
        ("pom.xml declares the project demo.", "stop"),
    )

    assert said == "pom.xml declares the project demo."
    assert "Let me look.\n<tool_call>" in prompts[1]
    assert results_of(prompts[1]) == ['["README.md","pom.xml"]']
    assert results_of(prompts[2])[1:] == [
        "Error: unknown tool 'read_files' (did you mean read_file or list_files?)",
        "Error: missing required argument 'path'; unknown argument 'file' (allowed: path)",
        "Error: ../secret is outside the workspace; give a path relative to its root",
        "Error: there is no file pom; list_files shows what there is",
    ]
    assert results_of(prompts[3])[5:] == ["<project>demo</project>", "# Demo"]


def test_a_cut_call_is_told(agent: ModuleType, workspace: Path) -> None:
    """The whole call of a cut turn runs, the half one is answered with what happened; the history still renders."""
    text = (
        CALL.format("read_file", '{"path": "pom.xml"}')
        + '\n<tool_call>\n{"name": "read_file", "arguments": {"path": "REA'
    )
    said, prompts = talk(agent, workspace, (text, "length"), ("Two files.", "stop"))
    first, second = results_of(prompts[1])

    assert said == "Two files."
    assert first == "<project>demo</project>"
    assert second.startswith("Error: the call was cut off")


def test_it_stops(agent: ModuleType, workspace: Path) -> None:
    """A model that only ever calls is left after some steps."""
    texts = [(CALL.format("list_files", "{}"), "stop")] * agent.MAX_STEPS

    assert talk(agent, workspace, *texts)[0] == "(no answer after so many steps)"
