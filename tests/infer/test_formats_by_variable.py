"""Templates whose variables choose between formats: a spec holds one, says which settings it is not for, and each can be asked for."""

from __future__ import annotations

import hashlib
from pathlib import Path

from analyzer.analysis import Analysis, analyze
from analyzer.render import InProcessRenderer
from analyzer.spec.model import Defect, Scalar, Spec
from analyzer.template import Template, load_templates

TEMPLATES = Path(__file__).parents[2] / "corpus" / "templates"
CALLS = (
    '{%- for call in message.tool_calls or [] -%}{{- \'<call>{"name": "\' + call.function.name + '
    "'\", \"arguments\": ' + (call.function.arguments | tojson) + '}</call>' -}}{%- endfor -%}"
)


def inline(text: str) -> Template:
    """A template of that text."""
    return Template("inline", text, hashlib.sha256(text.encode()).hexdigest(), {})


def analysed(template: Template, **variables: Scalar) -> tuple[Analysis, Spec]:
    """The analysis under these variables, and its spec."""
    done = analyze(template, renderer=InProcessRenderer(), variables=variables)
    assert done.spec is not None
    return done, done.spec


def varying(spec: Spec) -> Defect:
    """The defect that names the settings the spec is not for."""
    (found,) = (defect for defect in spec.defects if defect.kind == "format_varies")
    return found


def own(name: str) -> Template:
    """One of our own templates."""
    (template,) = load_templates(str(TEMPLATES / f"{name}.jinja"))
    return template


def test_a_variable_that_only_history_shows_is_named_with_its_witness() -> None:
    """The prompt is the same under both formats: what differs is the turn of calls."""
    done, spec = analysed(own("format_by_variable"))
    found = varying(spec)

    assert done.verdict == "proven_with_defects"
    assert spec.input.settings == {}
    assert found.witness["settings"] == ['call_format="json"']
    assert 'call_format="json"' in found.message
    assert "<call>" in found.witness["render"]


def test_the_other_format_can_be_asked_for() -> None:
    """Under the variable the same template has another spec, and that one names the variable."""
    done, spec = analysed(own("format_by_variable"), call_format="json")

    assert done.verdict == "proven"
    assert spec.input.variables == {"call_format": "json"}
    assert spec.calls is not None
    assert [layout.kind for layout in spec.calls.layouts] == ["json"]
    assert [defect.kind for defect in spec.defects] == ["arguments_mapping_only"]


def conversation(turn: str, prompt: str) -> Template:
    """A template with such a turn of the assistant and such a prompt."""
    return inline(
        "{%- for message in messages -%}{%- if message.role == 'assistant' -%}"
        + turn
        + "{%- else -%}{{- '<' + message.role + '>' + message.content -}}{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}" + prompt + "{%- endif -%}"
    )


def test_a_setting_with_another_header_in_the_prompt_is_left_out() -> None:
    """The spec's prompts and settings leave it out also behind a result, where the prompt is the usual one."""
    turn = "{{- '<bot>' + (message.content or '') -}}" + CALLS + "{{- '<end>' -}}"
    prompt = "{{- '<muse>' if deep is defined and deep and messages[-1].role != 'tool' else '<bot>' -}}"
    done, spec = analysed(conversation(turn, prompt))

    assert done.verdict == "proven_with_defects"
    assert spec.input.settings == {}
    assert {prompt.text for prompt in spec.turn.prompts} == {"<bot>"}
    assert varying(spec).witness["settings"] == ["deep=true"]
    assert varying(spec).witness["prompt"] == "<muse>"


def test_a_setting_that_changes_the_prompt_and_the_markers_of_calls_is_left_out() -> None:
    """A prompt that begins a thought is one of the spec's settings; one under which calls have other markers is none."""
    calls = CALLS.replace("<call>", "<' + mark + '>").replace("</call>", "</' + mark + '>")
    turn = (
        "{%- set mark = 'do' if style is defined and style == 'terse' else 'call' -%}"
        "{{- '<bot>' + ('<think>' + message.reasoning + '</think>' if message.reasoning else '') -}}"
        "{{- message.content or '' -}}" + calls + "{{- '<end>' -}}"
    )
    prompt = "{{- '<bot>' + ('<think>' if style is defined and style in ['terse', 'deep'] else '') -}}"
    done, spec = analysed(conversation(turn, prompt))

    assert done.verdict == "proven_with_defects"
    assert set(spec.input.settings["style"]) == {"deep"}
    assert varying(spec).witness["settings"] == ['style="terse"']


def test_what_a_variable_loses_is_no_other_format() -> None:
    """A variable that only leaves the calls out of history says nothing of how they are written."""
    turn = (
        "{{- '<bot>' + (message.content or '') -}}{%- if not (plain is defined and plain) -%}"
        + CALLS
        + "{%- endif -%}{{- '<end>' -}}"
    )
    _, spec = analysed(conversation(turn, "{{- '<bot>' -}}"))

    assert "format_varies" not in {defect.kind for defect in spec.defects}


def test_a_conversation_written_as_one_document_is_no_crash() -> None:
    """Results stand inside the document, not behind the calls: there is nothing to say of them."""
    done = analyze(
        inline("{{- '### Instruction:\\n' + (messages | tojson) + '\\n\\n### Response:\\n' -}}"),
        renderer=InProcessRenderer(),
    )

    assert done.spec is not None
    assert done.spec.results is None
    assert done.verdict == "failed"
