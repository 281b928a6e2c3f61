"""What a setting changes before the turn, an empty thought of some turns, names and ids beside results."""

from __future__ import annotations

import hashlib

import pytest

from analyzer.analysis import Analysis, analyze
from analyzer.chat import ToolCall
from analyzer.render import InProcessRenderer
from analyzer.runtime import parse
from analyzer.spec.model import Spec
from analyzer.template import Template
from analyzer.verify import verify
from analyzer.verify.results import Answer, write_results

CALLS = (
    '{%- for call in message.tool_calls or [] -%}{{- \'<call>{"name": "\' + call.function.name + '
    "'\", \"arguments\": ' + (call.function.arguments | tojson) + '}</call>' -}}{%- endfor -%}"
)


def analysed(text: str) -> tuple[Analysis, Spec]:
    """The analysis of a template's text, and its spec."""
    done = analyze(
        Template("inline", text, hashlib.sha256(text.encode()).hexdigest(), {}), renderer=InProcessRenderer()
    )
    assert done.spec is not None
    return done, done.spec


def test_words_that_a_setting_writes_behind_the_user_are_no_header() -> None:
    """Where the last user message is closed otherwise under a setting, the header begins with the assistant's own marker."""
    _, spec = analysed(
        "{%- for message in messages -%}{%- if message.role == 'assistant' -%}{{- "
        "(' /fast ' if quick is defined and quick else ' /slow ') + '<bot>' + (message.content or '') -}}"
        + CALLS
        + "{{- '<end>' -}}{%- elif message.role == 'tool' -%}{{- '<tool>' + message.content -}}"
        "{%- else -%}{{- '<' + message.role + '>' + message.content -}}{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- (' /fast ' if quick is defined and quick else ' /slow ') + '<bot>' -}}"
        "{%- endif -%}"
    )

    assert spec.turn.header == "<bot>"
    assert {prompt.text for prompt in spec.turn.prompts} == {" /slow <bot>", " /fast <bot>"}
    assert spec.verification is not None
    assert spec.verification.verdict == "proven"


def test_a_closer_that_every_turn_begins_with_is_no_header() -> None:
    """Without reasoning each turn begins with its closer; the prompt that opens it under a setting is none of another header."""
    _, spec = analysed(
        "{%- for message in messages -%}{%- if message.role == 'assistant' -%}"
        "{{- ('<think>' + message.reasoning_content if message.reasoning_content else '') + '</think>' -}}"
        "{{- message.content or '' -}}"
        + CALLS
        + "{{- '<end>' -}}{%- elif message.role == 'tool' -%}{{- '<tool>' + message.content + '<bot>' -}}"
        "{%- else -%}{{- '<' + message.role + '>' + message.content -}}"
        "{{- '<bot>' if message.role == 'user' -}}{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- '<think>' if deep is defined and deep else '</think>' -}}{%- endif -%}"
    )

    texts = {(prompt.after, prompt.set.get("deep", False)): prompt.text for prompt in spec.turn.prompts}
    assert {
        ("user", False): "</think>",
        ("user", True): "<think>",
        ("result", False): "</think>",
        ("result", True): "<think>",
    } == texts
    assert "" == spec.turn.header
    assert spec.verification is not None
    assert "proven" == spec.verification.verdict


def test_the_end_of_a_turn_in_mid_conversation_is_no_part_of_results() -> None:
    """The last turn ends in another marker than the turn that a result follows."""
    _, spec = analysed(
        "{%- for message in messages -%}{{- '<' + message.role + '>' + (message.content or '') -}}"
        "{%- if message.role == 'assistant' -%}" + CALLS + "{%- endif -%}"
        "{{- '<stop>' if loop.last and message.role == 'assistant' else '<end>' -}}{%- endfor -%}"
        "{{- '<assistant>' if add_generation_prompt -}}"
    )

    assert spec.results is not None
    assert "<tool>" == spec.results.header + spec.results.open
    assert "<end>" == spec.results.close + spec.results.end
    assert spec.verification is not None
    assert not [line for line in spec.verification.unproven if line.startswith("results: ")]


def test_an_empty_thought_before_texts_only_is_a_segment_of_its_own() -> None:
    """Texts write it, calls do not, and the prompt writes it before either: what follows it is the text's own opener."""
    _, spec = analysed(
        "{%- for message in messages -%}{%- if message.role == 'assistant' -%}{{- '<bot>' -}}"
        "{%- if message.tool_calls -%}{{- message.content or '' -}}" + CALLS + "{%- else -%}"
        "{{- '<think>\\n\\n</think>\\n<answer>\\n' + message.content + '\\n</answer>' -}}{%- endif -%}{{- '<end>' -}}"
        "{%- else -%}{{- '<' + message.role + '>' + message.content -}}{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- '<bot><think>' + ('' if deep is defined and deep else '\\n\\n</think>\\n') -}}"
        "{%- endif -%}"
    )
    alone, beside = spec.reasoning

    assert (alone.when, alone.empty) == ("alone", "<think>\n\n</think>\n")
    assert (beside.when, beside.empty) == ("beside_calls", "")
    assert [one.open for one in spec.content] == ["<answer>\n", ""]
    assert spec.verification is not None
    assert spec.verification.verdict == "proven"


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [
        ("'<tool name=' + message.name + '>'", "'</tool>'", "<tool name=a>Sunny</tool>"),
        (
            '\'<tool>{"id": "\' + message.tool_call_id + \'", "text": "\'',
            "'\"}</tool>'",
            '<tool>{"id": "call_7", "text": "Sunny"}</tool>',
        ),
        (
            "'<tool>' + message.name + ' '",
            "' (' + message.tool_call_id + ')</tool>'",
            "<tool>a Sunny (call_7)</tool>",
        ),
    ],
)
def test_names_and_ids_beside_a_result_are_parts(before: str, after: str, wanted: str) -> None:
    """They are slots, which another call fills with its own, and nothing about the results stays unproven."""
    _, spec = analysed(
        "{%- for message in messages -%}{%- if message.role == 'assistant' -%}{{- '<bot>' + (message.content or '') -}}"
        + CALLS
        + "{{- '<end>' -}}{%- elif message.role == 'tool' -%}{{- "
        + f"{before} + message.content + {after}"
        + " -}}{%- else -%}{{- '<' + message.role + '>' + message.content -}}{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- '<bot>' -}}{%- endif -%}"
    )
    assert spec.results is not None
    assert spec.verification is not None
    call = ToolCall("a", "{}", "call_7")

    assert write_results(spec, [Answer(call, "Sunny")]) == wanted
    assert not [
        line for line in spec.verification.unproven if line.startswith("results: the template writes")
    ]


def test_a_counter_in_the_header_of_results_is_a_part() -> None:
    """Each result has a turn of its own, whose header names and counts its call."""
    _, spec = analysed(
        "{%- set ids = namespace(at=0) -%}"
        "{%- for message in messages -%}{%- if message.role == 'assistant' -%}{{- '<bot>' + (message.content or '') -}}"
        + CALLS
        + "{{- '<end>' -}}{%- elif message.role == 'tool' -%}"
        "{{- '<tool>Return of ' + message.name + ':' + (ids.at | string) + '\\n' + message.content + '<end>' -}}"
        "{%- set ids.at = ids.at + 1 -%}{%- else -%}{%- set ids.at = 0 -%}"
        "{{- '<' + message.role + '>' + message.content -}}{%- endif -%}{%- endfor -%}"
        "{%- if add_generation_prompt -%}{{- '<bot>' -}}{%- endif -%}"
    )
    assert spec.results is not None
    assert spec.verification is not None
    answers = [Answer(ToolCall(name, "{}", None), text) for name, text in (("a", "Sunny"), ("b", "Open"))]

    assert write_results(spec, answers) == "<tool>Return of a:0\nSunny<end><tool>Return of b:1\nOpen<end>"
    assert not [
        line for line in spec.verification.unproven if line.startswith("results: the template writes")
    ]


THINKS_OR_NOT = (
    "{%- set open = '<|assistant|><think>' if thinking else '<|assistant|><think></think>' -%}"
    "{%- for m in messages -%}{%- if m.role == 'assistant' -%}"
    "{{- '<|assistant|><think></think>' + (m.content or '').split('</think>')[-1] -}}"
    "{%- for c in m.tool_calls or [] -%}"
    "{{- '<call>' + ({'name': c.function.name, 'arguments': c.function.arguments} | tojson) + '</call>' -}}"
    "{%- endfor -%}{{- '<|end|>' -}}"
    "{%- else -%}{{- '<|' + m.role + '|>' + m.content + '<|end|>' -}}{%- endif -%}{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- open -}}{%- endif -%}"
)
"""Every turn and every prompt begins with the opener of a thought; a setting leaves the thought open."""


def test_an_opener_that_every_prompt_begins_with_is_reasonings() -> None:
    """Not the header's: behind the prompt that leaves it open a thought is read, and behind the other one none."""
    done = analyze(Template("thinks", THINKS_OR_NOT), renderer=InProcessRenderer())
    spec = done.spec
    assert spec is not None
    thinking = parse(spec, "So it is.</think>Fine.<|end|>", prompt="<|assistant|><think>").message
    plain = parse(spec, "Fine.<|end|>", prompt="<|assistant|><think></think>").message

    assert done.verdict == "proven"
    assert spec.turn.header == "<|assistant|>"
    assert (thinking.reasoning_content, thinking.content) == ("So it is.", "Fine.")
    assert (plain.reasoning_content, plain.content) == (None, "Fine.")


def test_a_thought_behind_a_prompt_that_opens_one_has_to_be_read() -> None:
    """Though no history shows one: the spec whose header holds the opener is wrong."""
    template = Template("thinks", THINKS_OR_NOT)
    spec = analyze(template, renderer=InProcessRenderer()).spec
    assert spec is not None
    moved = [
        segment.model_copy(update={"open": "</think>"} if segment.kind == "content" else {"empty": ""})
        if segment.kind != "calls"
        else segment
        for segment in spec.turn.segments
    ]
    turn = spec.turn.model_copy(update={"header": "<|assistant|><think>", "segments": tuple(moved)})
    verdict = verify(spec.model_copy(update={"turn": turn}), template, InProcessRenderer())

    assert any("is not read as reasoning" in failure for failure in verdict.verification.failures)


UNCLOSED = (
    "{%- for m in messages -%}{%- if m.tool_calls -%}"
    "{%- if m.tool_calls | length != 1 -%}{{- raise_exception('one call') -}}{%- endif -%}"
    """{{- '{"name": "' + m.tool_calls[0].function.name + '", "parameters": ' -}}"""
    "{{- (m.tool_calls[0].function.arguments | tojson) + '}' -}}"
    "{%- else -%}{{- '<' + m.role + '>' + m.content -}}{%- endif -%}{%- endfor -%}"
)
"""Nothing closes a call, and one is all that a turn may have."""


def test_a_result_behind_a_call_that_nothing_closes() -> None:
    """It begins where the turn ends; no value of the call is a part of its marker."""
    done = analyze(Template("unclosed", UNCLOSED), renderer=InProcessRenderer())
    spec = done.spec
    assert spec is not None
    assert spec.results is not None

    assert done.verdict == "proven_with_defects"
    assert not spec.input.parallel_calls
    assert (spec.results.open, spec.results.parts) == ("<tool>", ())
