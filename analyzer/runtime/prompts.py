"""Which of a spec's generation prompts a turn begins with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyzer.runtime.compile import Compiled
    from analyzer.spec.model import Spec


def prompt_for(spec: Spec, settings: Mapping[str, Any], after: str = "user") -> str:
    """Return the generation prompt for these template variables behind a message of this role (`user` or `result`).

    Variables on which no prompt depends change nothing, so a request's whole `chat_template_kwargs` may be given.
    """
    prompts = spec.turn.prompts
    fitting = [prompt for prompt in prompts if prompt.set.items() <= settings.items()]
    here = [prompt for prompt in fitting if prompt.after == after] or fitting or list(prompts[:1])
    return max(here, key=lambda prompt: len(prompt.set)).text if here else ""


def prompt_end(spec: Spec, prompt: str) -> str | None:
    """Return the longest of the spec's generation prompts that a rendered prompt ends with; None when it ends otherwise."""
    return max((p.text for p in spec.turn.prompts if prompt.endswith(p.text)), key=len, default=None)


def prompt_text(
    spec: Spec, compiled: Compiled, prompt: str | None, settings: Mapping[str, Any] | None, after: str
) -> tuple[str, bool]:
    """Return (the text of the spec's prompt that the turn begins with, is the given prompt one of them)."""
    if prompt is not None:
        found = prompt_end(spec, prompt)
        return (found, True) if found is not None else ("", not (spec.turn.prompts or prompt))
    if settings:
        return prompt_for(spec, settings, after), True
    text = compiled.usual_prompts.get(after)
    if text is None:
        text = prompt_for(spec, {}, after)
        if after in {"user", "result"}:
            compiled.usual_prompts[after] = text
    return text, True
