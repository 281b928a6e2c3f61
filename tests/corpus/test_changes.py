"""What counts as which change, and with which exit code a run ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from analyzer.corpus.baseline import Known, read_baseline
from analyzer.corpus.changes import EXIT_CODES, KINDS, RANKS, SEVERITIES, Change, compare
from analyzer.corpus.differences import differences
from analyzer.corpus.golden import corpus_files, named_spec, own_files, write
from analyzer.corpus.job import Plan, check
from analyzer.corpus.ledger import Gap
from analyzer.corpus.result import Result
from analyzer.corpus.review import STATUS, review
from analyzer.corpus.sources import BrokenSource
from analyzer.errors import UsageError
from analyzer.lint.diff import Change as FieldChange
from analyzer.spec.document import parse_spec
from analyzer.template import Template, load_templates
from tests.corpus.conftest import SMALL, TEMPLATES

NAMES: Final = (
    *SMALL,
    "described_only",
    "described_tags_in_section",
    "defect_content_dropped",
)
DOCUMENT: Final = Template(
    "document", "{{- '### Request:\\n' + (messages | tojson) + '\\n### Response:\\n' -}}"
)
"""A template that writes the conversation as one document, and nothing of how the model answers it: its spec fails."""
SHA: Final = "a" * 64
RESULT: Final = Result("one", SHA, "proven", renders_calls=True, format="f" * 12)
KNOWN: Final = Known("one", SHA[:16], "proven", renders_calls=True, format="f" * 12)
LEDGER: Final = {SHA: Gap("one", SHA, "a reason")}
FAILED: Final = replace(RESULT, verdict="failed", failures=("why",))
KNOWN_FAILED: Final = replace(KNOWN, verdict="failed")


def kinds(*arguments: object) -> list[str]:
    """The kinds of the changes."""
    return [change.kind for change in compare(*arguments)]  # type: ignore[arg-type]


CASES: Final = {
    "the same": (RESULT, KNOWN, None, []),
    "nothing committed": (RESULT, None, None, ["new"]),
    "a new gap without ledger": (FAILED, None, None, ["gap_open", "new"]),
    "a gap that is committed": (FAILED, KNOWN_FAILED, None, []),
    "lost": (FAILED, KNOWN, None, ["verdict_lost"]),
    "lost, and not in the ledger": (FAILED, KNOWN, {}, ["verdict_lost", "gap_new"]),
    "lost, and in the ledger": (FAILED, KNOWN, LEDGER, ["verdict_lost"]),
    "won, and in the ledger": (RESULT, KNOWN_FAILED, LEDGER, ["verdict_won", "gap_closed"]),
    "in the ledger and a gap": (FAILED, KNOWN_FAILED, LEDGER, []),
    "calls are overlooked": (replace(RESULT, verdict="no_calls"), KNOWN, None, ["verdict_lost"]),
    "calls are seen": (RESULT, replace(KNOWN, verdict="no_calls"), None, ["verdict_won"]),
    "with defects": (
        replace(RESULT, verdict="proven_with_defects", defects=("x",)),
        KNOWN,
        None,
        ["verdict_changed", "defects_changed"],
    ),
    "other defects": (
        replace(RESULT, defects=("x",)),
        replace(KNOWN, defects=("y",)),
        None,
        ["defects_changed"],
    ),
    "renders calls now": (RESULT, replace(KNOWN, renders_calls=False), None, ["calls_changed"]),
    "nobody says whether it renders calls": (RESULT, replace(KNOWN, renders_calls=None), None, []),
    "another text": (replace(RESULT, sha256="b" * 64), KNOWN, None, ["template_changed"]),
    "another format": (replace(RESULT, format="e" * 12), KNOWN, None, ["format_changed"]),
    "another text and format": (
        replace(RESULT, format="e" * 12, sha256="b" * 64),
        KNOWN,
        None,
        ["format_changed"],
    ),
    "another name": (replace(RESULT, name="two"), KNOWN, None, ["renamed"]),
    "another name, another text": (
        replace(RESULT, name="two", sha256="b" * 64),
        KNOWN,
        None,
        ["new", "vanished"],
    ),
    "no result": (replace(FAILED, verdict="crashed"), KNOWN, {}, ["no_result"]),
    "no result, as is known": (replace(FAILED, verdict="crashed"), KNOWN, LEDGER, []),
}


@pytest.mark.parametrize("case", CASES)
def test_what_counts_as_which_change(case: str) -> None:
    """One result against what is committed of it and against a ledger."""
    result, known, ledger, expected = CASES[case]

    assert expected == kinds([result], [], {known.name: known} if known else {}, ledger)


def test_without_a_baseline_only_gaps_count() -> None:
    """With nothing to compare with nothing is new."""
    assert [] == kinds([RESULT], [], None, None)
    assert ["gap_open"] == kinds([FAILED], [], None, None)
    assert ["gap_new"] == kinds([FAILED], [], None, {})
    assert [] == kinds([FAILED], [], None, LEDGER)


def test_what_a_run_is_not_about_has_not_vanished() -> None:
    """Neither what a smaller corpus leaves out, nor what could not be loaded."""
    baseline = {"one": KNOWN, "two": replace(KNOWN, name="two", sha256="b" * 16)}

    assert ["vanished"] == kinds([RESULT], [], baseline, None)
    assert [] == kinds([RESULT], [], baseline, None, {"one"})
    assert ["broken_source"] == kinds([RESULT], [BrokenSource("two.jinja", "why", "two")], baseline, None)


@given(st.lists(st.sampled_from(sorted(KINDS))))
def test_the_worst_change_decides_the_exit_code(found: list[str]) -> None:
    """No change: 0; else the code of the severest; the codes differ."""
    changes = tuple(Change("one", kind, "words") for kind in found)
    outcome = replace(review([RESULT]), changes=changes)
    order = list(SEVERITIES)
    worst = max((order.index(KINDS[kind].severity) for kind in found), default=-1)

    assert outcome.exit_code == (EXIT_CODES[order[worst]] if worst >= 0 else 0)
    assert len({0, *EXIT_CODES.values()}) == len(STATUS) == 4


@given(st.sampled_from(sorted(RANKS)), st.sampled_from(sorted(RANKS)))
def test_a_verdict_that_is_lost_one_way_is_won_the_other(one: str, other: str) -> None:
    """Every change of verdict is told, and the way back is the opposite."""
    there, back = (
        {"verdict_lost", "verdict_won", "verdict_changed"}.intersection(
            kinds([replace(RESULT, verdict=new)], [], {"one": replace(KNOWN, verdict=old)}, LEDGER)
        )
        for old, new in ((one, other), (other, one))
    )
    opposite = {
        "verdict_lost": "verdict_won",
        "verdict_won": "verdict_lost",
        "verdict_changed": "verdict_changed",
    }

    assert bool(there) == (one != other)
    assert {opposite[kind] for kind in there} == back


def field(before: object, after: object, path: str = "calls.layouts[0].open") -> FieldChange:
    """A change of one field."""
    return FieldChange(path, f"subject of {path}", before, after)


def test_a_renaming_is_one_difference() -> None:
    """The same marker in several fields, alone or among others, is told once; what is no renaming is told as it is."""
    changes = [
        field("<call>\n", "<tool>\n", "a"),
        field(["<x>", "<call>"], ["<x>", "<tool>"], "b"),
        field("<call>", "<call>\n", "c"),
        field(["<call>"], [], "d"),
        field(False, True, "e"),  # noqa: FBT003
        field("\n", " ", "f"),
    ]
    first, *others = differences(changes)

    assert (True, "<call>", "<tool>", ("a", "b")) == (first.renamed, first.before, first.after, first.fields)
    assert "'<call>' is now '<tool>': subject of a, subject of b" == first.words
    assert [("c",), ("d",), ("e",), ("f",)] == [one.fields for one in others]
    assert not any(one.renamed for one in others)


@given(st.lists(st.tuples(st.text(), st.text()).filter(lambda pair: pair[0] != pair[1]), max_size=5))
def test_no_change_is_left_out(texts: list[tuple[str, str]]) -> None:
    """Every field that changed is in some difference."""
    changes = [field(before, after, f"p{number}") for number, (before, after) in enumerate(texts)]

    assert {change.path for change in changes} == {
        path for one in differences(changes) for path in one.fields
    }


@pytest.fixture(scope="module")
def results() -> list[Result]:
    """Results of templates of every verdict that a spec can have."""
    templates = [template for name in NAMES for template in load_templates(TEMPLATES / f"{name}.jinja")]
    return list(check([*templates, DOCUMENT], Plan(jobs=1)))


@pytest.mark.parametrize("layout", [corpus_files, own_files])
def test_a_baseline_says_what_was_written(layout: object, results: list[Result], tmp_path: Path) -> None:
    """An index with formats, and a folder of specs: results compared with what was made of them did not change."""
    write(tmp_path, layout(results))  # type: ignore[operator]
    baseline = read_baseline(tmp_path)

    assert {*NAMES, DOCUMENT.name} == set(baseline)
    assert {"proven", "proven_with_defects", "described", "no_calls", "failed"} == {
        known.verdict for known in baseline.values()
    }
    assert not review(results, baseline=baseline).changes


def test_equal_templates_share_a_spec_without_a_name(results: list[Result]) -> None:
    """The spec of a result names no template; `named_spec` puts the name in."""
    for result in results:
        assert "" == parse_spec(result.spec).template.name
        assert result.name == parse_spec(named_spec(result)).template.name


@pytest.mark.parametrize(
    "entry",
    [
        "3",
        "{verdict: proven}",
        "{sha256: a, verdict: proven, more: 1}",
        "{sha256: a, verdict: proven, calls: maybe}",
        "{sha256: 1, verdict: proven}",
    ],
)
def test_a_bad_index_is_a_usage_error(entry: str, tmp_path: Path) -> None:
    """An entry that is none is told with its name."""
    (tmp_path / "index.yaml").write_text(f"one: {entry}\n", encoding="utf-8")

    with pytest.raises(UsageError, match="one: an entry has"):
        read_baseline(tmp_path)


@pytest.mark.parametrize("text", ["- a", "{", "!!python/none x"])
def test_an_index_that_is_no_mapping_is_a_usage_error(text: str, tmp_path: Path) -> None:
    """A file that is no index, and one that is no YAML."""
    (tmp_path / "index.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match="index"):
        read_baseline(tmp_path)


def test_a_missing_format_is_told(results: list[Result], tmp_path: Path) -> None:
    """A committed format whose file is gone is no baseline; without a folder there is none either."""
    write(tmp_path, corpus_files(results))
    index = tmp_path / "index.yaml"
    entries = yaml.safe_load(index.read_text(encoding="utf-8"))
    entries["no_tools"]["format"] = "0" * 12
    index.write_text(yaml.safe_dump(entries), encoding="utf-8")

    with pytest.raises(UsageError, match=r"0{12}"):
        review(results, baseline=read_baseline(tmp_path))
    with pytest.raises(UsageError, match="--update-baseline"):
        read_baseline(tmp_path / "absent")
