"""Our environment gives the characters that transformers gives, on templates made for each of its rules."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from analyzer.render import InProcessRenderer, Rendered, RenderFailure, RenderRequest, as_transformers
from analyzer.render.environment import FIXED_NOW
from tests.render.conversations import CONVERSATIONS, SPECIAL_TOKENS

utilities = pytest.importorskip(
    "transformers.utils.chat_template_utils", reason="transformers is not installed"
)

TEMPLATES = {
    "whole messages": "{{ messages }}|{{ tools }}|{{ documents }}|{{ add_generation_prompt }}",
    "tojson": "{{ messages | tojson }}{{ tools | tojson(indent=2) }}{{ messages | tojson(true) }}"
    "{{ messages | tojson(separators=(',', ':'), sort_keys=true) }}",
    "white space": "  {% if true %}\n  a  \n  {% endif %}\n\n {# c #}\nb {%- if true -%} c {% endif %}\n",
    "loops": "{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.role }}{% break %}{% endfor %}",
    "generation": "a {% generation %}\n {{ messages[0].content }} \n{% endgeneration %} b",
    "tokens": "{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ enable_thinking }}",
    "clock": "{{ strftime_now('%d %b %Y %H:%M:%S %A') }}",
    "namespace": "{% set ns = namespace(a=1, self=2) %}{% set ns.a = ns.a + 1 %}{{ ns.a }}{{ ns.self }}",
    "dict": "{{ dict(a=1, **{'b': 2}) }}{{ dict.fromkeys(['x'], 1) }}",
    "private namespace": "{% set ns = namespace(_a=1) %}",
    "private attribute": "{% set ns = namespace() %}{% set ns._a = 1 %}",
    "refusal": "{{ raise_exception('Roles must alternate ' ~ messages[0].role) }}",
    "append": "{% set _ = messages.append(1) %}",
    "undefined": "{{ messages[0].nothing.more }}",
    "type": "{{ messages[0].content + 1 }}",
    "syntax": "{% if %}",
    "include": "{% include 'other' %}",
    "methods": "{{ messages[0].content.split('<')[-1].strip() | upper | e }}{{ '%s' | format(1) }}{{ '{}'.format(2) }}",
    "class": "{{ ''.__class__ }}{{ dict.__class__ }}",
}


class StoppedClock(datetime):
    """A clock that tells our time."""

    @classmethod
    def now(cls, tz: Any = None) -> Any:  # noqa: ARG003  (the reference's signature)
        """Always the same."""
        return FIXED_NOW


def reference(text: str, given: dict[str, Any]) -> str | Exception:
    """What transformers renders, or what it raises."""
    variables = {**SPECIAL_TOKENS, **given.get("variables", {})}
    try:
        rendered, _ = utilities.render_jinja_template(
            conversations=[utilities._normalize_chat_messages(given["messages"])],
            tools=given.get("tools"),
            chat_template=text,
            add_generation_prompt=given.get("add_generation_prompt", False),
            **variables,
        )
    except Exception as error:  # noqa: BLE001  (whatever it is)
        return error
    assert isinstance(rendered[0], str)
    return rendered[0]


def request_of(given: dict[str, Any]) -> RenderRequest:
    """The same conversation as a request of ours."""
    return RenderRequest(
        **{**given, "messages": as_transformers(given["messages"]), "special_tokens": SPECIAL_TOKENS}
    )


@pytest.mark.parametrize("conversation", CONVERSATIONS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_render_as_in_transformers(
    name: str, conversation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same text comes out, or both refuse."""
    monkeypatch.setattr(utilities, "datetime", StoppedClock)
    given = CONVERSATIONS[conversation]

    expected = reference(TEMPLATES[name], given)
    outcome = InProcessRenderer().render(TEMPLATES[name], [request_of(given)])[0]

    if isinstance(expected, Exception):
        assert isinstance(outcome, RenderFailure)
    else:
        assert Rendered(expected) == outcome


def test_messages_are_normalised_without_being_changed() -> None:
    """None is dropped at the top only, reasoning is copied under both names, the input stays as it was."""
    message = {"role": "assistant", "content": None, "reasoning": "r", "tool_calls": [{"id": None}]}
    before = dict(message)

    assert [
        {
            "thinking": "r",
            "role": "assistant",
            "reasoning": "r",
            "tool_calls": [{"id": None}],
            "reasoning_content": "r",
        }
    ] == as_transformers([message])
    assert before == message
