"""Arguments as items, and the codecs of their values, from the texts that a template would write."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from analyzer.infer.codecs import NASTY_QUOTES, NASTY_TAGS, ValueTexts, cut_values, typed_values
from analyzer.infer.items import cut_items
from analyzer.infer.locate import argument_span, json_bodies, path_to
from analyzer.infer.slots import counted_literal, counter_start, join_id
from analyzer.observe.needles import needles
from analyzer.spec.parts import IdSlot, IndexSlot, NameSlot

CALL = needles(0).calls[0]
OTHER = needles(0).calls[1]


def written(
    item: Callable[[str, Any], str], separator: str, count: int, before: str = "", after: str = ""
) -> str:
    """Write `count` arguments the way a template would."""
    pairs = list(zip(CALL.keys, CALL.values, strict=True))[:count]
    return before + separator.join(item(key, value) for key, value in pairs) + after


@pytest.mark.parametrize(
    ("item", "separator", "before", "after", "expected"),
    [
        (lambda k, v: f"<p={k}>\n{v}\n</p>\n", "", ">\n", "</f>\n</c>", ("<p=", ">\n", "\n</p>\n", "")),
        (lambda k, v: f"<k>{k}</k>\n<v>{v}</v>\n", "", "\n", "</c>", ("<k>", "</k>\n<v>", "</v>\n", "")),
        (lambda k, v: f'{k}="{v}"', ", ", "(", ")", ("", '="', '"', ", ")),
        (lambda k, v: f"{k}:<q>{v}<q>", ",", "{", "}<e>", ("", ":<q>", "<q>", ",")),
        (lambda k, v: f"\n  <p={k}>{v}</p>", "", ">", "\n</f>", ("\n  <p=", ">", "</p>", "")),
    ],
)
def test_items_are_cut_as_they_were_put_together(
    item: Callable[[str, Any], str],
    separator: str,
    before: str,
    after: str,
    expected: tuple[str, str, str, str],
) -> None:
    """Opener, middle, closer and separator; the call without arguments has what stands before and after all items."""
    zero, one, two = (written(item, separator, count, before, after) for count in (0, 1, 2))
    cut = cut_items(zero, one, two, CALL)
    assert cut is not None
    assert (cut.open, cut.middle, cut.close, cut.separator) == expected


def test_a_key_that_stands_twice_is_found() -> None:
    """An element named by the argument closes with its name."""
    zero, one, two = (
        written(lambda k, v: f"<{k}>{v}</{k}>", "", count, "\n", "\n</c>") for count in (0, 1, 2)
    )
    cut = cut_items(zero, one, two, CALL)
    assert cut is not None
    assert (cut.open, cut.middle, cut.close_key) == ("<", ">", ("</", ">"))


def value_texts(
    spell: Callable[[Any], str], middle: Callable[[Any], str], tail: Callable[[Any], str] = lambda _: "</v>"
) -> ValueTexts:
    """Write one argument for each probe value."""
    typed = typed_values(OTHER.keys[0], OTHER.values[0])
    plain = CALL.values[0]

    def text(value: Any) -> str:
        return middle(value) + spell(value) + tail(value)

    return ValueTexts(
        text(plain), plain, {kind: (value, text(value)) for kind, value in typed.items()},
        tuple((value, text(value)) for value in (NASTY_QUOTES, NASTY_TAGS)),
    )  # fmt: skip


def raw_or_json(value: Any) -> str:
    """Spell strings as they are and everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("spell", "expected"),
    [
        (raw_or_json, ("raw", "json", "json")),
        (lambda value: json.dumps(value, ensure_ascii=False), ("json", "json", "json")),
        (repr, ("python", "python", "python")),
        (
            lambda value: f"'{value}'" if isinstance(value, str) else json.dumps(value),
            ("quoted", "json", "json"),
        ),
        (lambda value: value if isinstance(value, str) else repr(value), ("raw", "python", "python")),
    ],
)
def test_codecs_are_told_from_how_values_are_written(
    spell: Callable[[Any], str], expected: tuple[str, str, str]
) -> None:
    """Strings, booleans and lists, each by its own spelling."""
    texts = value_texts(spell, lambda _: ">")
    first = texts.plain.partition(texts.plain_value)
    cut = cut_values(texts, first[0], first[2], "<v ")
    assert (cut.codecs.string.kind, cut.codecs.boolean.kind, cut.codecs.array.kind) == expected


def test_a_word_that_follows_the_type_becomes_a_slot() -> None:
    """The literal differs between a string and everything else."""
    texts = value_texts(raw_or_json, lambda value: f'" string="{str(isinstance(value, str)).lower()}">')
    cut = cut_values(texts, '" string="true">', "</v>", "<v ")
    before, slot, after = cut.middle
    assert (before, after) == ('" string="', '">')
    assert not isinstance(slot, str)
    assert (slot.words["string"], slot.words["integer"], slot.words["object"]) == ("true", "false", "false")


TYPES: dict[type, str] = {str: "text", bool: "flag", int: "number", float: "number"}


def type_word(value: Any) -> str:
    """The name of an element for a value."""
    return TYPES.get(type(value), "json")


def escaped(value: Any) -> str:
    """A closer that is escaped behind what has a length."""
    return "&lt;/v&gt;" if isinstance(value, (str, list, dict)) else "</v>"


@pytest.mark.parametrize(
    ("spell", "middle", "close", "expected"),
    [
        (raw_or_json, lambda _: ">", escaped, ("raw", "&lt;/v&gt;", "</v>", "&lt;/v&gt;")),
        (json.dumps, lambda _: ">", escaped, ("json", "&lt;/v&gt;", "</v>", "&lt;/v&gt;")),
        (repr, lambda _: ">", escaped, ("python", "&lt;/v&gt;", "</v>", "&lt;/v&gt;")),
        (
            raw_or_json,
            lambda value: f"><{type_word(value)}>",
            lambda value: f"</{type_word(value)}>",
            ("raw", "</text>", "</number>", "</json>"),
        ),
        (
            json.dumps,
            lambda value: f' as="{type_word(value)}">',
            lambda value: f"</{type_word(value)}>",
            ("json", "</text>", "</number>", "</json>"),
        ),
    ],
)
def test_closers_follow_the_type_of_what_they_close(
    spell: Callable[[Any], str],
    middle: Callable[[Any], str],
    close: Callable[[Any], str],
    expected: tuple[str, str, str, str],
) -> None:
    """The strings' codec, and the closers of strings, integers and objects."""
    texts = value_texts(spell, middle, lambda value: close(value) + "</c>")
    first, _, tail = texts.plain.partition(texts.plain_value)

    cut = cut_values(texts, first, tail.removesuffix("</c>"), "<v ")

    words = cut.closers
    assert expected == (cut.codecs.string.kind, words["string"], words["integer"], words["object"])
    assert len(words) == 7
    worded = [part for part in cut.middle if not isinstance(part, str)]
    assert bool(worded) == (middle("") != middle(1))


@pytest.mark.parametrize(
    ("spell", "middle"),
    [
        (raw_or_json, lambda _: ">"),
        (json.dumps, lambda _: ">"),
        (lambda value: f"<q>{value}<q>" if isinstance(value, str) else json.dumps(value), lambda _: ">"),
        (lambda value: json.dumps(json.dumps(value)), lambda _: ">"),
        (raw_or_json, lambda value: f'" string="{str(isinstance(value, str)).lower()}">'),
    ],
)
def test_one_closer_is_no_word_that_follows_the_type(
    spell: Callable[[Any], str], middle: Callable[[Any], str]
) -> None:
    """Quotes of any kind belong to the codec, and words before the value say nothing of its closer."""
    texts = value_texts(spell, middle, lambda _: "</v></c>")
    first, _, tail = texts.plain.partition(texts.plain_value)

    cut = cut_values(texts, first, tail.removesuffix("</c>"), "<v ")

    assert cut.closers == {}


def test_json_is_found_by_decoding_and_not_by_braces() -> None:
    """Braces before the body that are no JSON do not hide it; each call has its own body."""
    first, second = (
        json.dumps({"name": call.name, "arguments": call.arguments(2)}) for call in (CALL, OTHER)
    )
    text = f"{{ not json <c>{first}</c>\n<c>{second}</c>"
    bodies = json_bodies(text, 0, (CALL, OTHER), 2)
    assert bodies is not None
    assert [text[body.start : body.end] for body in bodies] == [first, second]
    assert path_to(bodies[0].value, CALL.name) == ("name",)


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (json.dumps(CALL.arguments(2)), "json"),
        (repr(CALL.arguments(2)), "python"),
        (json.dumps(json.dumps(CALL.arguments(2))), "json_text"),
    ],
)
def test_all_arguments_in_one_value_are_found_in_three_encodings(text: str, codec: str) -> None:
    """The span is exactly the value, whatever stands around it."""
    whole = f"<c>{CALL.name} {text}</c>"
    span = argument_span(whole, 0, len(whole), CALL.arguments(2))
    assert span is not None
    assert (whole[span.start : span.end], span.detail) == (text, codec)


@pytest.mark.parametrize(
    ("column", "expected"), [(("0", "1", "2"), 0), (("1", "2"), 1), (("1", "1"), None), (("a", "b"), None)]
)
def test_a_counter_counts_up_by_one(column: tuple[str, ...], expected: int | None) -> None:
    """Anything else is no counter."""
    assert counter_start(column) == expected


def test_name_and_counter_join_to_an_id() -> None:
    """`functions.NAME:N` is one id whose pattern holds both."""
    counter = counted_literal([":0<a>", ":1<a>", ":2<a>"])
    assert counter == [":", IndexSlot(start=0), "<a>"]
    parts, before = join_id([NameSlot(), *counter], "<c>functions.")
    assert (parts, before) == ([IdSlot(pattern="functions.{name}:{index}"), "<a>"], "<c>")
