"""What `prepare` makes of awkward conversations renders with every template, or it is said why it cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from analyzer.analysis import analyze, with_stand_ins
from analyzer.corpus import is_synced
from analyzer.infer.inference import infer
from analyzer.prepare import Prepared, prepare
from analyzer.render import InProcessRenderer, RenderFailure, RenderRequest
from analyzer.spec.model import Spec
from analyzer.template import Template
from tests.budget import real_templates

HERE: Final = Path(__file__)
TEMPLATES: Final = sorted((HERE.parents[2] / "corpus" / "templates").glob("*.jinja"))
CONVERSATIONS: Final[list[dict[str, Any]]] = yaml.safe_load(
    HERE.with_name("conversations.yaml").read_text(encoding="utf-8")
)
SHARDS: Final = 4
FATAL: Final = {"tools_refused", "tools_required"}
"""Problems with which no render can come out; where one does, the fact in the spec is wrong."""
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


def failures(template: Template, spec: Spec, renderer: InProcessRenderer) -> list[tuple[str, object]]:
    """The conversations that do not render though nothing was said of it, and those that do though it was said they cannot."""
    found: list[tuple[str, object]] = []
    for conversation in CONVERSATIONS:
        prepared = prepare(spec, conversation["messages"], conversation.get("tools", TOOLS))
        failure = render(template, spec, prepared, renderer)
        problems = {note.kind for note in prepared.problems}
        if failure is not None and not problems:
            found.append((conversation["id"], failure))
        if failure is None and problems & FATAL:
            found.append((conversation["id"], problems & FATAL))
    return found


def render(
    template: Template, spec: Spec, prepared: Prepared, renderer: InProcessRenderer
) -> RenderFailure | None:
    """The failure of rendering, None when it renders."""
    request = RenderRequest(
        messages=prepared.messages,
        tools=prepared.tools,
        add_generation_prompt=True,
        special_tokens=template.special_tokens,
        variables=dict(spec.input.variables),
    )
    [outcome] = renderer.render(template.text, [request], mutable=spec.input.mutable)
    return outcome if isinstance(outcome, RenderFailure) else None


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_awkward_conversations_render(path: Path) -> None:
    """Each of our templates renders all of them."""
    renderer = InProcessRenderer()
    found = analyze(path, renderer=renderer, verify=False)
    assert found.spec is not None

    assert [] == failures(found.template, found.spec, renderer)


@pytest.mark.corpus
@pytest.mark.skipif(not is_synced(), reason="the corpus is not here: analyzer corpus sync --which core")
@pytest.mark.parametrize("shard", range(SHARDS))
def test_awkward_conversations_render_with_real_templates(shard: int) -> None:
    """Each real template that has calls renders all of them, or it is said why it cannot."""
    failed, tried = [], 0
    renderer = InProcessRenderer()
    for given in real_templates()[shard::SHARDS]:
        template = with_stand_ins(given)
        spec = infer(template, renderer).spec
        if spec is not None and spec.calls is not None:
            tried += 1
            failed += [(template.name, *one) for one in failures(template, spec, renderer)]

    assert [] == failed
    assert tried > 0
