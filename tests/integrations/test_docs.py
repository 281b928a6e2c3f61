"""docs/servers.md, where it makes promises."""

from __future__ import annotations

import re
from typing import Any

from analyzer.agent import ChatStream
from analyzer.export import TARGETS
from tests.integrations.replay import ROOT, own
from tests.integrations.servers import LOCK

PAGE = (ROOT / "docs" / "servers.md").read_text(encoding="utf-8")


def test_the_program_streams() -> None:
    """With the spec, a request, a prompt and a model's text."""
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    space: dict[str, Any] = {}
    exec(compile(program, "servers.md", "exec"), space)  # noqa: S102  (our own page)
    client = ChatStream()

    pieces = ["Hi.<tool_", 'call>\n{"name": "ping", "argu', 'ments": {}}\n</tool_call>']
    for data in space["stream"](own("json_tag_per_call"), {"model": "m"}, "<|im_start|>assistant\n", pieces):
        client.feed(data)
    turn = client.finish()

    assert client.done
    assert ("Hi.", ["ping"], "tool_calls") == (
        turn.content,
        [call.name for call in turn.calls],
        turn.finish_reason,
    )


def test_the_targets_and_versions_are_there() -> None:
    """Every target that a command names, and the versions that the tests' files are of."""
    named = set(re.findall(r"--to (\S+)", PAGE))

    assert {"vllm-plugin", "sglang-plugin", "response-template"} == named
    assert named <= set(TARGETS)
    for locked in LOCK.values():
        assert f"{locked.version}" in PAGE
