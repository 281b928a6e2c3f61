"""What `prepare` makes of awkward conversations renders with every template, or it is said why it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analyzer.analysis import analyze
from analyzer.corpus import is_synced
from analyzer.prepare import Prepared, prepare
from analyzer.render import InProcessRenderer, RenderFailure, RenderRequest
from analyzer.spec.model import Spec
from analyzer.template import Template
from tests.budget import NIGHTLY, real_templates

HERE: Final = Path(__file__)
TEMPLATES: Final = sorted((HERE.parents[2] / "corpus" / "templates").glob("*.jinja"))
CONVERSATIONS: Final[list[dict[str, Any]]] = yaml.safe_load(
    HERE.with_name("conversations.yaml").read_text(encoding="utf-8")
)
SHARDS: Final = 4
STRIDE: Final = 1 if NIGHTLY else 4
"""Every fourth template, but for the night: analysing one costs more than rendering."""
KNOWN: Final = (
    "Object of type generator is not JSON serializable",  # the template cannot print tools, whichever (`tools_refused`)
    "IDs should be alphanumeric",  # `input.ids` is not inferred
    "missing a thinking field",  # nor fields that every assistant message must have
    "alternate between user/tool and assistant",  # nor that a turn of several calls takes no results
)
"""Refusals that a spec does not tell of yet."""
PROPERTIES: Final = {
    "get_weather": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "list_hotels": {"full": {"type": "boolean"}},
}
TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Does it.",
            "parameters": {"type": "object", "properties": properties},
        },
    }
    for name, properties in PROPERTIES.items()
]


def failures(template: Template, spec: Spec) -> list[tuple[str, RenderFailure]]:
    """The conversations that do not render, though nothing was said of it."""
    found = []
    for conversation in CONVERSATIONS:
        prepared = prepare(spec, conversation["messages"], conversation.get("tools", TOOLS))
        failure = render(template, spec, prepared)
        known = failure is not None and any(words in failure.message for words in KNOWN)
        if failure is not None and not known and not prepared.problems:
            found.append((conversation["id"], failure))
    return found


def render(template: Template, spec: Spec, prepared: Prepared) -> RenderFailure | None:
    """The failure of rendering, None when it renders."""
    request = RenderRequest(
        messages=prepared.messages,
        tools=prepared.tools,
        add_generation_prompt=True,
        special_tokens=template.special_tokens,
        variables=dict(spec.input.variables),
    )
    [outcome] = InProcessRenderer().render(template.text, [request], mutable=spec.input.mutable)
    return outcome if isinstance(outcome, RenderFailure) else None


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_awkward_conversations_render(path: Path) -> None:
    """Each of our templates renders all of them."""
    found = analyze(path, renderer=InProcessRenderer(), verify=False)
    assert found.spec is not None

    assert [] == failures(found.template, found.spec)


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not here: analyzer corpus sync --which core")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_awkward_conversations_render_with_real_templates(shard: int) -> None:
    """Each real template that renders calls renders all of them, or it is said why it cannot."""
    failed = []
    for template in real_templates()[shard :: SHARDS * STRIDE]:
        found = analyze(template, renderer=InProcessRenderer(), verify=False)
        if found.spec is not None and found.spec.calls is not None:
            failed += [(template.name, *one) for one in failures(found.template, found.spec)]

    assert [] == failed
