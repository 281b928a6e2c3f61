"""White space between two literals of different segments, and nowhere else, may be written otherwise."""

from __future__ import annotations

import re
from typing import Any

from analyzer.render import InProcessRenderer
from analyzer.verify import Verdict, verify
from analyzer.verify.junctions import soft_misfit
from analyzer.verify.pieces import Piece
from tests.verify.good import PlainTemplate, spec_named, template_named

CLOSE = Piece.literal("</think>\n", "turn.segments[0].close")
OPEN = Piece.literal("\n", "turn.segments[2].open")
CALL = Piece.literal("<call>\n", "turn.segments[2].layouts[0].open")
BODY = Piece.raw("body")
NAME = "json_tag_reasoning_toggle"


def test_white_space_between_segments_is_soft() -> None:
    """One line break where the parts give two; the junction is told with all the literals that meet."""
    misfit, (junction,) = soft_misfit([BODY, CLOSE, OPEN, CALL, BODY], "body</think>\n<call>\nbody")

    assert misfit is None
    assert junction.paths == (CLOSE.path, OPEN.path, CALL.path)
    assert (junction.wanted, junction.seen) == ("\n\n", "\n")


def test_nothing_is_told_where_nothing_differs() -> None:
    """A junction that is written as the parts give it is none to tell."""
    assert soft_misfit([BODY, CLOSE, OPEN, CALL, BODY], "body</think>\n\n<call>\nbody") == (None, ())


def test_white_space_beside_a_slot_is_exact() -> None:
    """Behind a value, before a value, and inside a literal every blank counts."""
    pieces = [BODY, OPEN, CALL, BODY]

    assert soft_misfit(pieces, "body<call>\nbody")[0] is not None
    assert soft_misfit(pieces, "body\n<call>body")[0] is not None
    assert soft_misfit([CLOSE, OPEN, BODY], "</think>\nbody")[0] is not None


def test_white_space_inside_a_segment_is_exact() -> None:
    """Two literals of one segment are no junction."""
    name = Piece.literal('{"name": "', "turn.segments[2].layouts[0].parts[0]")

    assert soft_misfit([CALL, name, BODY], '<call>{"name": "body')[0] is not None


def _prove(changes: dict[str, Any], pattern: str, replacement: str) -> Verdict:
    template = template_named(NAME)
    text = re.sub(pattern, lambda _: replacement, template.text)
    assert text != template.text
    renderer = InProcessRenderer()
    return verify(spec_named(NAME, changes), PlainTemplate(text, template.special_tokens), renderer)


def test_a_respaced_junction_is_unproven_and_no_failure() -> None:
    """The opener of the calls is exact behind content; behind reasoning the template writes one line break more."""
    verdict = _prove({}, r"\{\{- '\\n' if not loop.first or message.content -\}\}", "{{- '\\n' -}}")

    assert verdict.verification.failures == ()
    assert [line for line in verdict.verification.unproven if "between them" in line] != []


def test_literals_that_are_nowhere_exact_are_no_junction() -> None:
    """Reasoning whose closer is wrong wherever it stands fails, though only white space differs."""
    pattern = r"text\(message.content\) -\}\}\s*\{%- for call"
    never = "(text(message.content) if not message.reasoning_content) -}}{%- for call"
    verdict = _prove({"turn.segments.0.close": "\n</think>\n"}, pattern, never)

    assert verdict.word == "failed"
