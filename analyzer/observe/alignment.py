"""Three-way alignment: cutting a repeated structure into its opener, closer, separator and surroundings.

A structure `X` is written once, or twice with something between. `H` is the text before the first body, `G` between two bodies, `E` after
the last. Then

    H = outer_open  open        G = close  separator  open        E = close  outer_close

so `open` is the common ending of H and G, `close` the common beginning of G and E. Where the two overlap in G, white space goes to the
separator, else the close wins and the cut is `ambiguous`.
"""

from __future__ import annotations

from dataclasses import dataclass

from analyzer.observe.lexemes import common_prefix, common_suffix, lexemes


@dataclass(frozen=True, slots=True)
class Cut:
    """The result of a three-way alignment."""

    outer_open: str
    open: str
    close: str
    separator: str
    outer_close: str
    ambiguous: bool = False


def align(before: str, between: str | None, after: str) -> Cut:
    """Cut `before`, `between` and `after` (H, G, E). Without G nothing repeats: all of H and E is outer."""
    if between is None:
        return Cut("", before, after, "", "")
    opener = common_suffix(before, between)
    close = common_prefix(between, after)
    opener, close, ambiguous = _resolve(opener, close, between)
    separator = between[len(close) : len(between) - len(opener)]
    return Cut(
        outer_open=before[: len(before) - len(opener)],
        open=opener,
        close=close,
        separator=separator,
        outer_close=after[len(close) :],
        ambiguous=ambiguous,
    )


def _resolve(opener: str, close: str, between: str) -> tuple[str, str, bool]:
    """Shorten `opener` and `close` until they no longer overlap in `between`."""
    overlap = len(opener) + len(close) - len(between)
    if overlap <= 0:
        return opener, close, False
    shared = between[len(between) - len(opener) : len(close)]
    if not shared.strip():
        return opener[len(shared) :], close[: len(close) - len(shared)], False
    pieces = lexemes(shared)
    if len(pieces) > 1 and not pieces[0].strip():  # white space first: it closes, the rest opens
        kept = pieces[0]
        return opener[len(kept) :], close[: len(close) - len(shared) + len(kept)], True
    return opener[len(shared) :], close, True
