"""Hypothesis strategies of specs: valid ones, with texts that YAML is known to get wrong."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from analyzer.spec import model, parts

SURROGATES = st.characters(categories=["Cs"])

NASTY_TEXTS = st.sampled_from(
    [
        "", " ", "\n", "\n\n", "\t", "no", "on", "Yes", "null", "~", "true", "1", "007", "1e5", "0x10", "1_000", "1:30", "=",
        "<<", "- a", "a: b", "a #b", "# a", "&a", "*a", "!t", "%d", "@a", "`a`", "|", ">", "'", '"', "\\", "\\n", "{a}", "[a]",
        ",", "?", ": ", "---", "...", "2024-01-01", "<think>\n", " <think> ", "\u00a0", "\u200b\u202e", "\u2028", "\u0085",
        "\ufeff", "\x00\x1b", "\ud800", "\udfff", "\ud83d\ude00", "\U0001f600", "<｜tool▁call▁end｜>", "\U000e0041", "e\u0301",
        "\r\n", "a  b", "x" * 150, "a b " * 60,
    ]
)  # fmt: skip

texts = st.one_of(
    NASTY_TEXTS, st.text(max_size=12), st.text(alphabet=st.one_of(st.characters(), SURROGATES), max_size=6)
)
full_texts = texts.filter(
    lambda text: bool(text) and not any("\ud800" <= character <= "\udfff" for character in text)
)
"""Texts of literals that may not be empty; those may not hold lone surrogates either."""
words = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
keys = st.one_of(words, texts)
hashes = st.from_regex(r"([0-9a-f]{64})?", fullmatch=True)
numbers = st.one_of(st.integers(), st.floats(allow_nan=False))
scalars: st.SearchStrategy[Any] = st.one_of(st.booleans(), numbers, texts, st.none())
json_values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=5,
)


def tuples(items: st.SearchStrategy[Any], *, min_size: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    """Return short tuples of `items`."""
    return st.lists(items, min_size=min_size, max_size=3).map(tuple)


codecs: st.SearchStrategy[Any] = st.one_of(
    st.builds(parts.RawCodec),
    st.builds(parts.JsonCodec),
    st.builds(parts.PythonCodec),
    st.builds(parts.JsonTextCodec),
    st.builds(parts.QuotedCodec, open=full_texts, close=full_texts),
    st.builds(parts.DialectCodec, quote=full_texts, bare_keys=st.booleans()),
    st.builds(parts.NestedCodec, array_key=full_texts),
    st.builds(parts.EscapedCodec, escapes=st.dictionaries(full_texts, texts, max_size=3)),
    st.builds(parts.CdataCodec),
    st.builds(parts.CdataCodec, open=full_texts, close=full_texts),
)
type_slots = st.builds(
    parts.TypeSlot, words=st.dictionaries(st.sampled_from(parts.JSON_TYPES), texts, max_size=7)
)
items = st.tuples(
    full_texts,
    st.builds(parts.KeySlot),
    st.one_of(full_texts, type_slots),
    st.builds(parts.ValueSlot),
    st.one_of(texts, type_slots),
)


@st.composite
def codec_tables(draw: st.DrawFn) -> parts.Codecs:
    """Return codecs for all types, few of them other than the default."""
    rare = draw(st.sets(st.sampled_from(parts.JSON_TYPES), max_size=2))
    return parts.Codecs(**{"string": draw(codecs), **{name: draw(codecs) for name in sorted(rare)}})


arguments = st.one_of(
    st.builds(parts.ArgumentsSlot, codec=codecs),
    st.builds(parts.ArgumentsSlot, item=items, separator=texts, codecs=codec_tables()),
)
ids = st.builds(parts.IdSlot, pattern=st.none() | texts, start=st.integers(0, 2))
indexes = st.builds(parts.IndexSlot, start=st.integers(0, 2))
names = st.builds(parts.NameSlot)
part_lists = st.lists(st.one_of(texts, names, ids, indexes), max_size=4).map(tuple)
_LAYOUTS: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        model.JsonLayout,
        open=texts,
        close=texts,
        name=tuples(words, min_size=1) | st.just("key"),
        arguments=tuples(words),
        arguments_codec=st.sampled_from(["json", "json_text", "python"]),
        id=st.none() | tuples(words),
        parts=part_lists,
    ),
    st.builds(
        lambda head, name, middle, slot, tail: model.SequenceLayout(
            parts=(*head, name, *middle, slot, *tail)
        ),
        part_lists,
        st.one_of(names, ids),
        part_lists,
        arguments,
        part_lists,
    ),
)


@st.composite
def layouts(draw: st.DrawFn) -> Any:
    """Return a layout."""
    return draw(_LAYOUTS)


ends = st.none() | st.builds(model.End, literal=full_texts, stop=st.booleans())
whens = st.sampled_from(["any", "alone", "beside_calls"])
reasoning = st.builds(
    model.ReasoningSegment,
    when=whens,
    fields=tuples(words),
    open=texts,
    close=texts,
    empty=texts,
    kept=st.sampled_from(["always", "current_turn", "beside_calls", "never"]),
    end=ends,
)
content = st.builds(model.ContentSegment, when=whens, open=texts, close=texts, empty=texts, end=ends)
calls = st.builds(
    model.CallsSegment,
    open=texts,
    close=texts,
    separator=texts,
    array=st.booleans(),
    parallel=st.booleans(),
    layouts=tuples(layouts(), min_size=1),
    end=ends,
)
prompts = st.builds(
    model.Prompt,
    set=st.dictionaries(keys, scalars, max_size=2),
    after=st.sampled_from(["user", "result"]),
    text=texts,
)
turns = st.builds(
    lambda segments, section, **rest: model.Turn(segments=(*segments, *section), **rest),
    tuples(st.one_of(reasoning, content)),
    st.one_of(st.just(()), calls.map(lambda segment: (segment,))),
    prompts=tuples(prompts),
    header=texts,
    header_repeats=st.booleans(),
)
additions = st.builds(
    model.Addition,
    overlay=words,
    reason=texts,
    layouts=tuples(layouts()),
    segments=tuples(st.one_of(reasoning, content)),
    call_opens=tuples(texts),
    key_aliases=st.dictionaries(keys, tuples(texts), max_size=2),
    separators=tuples(texts),
    ignored=tuples(texts),
    id_pattern=st.none() | texts,
)


@st.composite
def specs(draw: st.DrawFn) -> model.Spec:
    """Return a spec."""
    return draw(_SPECS)


_SPECS = st.builds(
    model.Spec,
    template=st.builds(model.TemplateRef, name=texts, sha256=hashes),
    input=st.builds(
        model.InputFacts,
        arguments=st.sampled_from(["mapping", "text", "both", "none"]),
        ids=st.none() | texts,
        reasoning_fields=tuples(texts),
        parallel_calls=st.booleans(),
        variables=st.dictionaries(keys, scalars, max_size=2),
        settings=st.dictionaries(keys, tuples(scalars), max_size=2),
    ),
    turn=turns,
    results=st.none() | st.builds(model.Results, role=texts, open=texts, close=texts),
    grammar=st.builds(
        model.Grammar, triggers=tuples(texts), preserved_tokens=tuples(texts), stops=tuples(texts)
    ),
    overlays=tuples(additions),
    defects=tuples(
        st.builds(
            model.Defect, kind=texts, message=texts, witness=st.dictionaries(keys, json_values, max_size=3)
        )
    ),
    evidence=st.dictionaries(
        keys,
        tuples(st.builds(model.Evidence, comparison=texts, found=texts, described=st.booleans())),
        max_size=2,
    ),
    verification=st.builds(
        model.Verification,
        round_trips=st.integers(0, 10**6),
        coverage=st.dictionaries(keys, st.integers(0, 10**6), max_size=3),
        unproven=tuples(texts),
    ),
)
