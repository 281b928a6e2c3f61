"""P-comparisons: generation prompts.

P1  with and without the generation prompt, after a user message and after a tool result
P2  the same under each value of each variable that the template reads from outside
P3  a turn in history under each of those values that change the prompt: whether it is the same format
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from analyzer.infer.calls import CallsFinding
from analyzer.infer.turn import Frame, added
from analyzer.observe import probes
from analyzer.observe.choices import variable_choices
from analyzer.observe.lexemes import common_start, is_marker, lexemes
from analyzer.observe.session import Ask, Chat, Session, render_each
from analyzer.observe.variants import head
from analyzer.render.facts import TemplateFacts
from analyzer.spec.model import Prompt, Scalar


@dataclass(frozen=True, slots=True)
class PromptsFinding:
    """The prompts, and the variables that change them."""

    prompts: tuple[Prompt, ...]
    settings: Mapping[str, tuple[Scalar, ...]]
    other_formats: tuple[Mapping[str, Scalar], ...] = ()
    """The settings under which the template writes another format."""


def find_prompts(session: Session, calls_session: Session | None, facts: TemplateFacts) -> PromptsFinding:
    """Find the prompt for each setting, after a user message and after a result."""
    choices = variable_choices(facts, session.shape.variables)
    settings: list[dict[str, Any]] = [{}]
    settings += [{name: value} for name, values in choices.items() for value in values]
    probed = [(session, head(session))]
    if calls_session is not None:
        probed.append((calls_session, _result_chat(calls_session)))
    after_user, *after_result = _texts(probed, settings, with_tools=calls_session is not None)
    prompts = _distinct(settings, after_user, "user")
    listed = [prompt.set for prompt in prompts]
    for texts in after_result:
        prompts += _distinct(settings, texts, "result", listed)
    changing = {name for prompt in prompts for name in prompt.set}
    return PromptsFinding(tuple(prompts), {name: choices[name] for name in choices if name in changing})


def narrowed(
    frame: Frame, calls: CallsFinding | None, prompts: Sequence[Prompt]
) -> tuple[Frame, CallsFinding | None]:
    """T5: shorten the header to what the prompts under every setting share; the rest belongs to the segments.

    Behind a result a turn may go on without its header: a prompt there that shares nothing with it says nothing of it.
    """
    texts = [
        prompt.text
        for prompt in prompts
        if prompt.text.strip() and (prompt.after == "user" or common_start(frame.header, prompt.text).strip())
    ]
    header = _shared_header(frame.header, texts) if texts else frame.header
    own = _from_first_marker(frame.header)
    lost = not any(map(is_marker, lexemes(header)))
    words = frame.header[: len(frame.header) - len(own)]
    theirs = own in frame.user_header or all(text.startswith(words) for text in texts)
    if texts and lost and not theirs and all(own in text for text in texts):
        return replace(frame, header=own), calls  # the words before it belong to the user's turn
    marked = not any(_goes_on_in_words(header, text) for text in texts)
    if header == frame.header or not marked or not any(is_marker(piece) for piece in lexemes(header)):
        return frame, calls
    rest = frame.header[len(header) :]
    shorter = replace(frame, header=header, before_content=rest + frame.before_content)
    if calls is None:
        return shorter, None
    before_text = rest + calls.before_text if calls.content_position == "before" else ""
    return shorter, replace(calls, before=rest + calls.before, before_text=before_text)


def _from_first_marker(header: str) -> str:
    pieces = lexemes(header)
    first = next((at for at, piece in enumerate(pieces) if is_marker(piece)), 0)
    return "".join(pieces[first:])


def of_one_format(
    found: PromptsFinding,
    session: Session,
    calls_session: Session | None,
    frame: Frame,
    calls: CallsFinding | None,
) -> PromptsFinding:
    """Leave out the settings under which the template writes another format: no one spec describes both.

    They change the header in the prompt, or the markers of a turn in history. Verification names them (`format_varies`).
    """
    other = [*_with_another_header(found, frame.header)]
    left = [{name: value} for name, values in found.settings.items() for value in values]
    left = [setting for setting in left if setting not in other]
    other += _with_other_markers(left, session, calls_session, frame, calls)
    kept = tuple(prompt for prompt in found.prompts if prompt.set not in other)
    names = {name for prompt in kept for name in prompt.set}
    settings = {
        name: tuple(value for value in values if {name: value} not in other)
        for name, values in found.settings.items()
        if name in names
    }
    return PromptsFinding(kept, settings, tuple(other))


def _with_another_header(found: PromptsFinding, header: str) -> Iterator[Mapping[str, Scalar]]:
    if not any(header.strip() in prompt.text for prompt in found.prompts if not prompt.set):
        return  # history writes it otherwise by default as well
    for prompt in found.prompts:
        text = prompt.text if prompt.set and prompt.after == "user" else ""
        if text.strip() and header.strip() not in text:
            yield prompt.set


def _with_other_markers(
    settings: Sequence[Mapping[str, Scalar]],
    session: Session,
    calls_session: Session | None,
    frame: Frame,
    calls: CallsFinding | None,
) -> Iterator[Mapping[str, Scalar]]:
    """P3: the settings under which a turn of one call, or of text where there are no calls, is without a marker of the default."""
    if calls is None or calls_session is None:
        markers, needle = [frame.header], session.needles.content
        turn = [*head(session), probes.assistant(needle)]
        asks = [Ask(turn, None, variables=setting) for setting in settings]
        texts = session.render(asks, "P3")
    else:
        markers = [frame.header, calls.section_open, calls.open]
        needle = calls_session.needles.calls[0].name
        turn, tools = _result_chat(calls_session)[:-1], probes.tools(calls_session.needles)
        asks = [Ask(turn, tools, variables=setting) for setting in settings]
        texts = calls_session.render(asks, "P3")
    for setting, text in zip(settings, texts, strict=True):
        if text is not None and needle in text and any(marker.strip() not in text for marker in markers):
            yield setting


def _shared_header(header: str, texts: Sequence[str]) -> str:
    """Return what `header` and `texts` share, less a last marker after which they differ in a word.

    `<|open|>think<|sep|>` and `<|open|>response<|sep|>` are two markers, though they begin alike.
    """
    shared = common_start(header, *texts)
    if not any(_goes_on_in_words(shared, text) for text in texts):
        return shared
    last = lexemes(shared)[-1:]
    return shared.removesuffix(last[0]) if last and is_marker(last[0]) else shared


def _goes_on_in_words(header: str, prompt: str) -> bool:
    """Tell whether what follows the beginning that a prompt shares with `header` begins with anything but a marker."""
    rest = prompt[len(common_start(header, prompt)) :].lstrip()
    return bool(rest) and not is_marker(lexemes(rest)[0])


def _texts(
    probed: Sequence[tuple[Session, Chat]], settings: Sequence[Mapping[str, Any]], *, with_tools: bool
) -> list[list[str | None]]:
    """Return what the generation prompt adds to each conversation under each setting."""
    pairs = [
        (session, Ask(chat, probes.tools(session.needles) if with_tools else None, prompt, setting))
        for session, chat in probed
        for setting in settings
        for prompt in (False, True)
    ]
    texts = render_each(pairs, "P")
    size = 2 * len(settings)
    return [_added(session, texts[at * size : (at + 1) * size]) for at, (session, _) in enumerate(probed)]


def _added(session: Session, texts: Sequence[str | None]) -> list[str | None]:
    out: list[str | None] = []
    for without, with_prompt in zip(texts[::2], texts[1::2], strict=True):
        text = None if without is None or with_prompt is None else added(without, with_prompt)
        known = session.needles
        shown = text is not None and (known.user in text or known.calls[0].id in text)
        out.append(None if shown else text)  # what came before the prompt was written otherwise with it
    return out


def _distinct(
    settings: list[dict[str, Any]],
    texts: list[str | None],
    after: str,
    listed: Sequence[Mapping[str, Any]] = (),
) -> list[Prompt]:
    """Keep the default prompt, those that differ from it, and those whose setting is `listed` for the other role."""
    default = texts[0]
    out = [] if default is None else [Prompt(set={}, after=after, text=default)]
    for setting, text in zip(settings[1:], texts[1:], strict=True):
        if (
            text is not None
            and (text != default or setting in listed)
            and not _echoes(setting, text, default or "")
        ):
            out.append(Prompt(set=setting, after=after, text=text))
    return out


def _echoes(setting: Mapping[str, Any], text: str, default: str) -> bool:
    """Tell whether a prompt merely prints the value that was tried."""
    return any(
        str(value) in text and str(value) not in default
        for value in setting.values()
        if isinstance(value, bool)
    )


def _result_chat(session: Session) -> list[probes.Message]:
    needles = session.needles
    text = needles.content if session.shape.empty_content == "text" else ""
    return [*head(session), probes.assistant(text, probes.calls(needles, 1)), probes.result(needles, 0)]
