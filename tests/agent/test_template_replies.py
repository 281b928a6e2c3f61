"""What templates make of a call and its result: real ones, and our own."""

from __future__ import annotations

import re

import pytest

from analyzer.agent import IdMap, run, turn_messages
from analyzer.analysis import analyze
from analyzer.corpus import is_synced
from analyzer.prepare import prepare
from analyzer.render import InProcessRenderer, Rendered, RenderFailure, RenderRequest
from analyzer.template import Template
from tests.agent.common import READ_FILE, ROOT, call, message, refused, render_text, rendered
from tests.agent.running import files
from tests.budget import real_template

USER = {"role": "user", "content": "What is in pom.xml?"}
SERVER_ID = "4tchrKKLmaYPKFydOBferm8vtWKKy0lH"


@pytest.mark.parametrize(
    ("template", "written"),
    [
        (
            "json_tag_per_call",
            (
                '<tool_call>\n{"name": "read_file", "arguments": {"path": "pom.xml"}}\n</tool_call><|im_end|>\n'
                "<|im_start|>user\n<tool_response>\n<project>demo</project>\n</tool_response><|im_end|>\n"
                "<|im_start|>assistant\n"
            ),
        ),
        (
            "bare_json",
            (
                '{"name": "read_file", "parameters": {"path": "pom.xml"}}<|eot_id|>'
                "<|start_header_id|>ipython<|end_header_id|>\n\n<project>demo</project><|eot_id|>"
                "<|start_header_id|>assistant<|end_header_id|>\n\n"
            ),
        ),
        (
            "json_array_marker_ids9",
            (
                '[TOOL_CALLS] [{"name": "read_file", "arguments": {"path": "pom.xml"}, "id": "call0abc1"}]</s>'
                '[TOOL_RESULTS] {"content": "<project>demo</project>", "call_id": "call0abc1"}[/TOOL_RESULTS]'
            ),
        ),
    ],
)
def test_how_templates_write_a_result(template: str, written: str) -> None:
    """As a user's turn, as a turn of another role, with the id."""
    turn = message(call("read_file", "call0abc1", path="pom.xml"), content="")

    assert rendered(template, [USER, *turn_messages(turn, run(files(), turn))]).endswith(written)


REAL = {
    "Qwen-Qwen2.5-7B-Instruct": (
        '<|im_start|>assistant\n<tool_call>\n{"name": "read_file", "arguments": {"path": "pom.xml"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>user\n<tool_response>\n<project>demo</project>\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    ),
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool-use": (
        '<|im_start|>assistant\n<tool_call>\n{"name": "read_file", "arguments": {"path": "pom.xml"}}\n</tool_call><|im_end|>\n'
        "<|im_start|>tool\n<tool_response>\n<project>demo</project>\n</tool_response><|im_end|><|im_start|>assistant\n"
    ),
    "meta-llama-Llama-3.1-8B-Instruct": (
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
        '{"name": "read_file", "parameters": {"path": "pom.xml"}}<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n'
        '"<project>demo</project>"<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n'
    ),
    "mistralai-Mistral-Nemo-Instruct-2407": (
        '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "pom.xml"}, "id": "call0abc1"}]</s>'
        '[TOOL_RESULTS]{"content": <project>demo</project>, "call_id": "call0abc1"}[/TOOL_RESULTS]'
    ),
}
"""What real templates write behind the user's message; the second is of the same make as the example's."""


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not synced: run `analyzer corpus sync`")
@pytest.mark.parametrize("name", REAL)
def test_how_real_templates_write_a_result(name: str) -> None:
    """The same round trip, by the templates themselves; one of them refuses the server's own id."""
    template = real_template(name).text

    def written(ident: str) -> Rendered | RenderFailure:
        turn = message(call("read_file", ident, path="pom.xml"), content="")
        return render_text(template, [USER, *turn_messages(turn, run(files(), turn))], [READ_FILE])

    outcome, other = written("call0abc1"), written(SERVER_ID)
    assert isinstance(outcome, Rendered), outcome
    assert outcome.text.endswith(REAL[name])
    if "call0abc1" in outcome.text:
        assert isinstance(other, RenderFailure)
        assert "Tool call IDs should be alphanumeric strings with length 9!" in other.message
    else:
        assert other == outcome


def test_ids_in_the_form_of_the_template() -> None:
    """A template of nine-character ids refuses a server's own; mapped, calls and results agree."""
    turn = message(
        call("read_file", SERVER_ID, path="pom.xml"), call("read_file", "call0abc1", path="README.md")
    )
    results = run(files(), turn)
    plain = [USER, *turn_messages(turn, results)]
    mapped = turn_messages(turn, results, id_map=IdMap(r"[A-Za-z0-9]{9}"))

    assert "nine characters" in refused("json_array_marker_ids9", plain)
    assert rendered("json_array_marker_ids9", [USER, *mapped])
    ids = [found["id"] for found in mapped[0]["tool_calls"]]
    assert [item["tool_call_id"] for item in mapped[1:]] == ids
    assert ids[1] == "call0abc1"
    assert re.fullmatch(r"[A-Za-z0-9]{9}", ids[0])


@pytest.mark.parametrize(
    "name", ["json_array_marker_ids9", "json_tag_per_call", "bare_json", "one_call_only"]
)
def test_a_conversation_goes_through_the_normaliser(name: str) -> None:
    """Results in completion order, ids of a server, an error: each template renders each call before its own result."""
    template = (ROOT / "corpus" / "templates" / f"{name}.jinja").read_text(encoding="utf-8")
    spec = analyze(Template(name, template), renderer=InProcessRenderer(), verify=False).spec
    assert spec is not None
    turn = message(call("read_file", SERVER_ID, path="pom.xml"), call("read_file", "call_2", path="none"))
    done = tuple(reversed(run(files(), turn)))
    prepared = prepare(spec, [USER, *turn_messages(turn, done)], [READ_FILE])

    request = RenderRequest(
        prepared.messages,
        prepared.tools,
        add_generation_prompt=True,
        special_tokens={"bos_token": "<s>", "eos_token": "</s>"},
    )
    [outcome] = InProcessRenderer().render(template, [request])
    assert isinstance(outcome, Rendered), outcome
    places = [outcome.text.rindex(part) for part in ("<project>demo</project>", "no such file none")]
    assert outcome.text.index('"pom.xml"') < places[0] < places[1]
    if spec.input.ids is not None:
        ids = [one["id"] for item in prepared.messages for one in item.get("tool_calls", ())]
        assert all(re.fullmatch(spec.input.ids, one) for one in ids)
        assert [item["tool_call_id"] for item in prepared.messages if item["role"] == "tool"] == ids
