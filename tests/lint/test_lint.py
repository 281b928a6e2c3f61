"""Lint finds what is wrong with a template, and nothing in a template that is in order."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest

from analyzer.lint import RULES, Finding, lint, rules_table, to_sarif
from analyzer.render import InProcessRenderer, RenderFailure, RenderRequest
from analyzer.template import Template

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "corpus" / "templates"
BASE: Final = (FOLDER / "json_tag_per_call.jinja").read_text(encoding="utf-8")
ASSISTANT: Final = "{{- '<|im_start|>' + message.role"

SPOILT: Final[dict[str, tuple[str, str]]] = {
    "arguments_encoded_twice": (
        "arguments if arguments is string else arguments | tojson",
        "arguments | tojson",
    ),
    "content_absent_refused": ("(message.content or '')", "message['content'] + ''"),
    "id_absent_refused": (
        "{{- '<tool_call>\\n",
        "{%- if call.id is not defined -%}{{- raise_exception('no id') -}}{%- endif -%}{{- '<tool_call>\\n",
    ),
    "type_absent_refused": (
        "{{- '<tool_call>\\n",
        "{{- '' if call.type == 'function' else raise_exception('no type') -}}{{- '<tool_call>\\n",
    ),
    "description_absent_refused": (
        "'\\n' + (tool | tojson)",
        "'\\n' + tool.function.description + (tool | tojson)",
    ),
    "parameters_absent_refused": ("(tool | tojson)", "(tool.function.parameters | tojson)"),
    "empty_tools_shown": ("if ns.system or tools", "if ns.system or tools is not none"),
    "empty_calls_shown": (
        "{{- '<|im_end|>\\n' -}}\n    {%- endif -%}\n{%- endfor -%}",
        "{{- '\\n' if message.tool_calls is defined -}}{{- '<|im_end|>\\n' -}}\n    {%- endif -%}\n{%- endfor -%}",
    ),
    "developer_refused": (
        ASSISTANT,
        "{{- raise_exception('which role?') if message.role == 'developer' -}}" + ASSISTANT,
    ),
    "developer_ignored": (
        ASSISTANT,
        "{%- if message.role == 'developer' -%}{%- continue -%}{%- endif -%}" + ASSISTANT,
    ),
    "system_ignored": ("set ns.system = messages[0].content", "set ns.system = 'Be good.'"),
    "results_ignored": ("'\\n<tool_response>\\n' + message.content + '", "'\\n<tool_response>\\n"),
    "result_unquoted": (
        "'\\n<tool_response>\\n' + message.content + '\\n</tool_response>'",
        "'\\n<tool_response>{\"content\": \"' + message.content + '\"}</tool_response>'",
    ),
    "depends_on_date": (
        "'<|im_start|>system\\n' + ns",
        "strftime_now('%d %B %Y') + '<|im_start|>system\\n' + ns",
    ),
    "html_escaped": (
        "{{- arguments if arguments is string else arguments | tojson",
        "{{- arguments | tojson | e",
    ),
    "undefined_printed": ("(message.content or '')", "(message.get('content') | string)"),
}
"""What makes each finding of the template that has none: a text and what it is replaced by."""


@cache
def linted(text: str) -> tuple[Finding, ...]:
    """The findings of a template's text."""
    return lint(Template("spoilt", text), InProcessRenderer())


def kinds(text: str) -> set[str]:
    """The kinds of the findings of a text."""
    return {found.kind for found in linted(text)}


def test_a_template_in_order_has_no_error_and_no_warning() -> None:
    """Only notes: what may be absent, and what follows from the format."""
    assert {"arguments_absent_refused"} == kinds(BASE)


@pytest.mark.parametrize("kind", SPOILT)
def test_each_fault_is_found(kind: str) -> None:
    """A template with one fault more has that finding more."""
    text = BASE.replace(*SPOILT[kind])
    if kind == "depends_on_date":
        text = text.replace("if ns.system or tools", "if true")

    assert BASE != text
    assert kind in kinds(text)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("defect_content_dropped", "content_lost_beside_calls"),
        ("defect_python_dict_arguments", "arguments_python_dict"),
        ("defect_second_call_lost", "second_call_lost"),
        ("defect_text_arguments_only", "arguments_text_only"),
        ("mutable_sandbox_append", "mutates_input"),
        ("one_call_only", "parallel_calls_refused"),
        ("bare_json", "unmarked_calls"),
        ("tagged_raw_values", "value_holds_closer"),
    ],
)
def test_our_templates_with_a_fault(name: str, kind: str) -> None:
    """Those that were written to have one."""
    assert kind in kinds((FOLDER / f"{name}.jinja").read_text(encoding="utf-8"))


def test_findings_are_reproducible() -> None:
    """The conversation of a refusal is refused again, with the same words."""
    for kind in ("content_absent_refused", "id_absent_refused", "type_absent_refused"):
        text = BASE.replace(*SPOILT[kind])
        [found] = [one for one in linted(text) if one.kind == kind]

        request = RenderRequest(found.conversation["messages"], tools=found.conversation.get("tools"))
        [outcome] = InProcessRenderer().render(text, [request])

        assert isinstance(outcome, RenderFailure)
        assert found.evidence["exception"] == outcome.message


def test_the_worst_come_first() -> None:
    """Errors, then warnings, then notes."""
    ranks = [found.rank for found in linted((FOLDER / "bare_json.jinja").read_text(encoding="utf-8"))]

    assert sorted(ranks) == ranks
    assert len(set(ranks)) > 1


def test_a_template_that_refuses_everything_is_said_so() -> None:
    """There is no spec, and so no more to find."""
    assert {"not_understood"} == kinds("{{ raise_exception('no') }}")


def test_sarif_names_rule_place_and_conversation() -> None:
    """The form that code scanning services read."""
    found = linted(BASE.replace(*SPOILT["id_absent_refused"]))

    log = to_sarif(found, "chat_template.jinja", "0.1")

    [run] = log["runs"]
    results = {result["ruleId"]: result for result in run["results"]}
    place = results["id_absent_refused"]["locations"][0]["physicalLocation"]
    assert "2.1.0" == log["version"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == sorted(results)
    assert {"uri": "chat_template.jinja"} == place["artifactLocation"]
    assert place["region"]["startLine"] > 1
    assert results["id_absent_refused"]["properties"]["conversation"]["messages"]


def test_the_documented_rules_are_the_rules() -> None:
    """docs/lint.md holds the table of rules and of notes as they are."""
    from analyzer.prepare import kinds_table  # noqa: PLC0415

    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")

    assert rules_table() in page, "run scripts/lint_docs"
    assert kinds_table() in page, "run scripts/lint_docs"
    assert all(text.endswith(".") for _, text in RULES.values())
