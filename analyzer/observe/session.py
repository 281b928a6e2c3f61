"""A session: one template, one renderer, and the shape of input that the template was found to accept.

Probes are rendered in batches. A render that failed is None here; the session keeps the failures' messages, since a refusal is a
finding.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from analyzer.observe import probes
from analyzer.observe.needles import Needles
from analyzer.render.outcome import EncodedOnce, Rendered, RenderFailure, RenderRequest
from analyzer.render.worker import Renderer
from analyzer.template import Template

Chat = Sequence[Mapping[str, Any]]


class Form(NamedTuple):
    """What a shape says of messages."""

    arguments: str
    empty_content: str
    parts: bool
    system: bool
    followed: bool
    flat: bool
    assistant_fields: tuple[tuple[str, str], ...]


class Shaped(EncodedOnce):
    """Messages that are written in the shape of a session already."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of input: what a conversation must look like for this template."""

    arguments: str = "mapping"
    """`mapping` or `text`."""
    empty_content: str = "empty"
    """How an assistant message without text is written: `empty` (""), `null`, `absent`, or `space`."""
    parts: bool = False
    """True: content is a list of parts, `[{"type": "text", "text": ...}]`."""
    system: bool = True
    """True: the conversation may begin with a system message."""
    mutable: bool = False
    variables: Mapping[str, Any] = field(default_factory=dict)
    followed: bool = False
    """True: calls are rendered only in a turn that results follow."""
    tools_given: bool = False
    """True: the template does not render without tools."""
    tools_refused: bool = False
    """True: the template does not render with tools; its calls are rendered without."""
    flat: bool = False
    """True: tools and calls are the function objects themselves, `{"name": ..., "arguments": ...}`."""
    assistant_fields: Mapping[str, str] = field(default_factory=dict)
    """Fields that every assistant message must have."""

    @property
    def form(self) -> Form:
        """What it says of messages."""
        return Form(
            self.arguments,
            self.empty_content,
            self.parts,
            self.system,
            self.followed,
            self.flat,
            tuple(self.assistant_fields.items()),
        )


@dataclass(frozen=True, slots=True)
class Ask:
    """One render to make."""

    chat: Chat
    tools: Chat | None = None
    prompt: bool = False
    """True: with the generation prompt."""
    variables: Mapping[str, Any] = field(default_factory=dict)


class Session:
    """Renders probes of one template in its accepted shape."""

    def __init__(
        self, template: Template, renderer: Renderer, needles: Needles, shape: Shape | None = None
    ) -> None:
        self.template = template
        self.renderer = renderer
        self.needles = needles
        self.shape = shape or Shape()
        self.failures: list[tuple[str, RenderFailure]] = []
        self.renders = 0

    def with_shape(self, **changes: Any) -> Session:
        """Return a session with another shape; failures and counts are shared."""
        other = Session(self.template, self.renderer, self.needles, replace(self.shape, **changes))
        other.failures = self.failures
        return other

    def render(self, asks: Sequence[Ask], label: str = "") -> list[str | None]:
        """Render all `asks` in one batch. A failed render is None, and its message is kept under `label`."""
        return render_each([(self, ask) for ask in asks], label)

    def _texts(self, requests: Sequence[RenderRequest], labels: Sequence[str]) -> list[str | None]:
        outcomes = self.renderer.render(self.template.text, requests, mutable=self.shape.mutable)
        self.renders += len(requests)
        texts: list[str | None] = []
        for outcome, label in zip(outcomes, labels, strict=True):
            if isinstance(outcome, Rendered):
                texts.append(outcome.text)
            else:
                self.failures.append((label, outcome))
                texts.append(None)
        return texts

    def one(self, chat: Chat, label: str = "", **ask: Any) -> str | None:
        """Render one conversation."""
        return self.render([Ask(chat, **ask)], label)[0]

    def _request(self, ask: Ask) -> RenderRequest:
        form = self.shape.form
        return RenderRequest(
            messages=ask.chat if isinstance(ask.chat, Shaped) else [shaped(one, form) for one in ask.chat],
            tools=self._shaped_tools(ask.tools),
            add_generation_prompt=ask.prompt,
            special_tokens=self.template.special_tokens,
            variables={**self.shape.variables, **ask.variables},
        )

    def _shaped_tools(self, tools: Chat | None) -> Chat | None:
        if self.shape.tools_refused:
            return None
        if tools is None and self.shape.tools_given:
            tools = probes.tools(self.needles)
        if tools is not None and self.shape.flat:
            usual = tools is probes.tools(self.needles)
            return probes.bare_tools(self.needles) if usual else [tool["function"] for tool in tools]
        return tools


def shaped(message: Mapping[str, Any], form: Form) -> dict[str, Any]:
    """Return the message as the form wants it."""
    out = dict(message)
    content = out.get("content")
    if out["role"] == "assistant" and content == "":
        if form.empty_content == "null":
            out["content"] = None
        elif form.empty_content == "absent":
            del out["content"]
        elif form.empty_content == "space":
            out["content"] = " "
    elif form.parts and isinstance(content, str):
        out["content"] = [{"type": "text", "text": content}]
    if out["role"] == "assistant" and form.assistant_fields:
        out = {**dict(form.assistant_fields), **out}
    if "tool_calls" in out and form.arguments == "text":
        out["tool_calls"] = [_with_text_arguments(call) for call in out["tool_calls"]]
    if "tool_calls" in out and form.flat:
        out["tool_calls"] = [{"id": call["id"], **call["function"]} for call in out["tool_calls"]]
    return out


def render_each(pairs: Sequence[tuple[Session, Ask]], labels: str | Sequence[str] = "") -> list[str | None]:
    """Render probes in several shapes of the same template, in one batch for each sandbox.

    A failed render is None, and its message is kept under its label: one for all, or one each.
    """
    each = [labels] * len(pairs) if isinstance(labels, str) else labels
    texts: dict[int, str | None] = {}
    for mutable in (False, True):
        places = [at for at, (session, _) in enumerate(pairs) if session.shape.mutable == mutable]
        if places:
            requests = [session._request(ask) for session, ask in map(pairs.__getitem__, places)]  # noqa: SLF001
            found = pairs[places[0]][0]._texts(requests, [each[at] for at in places])  # noqa: SLF001
            texts.update(zip(places, found, strict=True))
    return [texts[at] for at in range(len(pairs))]


def _with_text_arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call["function"])
    if not isinstance(function["arguments"], str):
        function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    return {**call, "function": function}
