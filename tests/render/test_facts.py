"""What a template's syntax tree says."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import TemplateError
from analyzer.render.facts import template_facts


def test_names_read_from_messages_are_found_in_every_spelling() -> None:
    """Attribute, item, get, attr filter, membership, aliases, slices and macro arguments all lead to messages."""
    facts = template_facts(
        "{% macro show(m) %}{{ m.by_macro }}{% endmacro %}"
        "{% set rest = messages[1:] %}{% for message in rest if message.role != 'system' %}"
        "{{ message.by_attribute }}{{ message['by item'] }}{{ message.get('by_get') }}{{ message | attr('by_attr') }}"
        "{% if 'by_in' in message %}{% endif %}{{ show(message) }}{{ message.tool_calls[0].function.name.strip() }}"
        "{% endfor %}{{ messages | selectattr('by_filter', 'equalto', 'x') | list }}{{ messages[-1].by_index }}"
    )

    assert {
        "by_macro",
        "role",
        "by_attribute",
        "by item",
        "by_get",
        "by_attr",
        "by_in",
        "tool_calls",
        "by_filter",
        "by_index",
    } == set(facts.fields("messages[]"))
    assert ("function",) == facts.fields("messages[].tool_calls[]")
    assert "strip" not in facts.names
    assert ("x",) == facts.compared["messages[].by_filter"]


def test_strings_that_a_variable_is_compared_with_are_its_values() -> None:
    """Equality, membership and tests count, through filters and assignments too."""
    facts = template_facts(
        "{% set effort = reasoning_effort | default('medium') | lower %}{% if effort == 'low' %}{% endif %}"
        "{% if reasoning_effort in ['high', 'max'] or reasoning_effort is equalto 'none' %}{% endif %}"
    )

    assert {"low", "high", "max", "none"} == set(facts.compared["reasoning_effort"])
    assert ("medium",) == facts.defaults["reasoning_effort"]
    assert ("reasoning_effort",) == facts.inputs


@pytest.mark.parametrize(
    "source",
    [
        "{% if flag %}{% endif %}",
        "{% if not flag %}{% endif %}",
        "{{ 1 if flag is true else 2 }}",
        "{% if flag is defined and flag is false %}{% endif %}",
        "{% if (flag | default(true)) == false %}{% endif %}",
        "{% set f = flag is defined and flag %}{% if f %}{% endif %}",
        "{% set f = flag | default(false) %}{% if f and tools %}{% endif %}",
    ],
)
def test_variables_tested_for_truth_are_switches(source: str) -> None:
    """However the test is written; standard variables are none."""
    assert ("flag",) == template_facts(source).switches


def test_a_variable_that_is_only_set_in_a_branch_is_no_input() -> None:
    """What the template sets itself and never asks for is its own; what it falls back on is an input."""
    facts = template_facts(
        "{% if messages %}{% set own = 1 %}{% endif %}{{ own }}"
        "{% if date is not defined %}{% set date = '1 May' %}{% endif %}{{ date }}{{ bos_token }}"
    )

    assert ("messages", "date", "bos_token") == facts.variables
    assert ("date", "bos_token") == facts.inputs
    assert {"date": ("1 May",)} == facts.defaults


def test_macros_their_parameters_and_loop_items_are_no_inputs() -> None:
    """Not even where the template asks whether they are set, or a macro calls itself."""
    facts = template_facts(
        "{%- macro show(value, deep) -%}{{ show(value) if deep is defined else value | default('') }}{%- endmacro -%}"
        "{%- for key, item in tools | items -%}{{ item is none }}{{ show(key) }}{%- endfor -%}{{ wanted }}"
    )

    assert facts.inputs == ("wanted",)


def test_literals_come_once_and_in_order() -> None:
    """Text and string constants, as they stand in the source."""
    facts = template_facts("<a>{{ 'b' }}{% if x == 'c' %}<a>{% endif %}{{ 'b' ~ 'd' }}{# no #}")

    assert ("<a>", "b", "c", "d") == facts.literals


@pytest.mark.parametrize(
    "source", ["{{ 9 ** (9 ** 9) }}{{ x }}", "{{ 'a' * 10 ** 12 }}{% set y = [0] * 10 ** 12 %}{{ x }}"]
)
def test_nothing_is_evaluated(source: str) -> None:
    """Constants that would take forever are left alone."""
    assert ("x",) == template_facts(source).variables


@pytest.mark.parametrize(
    ("source", "line", "found"),
    [
        ("a\n{% if %}", 2, "Expected an expression"),
        ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", None, "nested too deeply"),
        ("{{ " + "9" * 5000 + " }}", None, "cannot be read"),
    ],
)
def test_wrong_syntax_is_a_template_error(source: str, line: int | None, found: str) -> None:
    """With the line where there is one."""
    with pytest.raises(TemplateError, match=found) as caught:
        template_facts(source)

    assert line == caught.value.line


def test_assignments_in_a_circle_end() -> None:
    """A name that is made of itself is followed once."""
    source = "{% set a = b %}{% set b = c or a %}{% set c = a.x or messages %}" * 20 + "{{ a.y }}"

    assert "messages.y" in template_facts(source).reads


@given(st.text(alphabet="{}%-# abm.'[]()|=\n", max_size=60))
def test_any_text_gives_facts_or_a_template_error(source: str) -> None:
    """Nothing else comes out."""
    with contextlib.suppress(TemplateError):
        template_facts(source)
