"""Overlays: selected by facts, applied where they change something."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.errors import SpecError
from analyzer.spec import Spec, dumps, load_spec
from analyzer.spec.overlays import FOLDER, Facts, apply_overlays, load_overlays, matches
from tests.spec.formats import NAMES, spec_of

BARE_JSON = """format_version: 1
turn:
  segments:
    - {kind: content, end: {literal: "<|eot_id|>"}}
    - kind: calls
      layouts: [{kind: json, name: [name], arguments: [parameters]}]
      end: {literal: "<|eot_id|>"}
"""
MARKER_ARGS = """format_version: 1
turn:
  segments:
    - {kind: content, end: {literal: "</s>"}}
    - kind: calls
      layouts:
        - {kind: sequence, parts: ["[TOOL_CALLS]", {slot: name}, "[ARGS]", {slot: arguments, codec: json}]}
      end: {literal: "</s>"}
"""
OVERLAYS = load_overlays()
FIXTURES: dict[str, Spec] = {
    **{name: spec_of(name).model_copy(update={"overlays": ()}) for name in NAMES},
    "bare_json": load_spec(BARE_JSON),
    "marker_args": load_spec(MARKER_ARGS),
}
SELECTED = {
    "answer_wrapper": ["literal_without_calls"],
    "bare_json_lists": ["bare_json"],
    "channel_recipients": ["channels"],
    "dialect_call_word": ["dialect_braces"],
    "json_key_aliases": ["bare_json", "end_opens_call", "json_array_counter", "literal_without_calls"],
    "name_in_id": ["id_only"],
    "optional_arguments_marker": ["marker_args"],
    "python_lists": ["python_calls"],
    "wrapper_spellings": ["typed_parameters"],
}


def test_every_overlay_changes_something() -> None:
    """Each overlay is selected by the formats it is for and by no other."""
    found = {
        overlay.name: sorted(
            name for name, spec in FIXTURES.items() if apply_overlays(spec, [overlay]) != spec
        )
        for overlay in OVERLAYS
    }

    assert found == SELECTED


def test_there_are_few_overlays() -> None:
    """Fewer than ten, each in the file of its name, with a reason."""
    assert len(OVERLAYS) < 10
    assert [overlay.name for overlay in OVERLAYS] == sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("name", sorted(FIXTURES))
def test_applying_twice_adds_once(name: str) -> None:
    """An overlay that is there already is not added again, and what is added survives YAML."""
    once = apply_overlays(FIXTURES[name], OVERLAYS)

    assert apply_overlays(once, OVERLAYS) == once
    assert load_spec(dumps(once)) == once


def test_only_keys_of_the_layout_get_aliases() -> None:
    """A layout with `parameters` gets other names for that key only."""
    addition = apply_overlays(FIXTURES["bare_json"], OVERLAYS).overlays[1]

    assert addition.key_aliases == {"parameters": ("arguments", "args")}


def test_a_respelling_keeps_slots_and_codecs() -> None:
    """The new layout is the old one but for the text."""
    spec = FIXTURES["dialect_braces"]
    (addition,) = apply_overlays(spec, OVERLAYS).overlays
    assert spec.calls is not None

    old = spec.calls.layouts[0]
    assert [layout.parts[0] for layout in addition.layouts] == ["<|tool_call>:", "<|tool_call>"]
    assert {layout.parts[1:] for layout in addition.layouts} == {old.parts[1:]}


def test_an_omitted_literal_leaves_no_empty_part() -> None:
    """What is replaced by nothing is gone."""
    (addition,) = apply_overlays(FIXTURES["marker_args"], OVERLAYS).overlays

    assert [type(part).__name__ for part in addition.layouts[0].parts] == ["str", "NameSlot", "ArgumentsSlot"]


OWN = """name: own
reason: They write it so.
when: {contains: ["[TOOL_CALLS]"]}
adds:
  call_opens: ["<x>{calls.open}{turn.header}"]
  ignored: ["<y>"]
"""


def test_own_overlays_are_read_and_spelled(tmp_path: Path) -> None:
    """A further file adds an overlay, and literals of the spec are filled in."""
    (tmp_path / "own.yaml").write_text(OWN, encoding="utf-8")
    spec = load_spec(MARKER_ARGS.replace("- kind: calls\n", '- kind: calls\n      open: "<calls>"\n').replace(
        "turn:\n", 'turn:\n  header: "<model>"\n'))  # fmt: skip
    addition = apply_overlays(spec, load_overlays([tmp_path])).overlays[-1]

    assert addition.call_opens == ("<x><calls><model>",)
    assert addition.ignored == ("<y>",)


def test_an_own_overlay_replaces_its_namesake(tmp_path: Path) -> None:
    """A further file with the name of an overlay of the package stands in its place."""
    path = tmp_path / "name_in_id.yaml"
    path.write_text(OWN.replace("name: own", "name: name_in_id"), encoding="utf-8")
    loaded = load_overlays([path])

    assert len(loaded) == len(OVERLAYS)
    assert [overlay.adds.ignored for overlay in loaded if overlay.name == "name_in_id"] == [("<y>",)]


@pytest.mark.parametrize(
    ("text", "line", "path", "found"),
    [
        (OWN.replace("contains", "contain"), 3, "when.contain", "is `contains` meant?"),
        (OWN.replace("reason: They write it so.\n", ""), 1, "reason", "the key `reason` is missing"),
        (OWN.replace("ignored:", "ignore:"), 6, "adds.ignore", "is `ignored` meant?"),
        (OWN + "name: twice\n", 7, "", "stands twice"),
    ],
)
def test_what_is_no_overlay_is_told_with_its_place(
    tmp_path: Path, text: str, line: int, path: str, found: str
) -> None:
    """The errors are those of specs: file, line and path."""
    file = tmp_path / "own.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_overlays([file])

    assert (str(file), line, path) == (caught.value.file, caught.value.line, caught.value.path)
    assert found in caught.value.found


def test_two_own_overlays_of_one_name_are_refused(tmp_path: Path) -> None:
    """Which of the two counts would be a guess."""
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(OWN, encoding="utf-8")
    with pytest.raises(SpecError, match="is also in"):
        load_overlays([tmp_path])


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(), True),
        (Facts(contains=("[ARGS]", "</s>")), True),
        (Facts(contains=("[ARGS]", "<x>")), False),
        (Facts(lacks=("[ARGS]",)), False),
        (Facts(layout="json"), False),
        (Facts(codec="json"), True),
        (Facts(codec="python"), False),
        (Facts(calls_open=""), True),
        (Facts(calls_open="<x>"), False),
        (Facts(bare=False), True),
        (Facts(name_written=True), True),
        (Facts(reasoning=True), False),
    ],
)
def test_each_fact_is_looked_at(facts: Facts, *, expected: bool) -> None:
    """Every fact that is given must hold."""
    assert matches(FIXTURES["marker_args"], facts) == expected


def test_facts_of_calls_need_calls() -> None:
    """A spec without calls has no layout to select by."""
    spec = load_spec("format_version: 1\nturn: {segments: []}\n")

    assert not matches(spec, Facts(bare=True))
    assert apply_overlays(spec, OVERLAYS) is spec
