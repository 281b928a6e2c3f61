"""What the fuzzer calls works: its own seeds pass, what it found is found no more, and broken properties are told."""

from __future__ import annotations

import random
from typing import Any

import pytest

from analyzer.spec import dumps
from tests.fuzz import targets
from tests.fuzz.choices import Choices


def test_choices_are_made_of_bytes() -> None:
    """One byte a choice, two for many things, 0 behind the end."""
    choices = Choices(b"\x05\x01\x02")

    assert choices.below(4) == 1
    assert choices.below(1000) == 0x0201 % 1000
    assert not choices
    assert choices.of("abc") == "a"


@pytest.mark.parametrize("number", range(0, 60, 6))
def test_texts(number: int) -> None:
    """Some of the seeds of the runtime's target, and rows of choices that go on from them."""
    chance = random.Random(number)  # noqa: S311 - no secrets here
    targets.parse_text(targets.text_seeds()[number] + chance.randbytes(30))


@pytest.mark.parametrize("number", range(0, 60, 6))
def test_specs(number: int) -> None:
    """Some of the seeds of the loader's target, and what the tree mutator makes of them."""
    seed = targets.spec_seeds()[number]
    targets.load_text(seed)
    changed = [targets.changed_spec(seed, n) for n in range(12)]

    assert len({data for data in changed if data}) > 6
    for data in changed:
        targets.load_text(data or b"")


def test_no_spec_is_no_finding() -> None:
    """Any bytes are refused or read."""
    for data in (
        b"",
        b"\xff\xfe",
        b"format_version: 1",
        b"- a\n- b\n",
        b"{" * 3000,
        b"format_version: 1\nturn: 3\n",
    ):
        targets.load_text(data)


def test_a_broken_property_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser whose events hang on the cuts is found, with what is needed to see it again."""
    real = targets.read

    def wrong(given: Any, chunks: list[str], *rest: Any, **more: Any) -> Any:
        events, looked = real(given, chunks, *rest, **more)
        return events[: None if len(chunks) == 1 else -2], looked

    monkeypatch.setattr(targets, "read", wrong)
    with pytest.raises(AssertionError, match=r"(?s)sent=.*options="):
        targets.load_text(dumps(targets.sources()[0].spec).encode())
