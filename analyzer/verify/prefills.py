"""Generation prompts: each prompt of a spec is compared with the template's own, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from analyzer.spec.model import Prompt, Scalar, Spec
from analyzer.verify.adapt import Setting
from analyzer.verify.cut import Cut
from analyzer.verify.trips import Traveller, Trip


def check_prompts(spec: Spec, trips: Sequence[Trip]) -> Iterator[str]:
    """What is wrong with the prompts of a spec, compared with those that the template wrote."""
    seen: set[tuple[str, str]] = set()
    for trip in trips:
        setting, after = trip.adapted.setting, after_of(trip)
        if (setting.label, after) in seen or trip.before.prompt is None:
            continue
        seen.add((setting.label, after))
        stated = stated_prompt(spec, setting, after)
        text = "" if stated is None else stated.text
        actual = trip.before.prompt_text
        fits = trip.before.prompt.endswith(text) if actual is None else actual == text
        header = spec.turn.header
        added = _tail(trip) if actual is None and spec.calls is None else actual
        if added and after == "user" and not (header in added or header.startswith(added)):
            yield f"turn.header: stated {header!r}, the generation prompt is {added[-60:]!r}"
        if not fits:
            yield f"turn.prompts ({setting.label}, after {after}): stated {text!r}, the template writes {actual!r}"


_THOUGHT: Final = "One thought.\n\nAnother one."


def check_thoughts(spec: Spec, trips: Sequence[Trip], traveller: Traveller) -> Iterator[str]:
    """Prompts that end in an opener of reasoning, behind which a thought is read as something else."""
    seen: set[tuple[str, str]] = set()
    for trip in trips:
        key, prompt = (trip.adapted.setting.label, after_of(trip)), (trip.before.prompt or "").rstrip()
        opened = [one for one in spec.reasoning if one.open.strip() and one.close.strip()]
        segment = next((one for one in opened if prompt.endswith(one.open.strip())), None)
        if key in seen or segment is None:
            continue
        seen.add(key)
        cut = Cut(trip.before.prompt or "", _THOUGHT + segment.close, "", "prompt")
        said = traveller.read(trip.adapted, cut, soft=True).message
        if (said.reasoning_content or "").strip() != _THOUGHT:
            yield f"turn.prompts ({key[0]}, after {key[1]}): a thought behind {prompt[-60:]!r} is not read as reasoning"


def _tail(trip: Trip) -> str:
    """What stands behind the last message in a render with a generation prompt that writes what stands before it otherwise."""
    prompt, last = trip.before.prompt or "", trip.before.last
    return prompt[prompt.rfind(last) + len(last) :] if last and last in prompt else ""


def after_of(trip: Trip) -> str:
    """The role of the last message before the turn, as prompts have it."""
    return "result" if trip.after_result else "user"


def stated_prompt(spec: Spec, setting: Setting, after: str) -> Prompt | None:
    """The spec's prompt for a setting: the one for the same variables, else the default one."""
    for wanted in (_set_of(spec, setting.variables), {}):
        for role in (after, "user"):
            for prompt in spec.turn.prompts:
                if prompt.set == wanted and prompt.after == role:
                    return prompt
    return None


def _set_of(spec: Spec, variables: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {name: value for name, value in variables.items() if name in spec.input.settings}
