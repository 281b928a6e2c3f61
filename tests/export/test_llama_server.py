"""The fields of a llama-server request, taken by llama.cpp's own server: its model of zeros writes what the grammar leaves it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from analyzer.engines import ENGINES
from analyzer.export import Options, export
from analyzer.spec.document import load_spec
from tests.export.samples import ROOT, TOOLS

WORDS = ("ping", "required", "auto", "none")
SPECS = ("json_tag_per_call", "tagged_raw_values", "python_calls_raw_strings")


@pytest.mark.engine
@pytest.mark.skipif(
    ENGINES["gbnf"].missing is not None, reason="xllamacpp is not installed: no server was run"
)
def test_the_server_takes_the_fields_and_keeps_to_the_grammar(tmp_path: Path) -> None:
    """A forced call is begun with the first token; a grammar that is none is refused, so the fields are really read."""
    requests: list[dict[str, Any]] = []
    for name in SPECS:
        spec = load_spec(ROOT / "generated" / "own" / f"{name}.yaml")
        for word in WORDS:
            fields = export("gbnf", spec, TOOLS, Options(word)).payload
            requests.append({"prompt": "Hi", "n_predict": 50, "seed": 1, **fields})
    requests.append({**requests[0], "grammar": "root ::= nothing"})
    answers = tmp_path / "answers.json"

    subprocess.run(
        [sys.executable, "-m", "tests.export.llama_server", str(answers)],
        input=json.dumps(requests).encode(),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        timeout=120,
    )
    found = json.loads(answers.read_text())

    assert "failed to parse grammar" in found.pop()["error"]["message"]
    texts = {
        (name, word): found[number * len(WORDS) + place]["choices"][0]["text"]
        for number, name in enumerate(SPECS)
        for place, word in enumerate(WORDS)
    }
    assert texts["json_tag_per_call", "ping"].startswith('<tool_call>\n{"name": "ping", "arguments": {')
    assert texts["tagged_raw_values", "ping"].startswith("<tool_call>\n<function=ping>\n</function>\n")
    assert texts["python_calls_raw_strings", "ping"].startswith("<|tool_call_start|>[ping()]")
    for name, begin in zip(SPECS, ("<tool_call>", "<tool_call>", "<|tool_call_start|>["), strict=True):
        assert texts[name, "required"].startswith(begin)
        assert not texts[name, "auto"].startswith(begin)
        assert texts[name, "auto"] == texts[name, "none"]
