"""The templates written for this project render, each in the layout that it is there to show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analyzer.render import InProcessRenderer, Outcome, Rendered, RenderFailure, RenderRequest
from analyzer.spec.document import load_spec

ROOT: Final = Path(__file__).parents[2]
GOLDEN: Final = ROOT / "generated" / "own"
TEMPLATES: Final = sorted((ROOT / "corpus" / "templates").glob("*.jinja"))
EXPECTED: Final[dict[str, dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("own_templates.yaml").read_text(encoding="utf-8")
)
VARIANTS: Final = [
    pytest.param(name, variant, id=f"{name}-{'-'.join(f'{k}={v}' for k, v in variant['set'].items())}")
    for name, expected in EXPECTED.items()
    for variant in expected.get("variants", ())
]
CALLS: Final = {"get_weather": {"city": "Paris", "days": 3}, "list_hotels": {"full": True}}
TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"What {name} does.",
            "parameters": {
                "type": "object",
                "properties": {
                    key: {"type": "string" if isinstance(value, str) else "number"}
                    for key, value in arguments.items()
                },
            },
        },
    }
    for name, arguments in CALLS.items()
]


def conversation(needs: list[str]) -> list[dict[str, Any]]:
    """A conversation with calls, results, an answer and one more question."""
    names = list(CALLS)[:1] if "one_call" in needs else list(CALLS)
    as_text = "text_arguments" in needs
    calls = [
        {
            "type": "function",
            "id": f"call{number:05}",
            "function": {"name": name, "arguments": json.dumps(CALLS[name]) if as_text else CALLS[name]},
        }
        for number, name in enumerate(names, start=1)
    ]
    results = [
        {"role": "tool", "name": name, "tool_call_id": f"call{number:05}", "content": f"RESULT-{number}"}
        for number, name in enumerate(names, start=1)
    ]
    return [
        {"role": "system", "content": "SYSTEM"},
        {"role": "user", "content": "QUESTION"},
        {"role": "assistant", "content": "BESIDE", "reasoning_content": "THOUGHT", "tool_calls": calls},
        *results,
        {"role": "assistant", "content": "ANSWER"},
        {"role": "user", "content": "NEXT"},
    ]


def render(name: str, *, needs: list[str], variables: dict[str, Any] | None = None) -> Outcome:
    """The conversation that `needs` asks for, rendered with one of our templates."""
    source = (ROOT / "corpus" / "templates" / f"{name}.jinja").read_text(encoding="utf-8")
    request = RenderRequest(
        messages=conversation(needs),
        tools=TOOLS,
        add_generation_prompt=True,
        special_tokens={"bos_token": "<s>", "eos_token": "</s>"},
        variables=variables or {},
    )
    [outcome] = InProcessRenderer().render(source, [request], mutable="mutable_sandbox" in needs)
    return outcome


def render_text(name: str, variables: dict[str, Any] | None = None) -> str:
    """The render of a conversation that suits the template."""
    outcome = render(name, needs=EXPECTED[name].get("needs", []), variables=variables)
    assert isinstance(outcome, Rendered), outcome
    return outcome.text


def test_every_template_has_its_expectations() -> None:
    """No template goes untested, and no expectation is left behind."""
    names = [path.stem for path in TEMPLATES]

    assert len(names) >= 26
    assert sorted(EXPECTED) == names


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_template_says_what_it_shows(path: Path) -> None:
    """The first line of a template names its kind."""
    first = path.read_text(encoding="utf-8").partition("\n")[0]

    assert first.startswith("{#- kind: ")
    assert first.endswith(" -#}")


@pytest.mark.parametrize("name", EXPECTED)
def test_template_writes_its_layout(name: str) -> None:
    """The calls, the markers around them and the generation prompt are as the layout demands."""
    expected = EXPECTED[name]
    text = render_text(name)

    for fragment in [expected["calls"], *expected.get("also", ())]:
        assert fragment in text
    for fragment in expected.get("absent", ()):
        assert fragment not in text
    assert text.endswith(expected["ends"])


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_variable_changes_the_generation_prompt(name: str, variant: dict[str, Any]) -> None:
    """A variable of the template changes what the generation prompt prefills."""
    text = render_text(name, variant["set"])

    assert text.endswith(variant["ends"])


@pytest.mark.parametrize("name", [name for name, expected in EXPECTED.items() if expected.get("needs")])
def test_template_refuses_what_it_cannot_take(name: str) -> None:
    """A template that makes a demand fails when it is not met, and does not render something else."""
    outcome = render(name, needs=[])

    assert isinstance(outcome, RenderFailure)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_the_committed_spec_of_a_template_is_no_failure(path: Path) -> None:
    """None of our own templates is a gap (`scripts/regenerate --check` tells whether the specs are those of today)."""
    spec = load_spec(GOLDEN / f"{path.stem}.yaml")

    assert () == spec.verification.failures
    assert "failed" != spec.verification.verdict
