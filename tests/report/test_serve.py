from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from analyzer.report.example import TOOLS
from analyzer.report.page import example_reply
from analyzer.report.replay import own_replay
from analyzer.report.serve import BODY_BYTES, ReportServer
from analyzer.runtime import Parser, assemble
from tests.report.conftest import Report, Visit


@pytest.fixture
def server(report: Report) -> Iterator[ReportServer]:
    """The report, served on a free port."""
    with ReportServer(report.folder) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(
    server: ReportServer, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    sent = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    given = {"Content-Type": "application/json"} if sent is not None else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, sent, {**given, **named})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), data


def test_a_text_is_parsed_by_the_runtime(server: ReportServer, report: Report) -> None:
    """The answer is what the runtime says in this process."""
    subject = report.subject("key_value_tags")
    assert subject.spec is not None
    own = own_replay(subject.spec, example_reply(subject.spec))
    status, headers, data = ask(
        server, "POST", "/parse", {"page": subject.slug, "text": own.text, "size": 3, "prompt": 0}
    )
    parser = Parser(subject.spec, TOOLS, prompt=subject.spec.turn.prompts[0].text)
    expected = assemble([*parser.feed(own.text), *parser.finish()])
    found = json.loads(data)

    assert 200 == status
    assert "nosniff" == headers["X-Content-Type-Options"]
    assert expected.message.to_openai() == found["message"]
    assert own.text == "".join(step["text"] for step in found["steps"])
    assert all(len(step["text"]) <= 3 for step in found["steps"])


def test_only_its_own_address_counts(server: ReportServer, report: Report) -> None:
    """Another name for 127.0.0.1 is refused, a page from elsewhere too."""
    question = {"page": report.subject("key_value_tags").slug, "text": "Hello"}

    assert "127.0.0.1" == server.server_address[0]
    assert 200 == ask(server, "GET", "/", Host=f"localhost:{server.server_port}")[0]
    for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1", ""):
        assert 421 == ask(server, "GET", "/", Host=host)[0]
        assert 421 == ask(server, "POST", "/parse", question, Host=host)[0]
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.server_port}"):
        assert 403 == ask(server, "POST", "/parse", question, Origin=origin)[0]
    assert 200 == ask(server, "POST", "/parse", question, Origin=server.address.rstrip("/"))[0]


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/%2e%2e/report.json",
        "/report.json",
        "//etc/passwd",
        "/templates/",
        "/templates",
        "/nothing.html",
        "/assets/..%2freport.json",
    ],
)
def test_only_the_reports_files_are_served(server: ReportServer, path: str) -> None:
    """Nothing else of the machine, and no listing."""
    assert 404 == ask(server, "GET", path)[0]


def test_bad_questions(server: ReportServer, report: Report) -> None:
    """Each is refused with its reason, and the server goes on."""
    page = report.subject("key_value_tags").slug
    asked: list[tuple[int, Any, dict[str, str]]] = [
        (400, b"{", {}),
        (400, b"[]", {}),
        (400, b"[" * 100_000, {}),
        (404, {"page": "../key_value_tags", "text": ""}, {}),
        (404, {"text": ""}, {}),
        (400, {"page": page, "text": 1}, {}),
        (400, {"page": page, "text": "x", "size": 0}, {}),
        (400, {"page": page, "text": "x", "size": True}, {}),
        (400, {"page": page, "text": "x", "prompt": 99}, {}),
        (400, {"page": page, "text": "x" * 30_000, "size": 1}, {}),
        (413, b"", {"Content_Length": str(BODY_BYTES + 1)}),
        (415, b"text=x", {"Content_Type": "application/x-www-form-urlencoded"}),
    ]
    for status, body, headers in asked:
        found, _, data = ask(server, "POST", "/parse", body, **headers)
        assert status == found, (body, headers, data)
        assert json.loads(data)["error"]
    assert 404 == ask(server, "POST", "/other", {})[0]
    assert 501 == ask(server, "PUT", "/parse", {})[0]
    assert 200 == ask(server, "GET", "/index.html")[0]


@pytest.mark.browser
def test_text_of_ones_own_in_the_page(visit: Visit, server: ReportServer, report: Report) -> None:
    """Served, the page parses what is pasted: with the runtime, step by step."""
    slug = report.subject("key_value_tags").slug
    visit.page.goto(f"{server.address}templates/{slug}.html")
    visit.page.click("#own summary")
    visit.page.fill(
        "#own-text",
        "\n<think>Hm 🌧</think>\nI <b>look</b>.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo 🌧</arg_value>\n</tool_call>",
    )
    visit.page.fill("#own-size", "5")
    visit.page.click("#own button[type=submit]")
    visit.page.locator("#own-status", has_text="deltas").wait_for()
    visit.page.click("#last")
    message = json.loads(visit.page.text_content("#message"))

    assert "I <b>look</b>." == message["content"]
    assert "Hm 🌧" == message["reasoning_content"]
    assert {"city": "Oslo 🌧"} == json.loads(message["tool_calls"][0]["function"]["arguments"])
    assert "Oslo 🌧" == visit.page.text_content("#tape .k-value")
