"""What is left of a template whose history never shows a turn as the model writes it.

A moderation prompt quotes the conversation and then asks for a judgement; a reward model's prompt ends in a token behind which
nothing is written; some histories give the assistant's words to the user.  What comparisons of such histories find is
no format of the model's replies.  The generation prompts are still known, and all that comes behind one is content.
"""

from __future__ import annotations

from analyzer.observe.lexemes import common_start
from analyzer.spec.model import ContentSegment, Evidence, Grammar, Spec, Turn


def unshown(spec: Spec) -> Spec:
    """The spec of replies that no render shows: the prompts of `spec`, the calls that were read from a description, and content."""
    prompts = spec.turn.prompts
    described = [one for found in spec.evidence.values() for one in found if one.described]
    calls = spec.calls if described else None
    turn = Turn(
        prompts=prompts,
        header=common_start(*(prompt.text for prompt in prompts)) if prompts else "",
        shown=False,
        segments=(ContentSegment(), *([calls.model_copy(update={"end": None})] if calls is not None else [])),
    )
    found = "no turn of the history begins as the generation prompt does"
    evidence = {"turn.shown": (Evidence(comparison="T4", found=found, variants=("base+p", "t")),)}
    return spec.model_copy(
        update={
            "input": spec.input.model_copy(update={"reasoning_fields": ()}),
            "turn": turn,
            "results": None,
            "overlays": (),
            "defects": (),
            "grammar": Grammar(triggers=spec.grammar.triggers) if calls is not None else Grammar(),
            "evidence": {**evidence, **({"turn.segments[1]": tuple(described)} if calls is not None else {})},
        }
    )
