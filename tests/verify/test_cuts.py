"""Cuts that no common beginning shows: tools beside the last message, a turn that goes on behind a result."""

from __future__ import annotations

from analyzer.verify.cut import Before, Cut, cut_turn
from tests.verify.good import spec_named

PLAIN = spec_named("json_tag_per_call")
"""Its header is `<|im_start|>assistant\\n`, its end `<|im_end|>`."""
BARE = spec_named("json_tag_per_call", {"turn.header": ""})
HEADER = PLAIN.turn.header


def test_tools_may_stand_beside_the_last_message() -> None:
    """The turn begins behind the text of the last message, wherever the tools have gone."""
    before = Before("TOOLS[I]Hello?[/I]", "TOOLS[I]Hello?[/I]", "Hello?")

    assert cut_turn(BARE, before, "[I]Hello?[/I]x") == Cut("[I]Hello?[/I]", "x", "", "history")


def test_what_follows_the_last_message_is_not_the_turns() -> None:
    """Nothing is cut where the last message is followed by something else; then the common beginning counts."""
    before = Before(None, "TOOLS[I]Hello?[/I]", "Hello?")

    found = cut_turn(BARE, before, "[I]Hello?x")

    assert isinstance(found, Cut)
    assert found.text != "x"


def test_a_result_may_be_closed_otherwise_when_a_turn_follows() -> None:
    """White space behind the last message may differ where a header says that the turn begins."""
    before = Before(f"R</r><E>{HEADER}", "R</r><E>", "R")

    cut = cut_turn(PLAIN, before, f"R</r>\n<E>{HEADER}x")
    other = cut_turn(PLAIN, before, f"R</r>!<E>{HEADER}x")

    assert isinstance(cut, Cut)
    assert cut.text == "x"
    assert other == f"the turn does not begin with the header {HEADER!r}"


def test_a_turn_that_goes_on_behind_a_result_lacks_the_end_before() -> None:
    """The end that closes the conversation is missing where the turn goes on, and only an end of the spec."""
    before = Before(f"R]<|im_end|>{HEADER}", "R]<|im_end|>", "R")

    cut = cut_turn(PLAIN, before, "R]x<|im_end|>", goes_on=True)

    assert isinstance(cut, Cut)
    assert cut.text == "x<|im_end|>"
    assert isinstance(cut_turn(PLAIN, before, "R]x<|im_end|>"), str)
    assert isinstance(cut_turn(PLAIN, before, "R!x<|im_end|>", goes_on=True), str)


def test_only_white_space_of_the_prompt_is_cut_behind_a_result() -> None:
    """Line breaks that prompt and history have alike stand before the turn; a marker that begins alike does not."""
    before = Before("R\n\n<think></think>", "R", "R")

    cut = cut_turn(PLAIN, before, "R\n\n</think>x", goes_on=True)

    assert isinstance(cut, Cut)
    assert cut.text == "</think>x"
