"""What the job writes can be read by those it is for, whatever templates and their names hold."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from dataclasses import replace
from typing import Final
from xml.etree import ElementTree as ET

import junitparser
from hypothesis import example, given
from hypothesis import strategies as st

from analyzer.cli.corpus_summary import print_review
from analyzer.corpus.baseline import Known
from analyzer.corpus.changes import Change, FormatChange
from analyzer.corpus.differences import Difference
from analyzer.corpus.junit import to_junit
from analyzer.corpus.markdown import SHOWN, code, escaped, to_markdown
from analyzer.corpus.result import Result, timings
from analyzer.corpus.review import Refusal, Review, review
from analyzer.corpus.sources import BrokenSource

HOSTILE: Final = (
    "<script>alert(1)</script> | `x` \x1b[31m \u202e ]]> & \ud800 \x00 [a](javascript:b)\n# title"
)
RESULTS: Final = (
    Result("worse", "a" * 64, "failed", renders_calls=True, failures=("a reason",)),
    Result("gone", "b" * 64, "crashed", renders_calls=True, failures=("it died",)),
    Result("same", "c" * 64, "proven", renders_calls=True),
)
BASELINE: Final = {
    "worse": Known("worse", "a" * 16, "proven", renders_calls=True),
    "gone": Known("gone", "b" * 16, "proven", renders_calls=True),
    "same": Known("same", "c" * 16, "proven", renders_calls=True),
    "away": Known("away", "d" * 16, "proven", renders_calls=True),
}
BROKEN: Final = (BrokenSource("nowhere.jinja", "There is no such file"),)


def outcome(text: str) -> Review:
    """A run in which everything that comes from outside is this text."""
    difference = Difference(text, (text,), text, [text])
    result = replace(RESULTS[0], name=text, failures=(text,))
    found = review([result], [BrokenSource(text, text)], {}, {})
    changed = Change(text, "format_changed", text, "a", "b")
    refused = (Refusal(text, text),)
    form = FormatChange("a", "b", (difference,), (text,), (), (text,))
    return replace(found, changes=(*found.changes, changed), formats=(form,), refused=refused)


def test_junit_is_read_as_junit() -> None:
    """Failures, errors and passes are counted as another reader counts them, each with its kind and words."""
    text = to_junit(review(RESULTS, BROKEN, BASELINE))
    (suite,) = junitparser.JUnitXml.fromstring(text.encode("utf-8"))
    cases = {case.name: case for case in suite}

    assert (5, 2, 2, 0) == (suite.tests, suite.failures, suite.errors, suite.skipped)
    assert {"worse", "gone", "same", "away", "nowhere.jinja"} == set(cases)
    assert [] == cases["same"].result
    found = {
        name: (type(case.result[0]).__name__, case.result[0].type)
        for name, case in cases.items()
        if case.result
    }
    assert {
        "worse": ("Failure", "regression.verdict_lost"),
        "gone": ("Error", "broken.no_result"),
        "away": ("Failure", "drift.vanished"),
        "nowhere.jinja": ("Error", "broken.broken_source"),
    } == found
    assert "was proven, is failed: a reason" == cases["worse"].result[0].message
    assert "verdict_lost: was proven, is failed: a reason" in cases["worse"].result[0].text


@given(st.text(st.characters()))
@example(HOSTILE)
def test_outputs_hold_any_text(text: str) -> None:
    """XML that parses and is UTF-8, Markdown without HTML, JSON with the very text, a terminal that is not driven."""
    found = outcome(text)
    root = ET.fromstring(to_junit(found).encode("utf-8"))  # noqa: S314  (our own)
    page = to_markdown(found)
    shown = io.StringIO()
    with redirect_stdout(shown):
        print_review(found, timings(found.results, 1), None)

    assert len(root.findall(".//testcase")) in (1, 2)
    page.encode("utf-8")
    shown.getvalue().encode("utf-8")
    outside = re.sub(r"(?<!\\)(`+) ?.*?(?<!`)\1(?!`)", "", page)
    assert not re.search(r"(?<!\\)(?:\\\\)*<", outside)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", shown.getvalue())
    assert text in (one["name"] for one in json.loads(json.dumps(found.to_json()))["changes"])


@given(st.text("`ab |"))
@example("`")
@example("a``b`")
def test_a_code_span_holds_any_row_of_backticks(text: str) -> None:
    """The fence is longer than any row inside, and stands apart from one at the edge (CommonMark, code spans)."""
    span = code(text)
    fence = re.match("`+", span)
    assert fence is not None
    inner = span[len(fence[0]) : -len(fence[0])]

    assert span.endswith(fence[0])
    assert all(len(row) != len(fence[0]) for row in re.findall("`+", inner))
    assert not inner.startswith("`")
    assert not inner.endswith("`")


def test_escaped_text_is_text() -> None:
    """Nothing of it is Markdown or HTML any more, and it is one line."""
    assert r"\<b\> \*x\* \[y\](z) \| \`\#" == escaped("<b>\n*x* [y](z) | `#")


def test_a_long_page_is_cut() -> None:
    """A thousand changes give a page that a CI service takes; the number of those left out is told."""
    results = [replace(RESULTS[0], name=f"n{number}", sha256=f"{number:064}") for number in range(1000)]
    page = to_markdown(review(results, (), {}, {}))

    assert len(page) < 100_000
    assert 2 == page.count(f"and {1000 - SHOWN} more")
