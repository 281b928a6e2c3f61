"""Templates that render no calls: what a turn begins and ends with is found all the same, and what is odd is said."""

from __future__ import annotations

from typing import Final

import pytest

from analyzer.analysis import analyze
from analyzer.infer.unshown import unshown
from analyzer.render import InProcessRenderer
from analyzer.runtime import parse
from analyzer.template import Template
from analyzer.verify import verify

LAST_LINE: Final = (
    "{%- for m in messages %}{{- m.role + ': ' + m.content }}"
    "{%- if add_generation_prompt or not loop.last %}{{- '\\n' }}{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- 'assistant:' }}{%- endif %}"
)
"""Lines end in a line break, but for the last one."""
NEVER_CLOSED: Final = LAST_LINE.replace("{{- '\\n' }}", "{{- '' if m.role == 'assistant' else '\\n' }}")
SPACED: Final = (
    "{%- for m in messages %}{{- ('' if loop.first else '\\n\\n') + '# ' + m.role + '\\n' + m.content | trim }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '\\n# assistant\\n' }}{%- endif %}"
)
"""History has an empty line before each header, the prompt has none."""
JOINED: Final = (
    "{%- for m in messages %}{{- '<|' + m.role + '|>' + m.content.strip().replace('\\n\\n', '\\n') + '<|end|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
)
REMINDED: Final = (
    "{%- for m in messages %}{{- ('' if loop.first else '\\n\\n') + m.content + '\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '\\nAnswer in one line.' }}{%- endif %}"
)
"""No header at all; the prompt has words of its own."""
CHAT: Final = (
    "{%- for m in messages %}{{- '<|' + m.role + '|>' + m.content + '<|end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
)
TRAILER: Final = CHAT.replace(
    "<|end|>\\n' }}",
    "<|end|>\\n' + ('[EOS]' if loop.last and m.role == 'assistant' else '') }}",
)
"""A conversation that ends with an answer is closed by a token that stands nowhere else."""
NOT_CLOSED: Final = CHAT.replace("m.content + '<|end|>\\n'", "m.content").replace(
    "{%- endif %}", "{%- else %}{{- '</s>' }}{%- endif %}"
)
"""Only the conversation is closed, no turn in it."""
OTHERWISE: Final = (
    "{{- '<|user|>' }}{%- for m in messages[:-1] %}{{- m.role + ': ' + m.content + '\\n' }}{%- endfor %}"
    "{%- set last = messages[-1] %}"
    "{%- if last.role == 'user' %}{{- 'user: ' + last.content + '\\n' }}{%- endif %}"
    "{{- 'Judge it.<|end|><|assistant|>' }}"
    "{%- if last.role == 'assistant' %}{{- last.content + '<|end|>' }}{%- endif %}"
)
"""The last answer stands behind the prompt, those before it in the user's message."""
WHITE_SPACE: Final = (
    "{%- for m in messages %}{{- ' ' + m.role + '\\n' + m.content | trim + ' ' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- ' assistant\\n' }}{%- endif %}"
)
"""Nothing but a blank ends a turn."""
NOT_MARKED: Final = CHAT.replace(
    "m.content", "(m.reasoning_content + '\\n' if m.reasoning_content else '') + m.content"
)
QUOTED: Final = (
    "{{- '<|user|>Judge this.\\n' }}{%- for m in messages %}{{- m.role + ': ' + m.content + '\\n' }}{%- endfor %}"
    "{{- 'Is the last message safe?<|end|>' }}{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
)
"""A moderation prompt: the conversation is quoted in a message of the user."""
QUOTED_ALWAYS: Final = QUOTED.replace("if add_generation_prompt", "if true")
REWARD: Final = CHAT.replace("'<|assistant|>'", "'<|assistant|><|reward|>'")
"""The prompt ends in a token behind which a score is read."""


@pytest.mark.parametrize(
    ("source", "header", "kinds"),
    [
        (LAST_LINE, "\nassistant:", {"last_turn_otherwise"}),
        (SPACED, "# assistant\n", {"indentation_leaks", "content_trimmed"}),
        (JOINED, "<|assistant|>", {"content_respaced", "content_trimmed"}),
        (REMINDED, "", {"prompt_not_in_history"}),
        (TRAILER, "<|assistant|>", {"last_turn_otherwise"}),
        (NOT_CLOSED, "<|assistant|>", {"turn_not_closed"}),
        (OTHERWISE, "", {"turn_changed_in_history"}),
        (WHITE_SPACE, " assistant\n", {"content_trimmed"}),
        (NOT_MARKED, "<|assistant|>", {"reasoning_not_marked"}),
        (QUOTED, "<|assistant|>", {"turn_not_in_history"}),
        (QUOTED_ALWAYS, "", {"turn_not_in_history"}),
        (REWARD, "<|assistant|><|reward|>", {"turn_not_in_history"}),
    ],
    ids=[
        "closer only in mid-conversation",
        "header respaced",
        "content respaced",
        "prompt in words",
        "closed conversation",
        "no closer",
        "last turn alone behind the prompt",
        "white space alone ends a turn",
        "reasoning not marked",
        "quoted",
        "quoted, prompt always there",
        "reward",
    ],
)
def test_template(source: str, header: str, kinds: set[str]) -> None:
    """The header is the prompt's and history's, and each oddity is a defect with its kind."""
    done = analyze(Template("plain", source), renderer=InProcessRenderer())
    assert done.spec is not None

    assert done.verdict == "no_calls"
    assert done.spec.turn.header == header
    assert {defect.kind for defect in done.spec.defects} == kinds


def test_a_closer_that_nothing_writes_is_not_excused() -> None:
    """Content that ends in a line break is misread, and mid-conversation writes no line break behind it."""
    spec = analyze(Template("plain", LAST_LINE), renderer=InProcessRenderer()).spec
    assert spec is not None
    verdict = verify(spec, Template("plain", NEVER_CLOSED), InProcessRenderer())

    assert verdict.word == "failed"


def test_a_conversation_that_is_no_chat_is_told_with_what_the_prompt_leaves() -> None:
    """The spec says that no render shows a reply; what is written behind the prompt is content; why is told."""
    done = analyze(Template("judge", QUOTED), renderer=InProcessRenderer())
    assert done.spec is not None
    (witness,) = (dict(defect.witness) for defect in done.spec.defects)
    said = parse(done.spec, "safe\nNothing is wrong with it.", prompt="<|assistant|>").message

    assert not done.spec.turn.shown
    assert done.spec.turn.prompts[0].text == "<|assistant|>"
    assert said.content == "safe\nNothing is wrong with it."
    assert witness["messages"][-1]["role"] == "assistant"
    assert "Is the last message safe?" in witness["render"]
    (why,) = (note.message for note in done.notes if note.kind == "history")
    assert "the generation prompt is '<|assistant|>'" in why


def test_a_history_that_shows_the_turn_is_no_unknown_one() -> None:
    """Who says that no render shows a turn must be right."""
    spec = analyze(Template("chat", CHAT), renderer=InProcessRenderer()).spec
    assert spec is not None
    verdict = verify(unshown(spec), Template("chat", CHAT), InProcessRenderer())

    assert verdict.word == "failed"
    assert verdict.verification.failures[0].startswith(
        "turn.shown: the history has a turn behind the generation prompt"
    )


def test_text_behind_an_end_that_mid_conversation_has_as_well_is_not_excused() -> None:
    """What stands behind every turn is the turn's."""
    spec = analyze(Template("chat", CHAT), renderer=InProcessRenderer()).spec
    assert spec is not None
    more = CHAT.replace("<|end|>\\n", "<|end|>[more]\\n")
    verdict = verify(spec, Template("chat", more), InProcessRenderer())

    assert verdict.word == "failed"


def test_a_turn_that_ends_otherwise_in_mid_conversation_is_not_excused() -> None:
    """Where another closer stands behind the turn, the spec has to have it."""
    spec = analyze(Template("chat", CHAT), renderer=InProcessRenderer()).spec
    assert spec is not None
    other = CHAT.replace("'<|end|>\\n'", "('<|end|>' if loop.last else '<|stop|>') + '\\n'")
    verdict = verify(spec, Template("chat", other), InProcessRenderer())

    assert verdict.word == "failed"


def behind(between: str) -> str:
    """The chat with something between the header and the text of the assistant's turns."""
    return CHAT.replace("+ m.content +", f"+ ({between} if m.role == 'assistant' else m.content) +")


@pytest.mark.parametrize(
    "written",
    [
        "m.content | tojson",
        "loop.index | string + ' ' + m.content",
        "'[' + (m.content | length) | string + ']' + m.content",
    ],
)
def test_a_turn_that_stands_behind_the_prompt_is_shown_however_it_goes_on(written: str) -> None:
    """What cannot be read of it is a failure, and no history without a turn."""
    done = analyze(Template("chat", behind(written)), renderer=InProcessRenderer())
    assert done.spec is not None

    assert done.verdict == "failed"
    assert done.spec.turn.shown
    assert "turn_not_in_history" not in {defect.kind for defect in done.spec.defects}


LATER: Final = "if m.role == 'assistant' and not loop.last"


def changed_later(written: str) -> str:
    """The chat, which writes a turn that another message follows in another way."""
    return CHAT.replace(
        "{{- '<|'", "{%- " + LATER + " %}{{- " + written + " }}{%- else %}{{- '<|'", 1
    ).replace("{%- endfor %}", "{%- endif %}{%- endfor %}")


@pytest.mark.parametrize(
    "written",
    [
        "'<|user|>He said: ' + m.content + '<|end|>\\n'",
        "'<|user|>' + m.content + '<|end|>\\n'",
        "'<|assistant|>(earlier) ' + m.content + '<|end|>\\n'",
    ],
)
def test_a_turn_that_is_said_by_another_later_is_no_chat_in_order(written: str) -> None:
    """Though its text and its end are there."""
    done = analyze(Template("chat", changed_later(written)), renderer=InProcessRenderer())
    assert done.spec is not None

    assert "turn_changed_in_history" in {defect.kind for defect in done.spec.defects}


def test_a_turn_whose_end_stands_is_closed() -> None:
    """Words that mid-conversation adds to it are no missing end."""
    source = changed_later("'<|assistant|>' + m.content + ' [seen]<|end|>\\n'")
    done = analyze(Template("chat", source), renderer=InProcessRenderer())
    assert done.spec is not None

    assert done.verdict == "failed"
    assert "turn_not_closed" not in {defect.kind for defect in done.spec.defects}


def test_a_bare_word_is_no_end() -> None:
    """Where nothing stands between a text and the next role, the role is no stop string."""
    source = (
        "{%- for m in messages %}{{- m.role + ': ' + m.content }}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- 'assistant: ' }}{%- endif %}"
    )
    spec = analyze(Template("chat", source), renderer=InProcessRenderer()).spec
    assert spec is not None

    assert spec.grammar.stops == ()
    assert parse(spec, "The user is right.", prompt="assistant: ").message.content == "The user is right."


def test_calls_that_are_described_to_a_judge_are_kept() -> None:
    """The prompt alone is known of replies, and what it says of calls."""
    told = (
        "{%- if tools %}{{- '<|system|>Tools: ' + tools | tojson + ' To call one, write "
        '<call>{"name": <function-name>, "arguments": <args-json-object>}</call><|end|>\\n\' }}{%- endif %}'
    )
    done = analyze(Template("judge", told + QUOTED), renderer=InProcessRenderer())
    assert done.spec is not None
    (call,) = parse(
        done.spec, '<call>{"name": "f", "arguments": {"a": 1}}</call>', prompt="<|assistant|>"
    ).message.tool_calls

    assert done.verdict == "described"
    assert not done.spec.turn.shown
    assert (call.name, call.arguments) == ("f", '{"a": 1}')


def test_a_setting_under_which_history_shows_turns_is_named() -> None:
    """It is asked for with `--set`."""
    either = "{%- if chat %}" + CHAT + "{%- else %}" + QUOTED + "{%- endif %}"
    done = analyze(Template("either", either), renderer=InProcessRenderer())
    assert done.spec is not None
    varies = {defect.kind: defect for defect in done.spec.defects}["format_varies"]

    assert done.verdict == "no_calls"
    assert varies.witness["settings"] == ["chat=true"]


def test_a_template_that_leaves_the_assistant_out_is_said_so() -> None:
    """Its prompt is known all the same."""
    source = CHAT.replace("messages %}", "messages if m.role != 'assistant' %}")
    done = analyze(Template("half", source), renderer=InProcessRenderer())
    assert done.spec is not None

    assert done.verdict == "no_calls"
    assert "content_lost" in {defect.kind for defect in done.spec.defects}
    assert done.spec.turn.prompts[0].text == "<|assistant|>"


def test_of_a_call_without_its_arguments_that_is_said() -> None:
    """The name alone is no layout, and a failure that names it."""
    source = CHAT.replace(
        "m.content +",
        "(m.content or '') + (m.tool_calls or []) | map(attribute='function.name') | join(' ') +",
    )
    done = analyze(Template("names", source), renderer=InProcessRenderer())

    assert done.verdict == "failed"
    assert done.failures[0] == "the template renders calls whose layout was not found"
    assert any("of a call the name is rendered" in note.message for note in done.notes)


def test_a_judge_whose_prompt_opens_a_thought_thinks_first() -> None:
    """Where the template knows the closer too; else nothing tells where a thought would end."""
    thinks = QUOTED.replace("'<|assistant|>'", "'<|assistant|><think>' + ('</think>' if quick else '')")
    unknown = QUOTED.replace("'<|assistant|>'", "'<|assistant|><think>'")
    done = analyze(Template("judge", thinks), renderer=InProcessRenderer())
    other = analyze(Template("judge", unknown), renderer=InProcessRenderer())
    assert done.spec is not None
    assert other.spec is not None
    said = parse(done.spec, "Is it?</think>safe", prompt="<|assistant|><think>").message
    quick = parse(done.spec, "safe", prompt="<|assistant|><think></think>").message

    assert (done.verdict, other.verdict) == ("no_calls", "no_calls")
    assert (said.reasoning_content, said.content) == ("Is it?", "safe")
    assert (quick.reasoning_content, quick.content) == (None, "safe")
    assert other.spec.reasoning == ()
