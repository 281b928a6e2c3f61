"""Lint finds what is wrong with a template, and nothing in a template that is in order."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

import pytest

from analyzer.lint import RULES, Finding, lint, rules_table, to_sarif
from analyzer.render import InProcessRenderer, Limits, RenderFailure, RenderRequest, RenderWorker
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
    "later_system_refused": (
        ASSISTANT,
        "{{- raise_exception('system first') if message.role == 'system' -}}" + ASSISTANT,
    ),
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
    "markup_escaped": ("{{- '<tool_call>\\n", "{{- '<tool_call>\\n' | e -}}{{- '"),
    "non_ascii_escaped": ("arguments | tojson", "arguments | tojson(ensure_ascii=true)"),
    "calls_lost_beside_content": (
        "message.tool_calls or []",
        "([] if message.content else message.tool_calls or [])",
    ),
    "calls_lost_without_tools": ("message.tool_calls or []", "((message.tool_calls or []) if tools else [])"),
    "second_call_lost": ("message.tool_calls or []", "(message.tool_calls or [])[:1]"),
    "parallel_calls_refused": (
        "{%- for call in",
        "{{- raise_exception('one call') if message.tool_calls and message.tool_calls | length > 1 -}}{%- for call in",
    ),
    "system_refused": (
        "{%- set ns =",
        "{{- raise_exception('no system') if messages[0].role == 'system' -}}{%- set ns =",
    ),
    "tool_results_refused": (
        "{%- if loop.first or loop.previtem",
        "{{- raise_exception('no results') -}}{%- if loop.first or loop.previtem",
    ),
    "tools_refused": (
        "{%- for tool in tools -%}",
        "{{- raise_exception('no tools') -}}{%- for tool in tools -%}",
    ),
    "bare_tools_only": ("'\\n' + (tool | tojson)", "'\\n' + tool.name + (tool | tojson)"),
    "arguments_mapping_only": (
        "arguments if arguments is string else arguments | tojson",
        "dict(arguments.items()) | tojson",
    ),
    "arguments_text_only": ("arguments if arguments is string else arguments | tojson", "arguments + ''"),
    "arguments_python_dict": (
        "arguments if arguments is string else arguments | tojson",
        "arguments | string",
    ),
    "null_content_refused": ("(message.content or '')", "message.content | trim + ''.join(message.content)"),
    "null_content_printed": ("(message.content or '')", "(message.content | string)"),
    "ids_refused": (
        "{{- '<tool_call>\\n",
        "{{- raise_exception('nine!') if call.id | length != 9 -}}{{- '<tool_call>\\n",
    ),
    "ids_lost": (
        '"arguments": \' -}}',
        '"id": "\' + call.id[-9:] + \'", "arguments": \' -}}',
    ),
    "mutates_input": (
        "{%- set rest = messages -%}",
        "{%- set rest = messages -%}{%- set _ = [].append(1) -%}",
    ),
    "not_understood": (
        "{{- '<|im_end|>\\n' -}}\n    {%- endif -%}\n{%- endfor -%}",
        "{{- message.content | length if message.content -}}{{- '<|im_end|>\\n' -}}\n    {%- endif -%}\n{%- endfor -%}",
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


REASONING: Final = "(message.reasoning_content or '')"
THINKING: Final = f"""{{%- if message.reasoning_content -%}}{{{{- '<think>' + {REASONING} + '</think>' -}}}}{{%- endif -%}}"""
PLAIN: Final = "{{- '<|im_start|>' + message.role + '\\n' + (message.content or '') -}}"
"""What the template writes for a message of text."""
OPENED: Final = "{{- '<|im_start|>' + message.role + '\\n' -}}"
TEXT: Final = "{{- message.content or '' -}}"
SPOILT_REASONING: Final[dict[str, str]] = {
    "reasoning_lost_beside_calls": OPENED
    + "{%- if not message.tool_calls -%}"
    + THINKING
    + "{%- endif -%}"
    + TEXT,
    "reasoning_lost_without_calls": OPENED
    + "{%- if message.tool_calls -%}"
    + THINKING
    + "{%- endif -%}"
    + TEXT,
    "reasoning_trimmed": OPENED + THINKING.replace(REASONING, REASONING + " | trim") + TEXT,
    "content_trimmed": OPENED
    + THINKING
    + TEXT.replace("message.content or ''", "(message.content or '') | trim"),
    "ambiguous": OPENED + "{{- message.reasoning_content or '' -}}" + TEXT,
}
"""What makes each finding of a template that writes reasoning: how it writes a message."""


def reasoning_template(written: str) -> str:
    """The template with reasoning, its messages written so."""
    assert PLAIN in BASE
    return BASE.replace(PLAIN, written)


@pytest.mark.parametrize("kind", SPOILT_REASONING)
def test_each_fault_of_reasoning_is_found(kind: str) -> None:
    """And none of them where reasoning is written as it should be."""
    assert kind in kinds(reasoning_template(SPOILT_REASONING[kind]))
    assert kind not in kinds(reasoning_template(OPENED + THINKING + TEXT))


def test_what_is_lost_under_one_setting_is_a_note_that_names_it() -> None:
    """A switch that is meant to leave reasoning out is no fault."""
    switched = "{%- if keep -%}" + THINKING + "{%- endif -%}"

    found = linted(reasoning_template(OPENED + switched + TEXT))

    lost = [one for one in found if one.kind.startswith("reasoning_lost")]
    assert {"note"} == {one.severity for one in lost}
    assert all("unless `keep` is True" in one.message for one in lost)


def test_a_date_that_is_handed_in_is_not_todays() -> None:
    """Only what the template takes from the clock makes the prompt change every day."""
    asked = BASE.replace("'<|im_start|>system\\n' + ns", "datetime + '<|im_start|>system\\n' + ns")
    asked = asked.replace("if ns.system or tools", "if true")

    assert BASE != asked
    assert "depends_on_date" not in kinds(asked)


def test_another_header_behind_a_result_is_no_broken_turn() -> None:
    """Only calls that are written in another way are."""
    header = "{{- '<|im_start|>' + message.role + '\\n'"
    unheaded = BASE.replace(
        header,
        "{{- ('' if loop.previtem and loop.previtem.role == 'tool' else '<|im_start|>' + message.role + '\\n')",
    )

    assert BASE != unheaded
    assert "turn_after_result_broken" not in kinds(unheaded)


@pytest.mark.parametrize(
    "name",
    [
        "header_and_body_name",
        "tagged_raw_values",
        "bare_json",
        "id_with_name_and_counter",
        "mutable_sandbox_append",
    ],
)
def test_conversations_show_what_is_said(name: str) -> None:
    """Each finding but those of the whole format has a conversation; two that are said to be alike render alike."""
    text = (FOLDER / f"{name}.jinja").read_text(encoding="utf-8")
    found = linted(text)

    assert found
    for one in found:
        if one.kind in {"end_in_marker", "marker_begins_text", "toggle_marker"}:
            continue
        assert one.conversation["messages"], one
        if one.evidence.get("proof") == "same_render" and "other" in one.evidence:
            messages = list(one.conversation["messages"])
            pair = [messages, [*messages[:-1], one.evidence["other"]]]
            tools = one.conversation.get("tools")
            renders = InProcessRenderer().render(
                text, [RenderRequest(chat, tools=tools) for chat in pair], mutable=True
            )
            assert renders[0] == renders[1]


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
        ("defect_closer_escaped", "markup_escaped"),
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


def test_an_escaped_closer_is_shown_by_one_call_with_one_argument() -> None:
    """And not found where nothing is escaped."""
    text = (FOLDER / "defect_closer_escaped.jinja").read_text(encoding="utf-8")
    [found] = [one for one in linted(text) if one.kind == "markup_escaped"]

    *_, turn = found.conversation["messages"]
    [call] = turn["tool_calls"]
    assert 1 == len(call["function"]["arguments"])
    assert "&lt;/with&gt;" in found.evidence["render"]
    assert "markup_escaped" not in kinds(text.replace("value | tojson | safe", "value | tojson"))


SYSTEM_RAISES: Final = "{{- raise_exception('system first') -}}"


@pytest.mark.parametrize(
    ("condition", "roles"),
    [
        ("not loop.first and message.role == 'system'", ["system", "system", "user"]),
        (
            "message.role == 'system' and not loop.first and loop.previtem.role != 'system'",
            ["system", "user", "assistant", "system", "user"],
        ),
    ],
)
def test_a_later_system_message_that_is_refused_has_the_shortest_conversation(
    condition: str, roles: list[str]
) -> None:
    """A second one at the beginning, or only one in the middle; the first one alone is taken."""
    known = "{%- if message.role == 'tool' -%}"
    text = BASE.replace("messages[1:]", "messages").replace(
        known, f"{{%- if {condition} -%}}{SYSTEM_RAISES}{{%- endif -%}}{known}"
    )
    [found] = [one for one in linted(text) if one.kind == "later_system_refused"]

    assert "note" == found.severity
    assert roles == [message["role"] for message in found.conversation["messages"]]
    assert "system first" == found.evidence["exception"]
    assert text.count("\n", 0, text.index(SYSTEM_RAISES)) + 1 == found.line
    assert "tools" not in found.conversation


@pytest.mark.parametrize("kind", ["system_refused", "system_ignored"])
def test_a_system_message_that_is_not_taken_first_is_no_later_one(kind: str) -> None:
    """There is one finding for it, though a later one is refused too."""
    found = kinds(BASE.replace(*SPOILT["later_system_refused"]).replace(*SPOILT[kind]))

    assert kind in found
    assert "later_system_refused" not in found


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
    """There is no spec, and so no more to find; the conversation is the first that is refused."""
    [always] = linted("{{ raise_exception('no') }}")
    [later] = linted("{{ messages[0].content }}{{ raise_exception('one only') if messages | length > 1 }}")
    [silent] = linted("<|user|>Transcribe.<|end|>")

    assert {("conversation_refused", "error")} == {
        (one.kind, one.severity) for one in (always, later, silent)
    }
    assert "no" == always.evidence["exception"]
    assert ["user"] == [message["role"] for message in always.conversation["messages"]]
    assert "one only" == later.evidence["exception"]
    assert ["user", "assistant"] == [message["role"] for message in later.conversation["messages"]]
    assert "<|user|>Transcribe.<|end|>" == silent.evidence["render"]


ENDLESS: Final = (
    "{%- for m in messages %}{{- '<|' + m.role + '|>' + (m.content or '') }}"
    "{%- for call in m.tool_calls or [] %}{%- for i in range(99999) %}{%- for j in range(99999) %}"
    "{%- endfor %}{%- endfor %}{%- endfor %}{{- '<|end|>' }}{%- endfor %}"
)


def test_a_render_that_has_to_be_stopped_is_an_error_with_the_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A template that ends for text and never for calls."""
    short = Limits(seconds=0.3)
    monkeypatch.setattr("analyzer.lint.linting.RenderWorker", lambda: RenderWorker(short))
    with RenderWorker(short) as renderer:
        found = lint(Template("endless", ENDLESS), renderer)

    [stopped] = [one for one in found if one.kind == "render_stopped"]
    assert "error" == stopped.severity
    assert "stopped after 0.3 s" == stopped.evidence["exception"]
    assert stopped.conversation["messages"][-1]["tool_calls"]


def test_variables_are_set_in_each_render() -> None:
    """What is found is found for them."""
    known = "{%- set rest = messages -%}"
    chosen = BASE.replace(known, known + "{{- raise_exception('hush') if silent -}}")
    assert BASE != chosen

    found = lint(Template("chosen", chosen), InProcessRenderer(), {"silent": True})

    assert ["conversation_refused"] == [one.kind for one in found]
    assert "conversation_refused" not in kinds(chosen)


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
