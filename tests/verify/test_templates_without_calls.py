"""Templates that render no calls: what a turn begins and ends with is found all the same, and what is odd is said."""

from __future__ import annotations

from typing import Final

import pytest

from analyzer.analysis import analyze
from analyzer.render import InProcessRenderer
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


@pytest.mark.parametrize(
    ("source", "header", "kinds"),
    [
        (LAST_LINE, "\nassistant:", {"last_turn_otherwise"}),
        (SPACED, "# assistant\n", {"indentation_leaks", "content_trimmed"}),
        (JOINED, "<|assistant|>", {"content_respaced", "content_trimmed"}),
        (REMINDED, "", {"prompt_not_in_history"}),
    ],
    ids=["closer only in mid-conversation", "header respaced", "content respaced", "prompt in words"],
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
