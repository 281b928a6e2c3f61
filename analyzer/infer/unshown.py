"""What is left of a template whose history never shows a turn as the model writes it.

A moderation prompt quotes the conversation and then asks for a judgement; a reward model's prompt ends in a token behind which
nothing is written; some histories give the assistant's words to the user.  What comparisons of such histories find is
no format of the model's replies.  The generation prompts are still known, and all that comes behind one is content.
"""

from __future__ import annotations

from analyzer.observe.lexemes import common_start
from analyzer.spec.model import ContentSegment, End, Evidence, Grammar, Spec, Turn


def unshown(spec: Spec, end_token: str = "") -> Spec:
    """The spec of replies that no render shows: the prompts of `spec`, and content up to `end_token` where that is known."""
    prompts = spec.turn.prompts
    end = End(literal=end_token) if end_token else None
    turn = Turn(
        prompts=prompts,
        header=common_start(*(prompt.text for prompt in prompts)) if prompts else "",
        shown=False,
        segments=(ContentSegment(end=end),),
    )
    found = "no turn of the history begins as the generation prompt does"
    return spec.model_copy(
        update={
            "input": spec.input.model_copy(update={"reasoning_fields": ()}),
            "turn": turn,
            "results": None,
            "overlays": (),
            "defects": (),
            "grammar": Grammar(stops=(end_token,) if end_token else ()),
            "evidence": {"turn.shown": (Evidence(comparison="T4", found=found, variants=("base+p", "t")),)},
        }
    )
