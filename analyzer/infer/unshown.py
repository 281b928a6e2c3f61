"""What is left of a template whose history never shows a turn as the model writes it.

A moderation prompt quotes the conversation and then asks for a judgement; a reward model's prompt ends in a token behind which
nothing is written; some histories give the assistant's words to the user.  What comparisons of such histories find is
no format of the model's replies.  The generation prompts are still known, and all that comes behind one is content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.observe.lexemes import common_start
from analyzer.spec.model import ContentSegment, Evidence, Grammar, ReasoningSegment, Spec, Turn


def unshown(spec: Spec, pairs: Sequence[tuple[str, str]] = ()) -> Spec:
    """The spec of replies that no render shows: the prompts of `spec`, the calls that were read from a description, and content.

    `pairs` are the tags that the template knows both of: behind a prompt that ends in an opener comes reasoning.
    """
    prompts = spec.turn.prompts
    described = [one for found in spec.evidence.values() for one in found if one.described]
    calls = spec.calls if described else None
    header = common_start(*(prompt.text for prompt in prompts)) if prompts else ""
    thoughts = list(_thoughts([prompt.text for prompt in prompts], pairs))[:1]
    turn = Turn(
        prompts=prompts,
        header=header.removesuffix(thoughts[0].open) if thoughts else header,
        shown=False,
        segments=(
            *thoughts,
            ContentSegment(),
            *([calls.model_copy(update={"end": None})] if calls is not None else []),
        ),
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
            "grammar": Grammar(
                triggers=spec.grammar.triggers if calls is not None else (),
                preserved_tokens=tuple(
                    mark for one in thoughts for mark in (one.open.strip(), one.close.strip())
                ),
            ),
            "evidence": {
                **evidence,
                **({f"turn.segments[{len(thoughts) + 1}]": tuple(described)} if calls is not None else {}),
            },
        }
    )


def _thoughts(prompts: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Iterator[ReasoningSegment]:
    for text in prompts:
        for opener, closer in pairs:
            if text.rstrip().endswith(opener):
                yield ReasoningSegment(
                    fields=(), open=text[text.rindex(opener) :], close=closer, kept="never"
                )
