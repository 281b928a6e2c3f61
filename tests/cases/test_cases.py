"""Failures of other parsers, as cases of our own: a template and what has to come of it, and what is written with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from click.testing import CliRunner

from analyzer.analysis import Analysis, analyze
from analyzer.cli.app import app
from analyzer.errors import TemplateError, UsageError
from analyzer.prepare import prepare
from analyzer.render import InProcessRenderer, Rendered, RenderFailure, RenderRequest, RenderWorker
from analyzer.runtime import assemble
from analyzer.spec.model import Spec
from analyzer.template import Template
from tests.runtime.checks import check_all_splits, tool

HERE: Final = Path(__file__).parent
TEMPLATES: Final = HERE.parents[1] / "corpus" / "templates"


def _load(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = yaml.safe_load((HERE / f"{name}.yaml").read_text(encoding="utf-8"))
    return loaded


LEDGER: Final = {entry["id"]: entry["reason"] for entry in _load("ledger")}
REPLIES: Final = _load("replies")
CONVERSATIONS: Final = _load("conversations")


def identity(case: dict[str, Any]) -> str:
    """The name of a case in the test's id."""
    return str(case["id"])


def template_of(case: dict[str, Any]) -> Template:
    """The template of a case."""
    text = case.get("source")
    if text is None:
        text = (TEMPLATES / f"{case['template']}.jinja").read_text(encoding="utf-8")
    for old, new in case.get("replace", {}).items():
        assert old in text
        text = text.replace(old, new)
    return Template(case["id"], text)


def run(case: dict[str, Any], check: Any) -> None:
    """Check a case; one that the ledger excuses must fail."""
    if case["id"] in LEDGER:
        with pytest.raises(AssertionError):
            check(case)
    else:
        check(case)


def test_ids_are_unique_and_the_ledger_speaks_of_cases() -> None:
    """No case hides another, no excuse is left behind."""
    ids = [case["id"] for case in (*REPLIES, *CONVERSATIONS)]

    assert sorted(set(ids)) == sorted(ids)
    assert set(LEDGER) <= set(ids)


@pytest.mark.parametrize("case", REPLIES, ids=identity)
def test_reply(case: dict[str, Any], tmp_path: Path) -> None:
    """What a model wrote is read, with the spec that its template gives, as it was meant, however it is cut."""
    overlays = []
    if "overlay" in case:
        overlays.append(tmp_path / "overlay.yaml")
        overlays[0].write_text(case["overlay"], encoding="utf-8")
    found = analyze(
        template_of(case), renderer=InProcessRenderer(), overlays=overlays, verify="verdict" in case
    )

    run(case, lambda one: check_replies(found, one))


def check_replies(found: Analysis, case: dict[str, Any]) -> None:
    """Check the verdict, all texts of a case, and what the spec tells servers."""
    spec = found.spec
    assert spec is not None
    assert case.get("verdict", found.verdict) == found.verdict
    for text in case["texts"]:
        check_reply(spec, case, text)
    assert set(case.get("preserved", [])) <= set(spec.grammar.preserved_tokens)


def check_reply(spec: Spec, case: dict[str, Any], given: dict[str, Any]) -> None:
    """Parse one text whole, character by character and at every cut."""
    tools = [tool(name, schema) for name, schema in case.get("tools", {}).items()] or None
    prompt = case.get("prompt")
    if "set" in case:
        prompt = next(one.text for one in spec.turn.prompts if one.set == case["set"])
    more = {} if prompt is None else {"prompt": prompt}

    events = check_all_splits(spec, given["text"], tools, given.get("finish", "stop"), **more)

    parsed = assemble(events)
    message = parsed.message
    calls = [{call.name: call.decoded()} for call in message.tool_calls]
    assert given.get("calls", []) == calls
    assert given.get("content", "") == (message.content or "").strip()
    wanted = given.get("reasoning", "")
    assert (message.reasoning_content or "").strip() in (wanted if isinstance(wanted, list) else [wanted])
    if "ids" in given:
        assert given["ids"] == [call.id for call in message.tool_calls]
    assert set(given.get("problems", [])) <= {problem.kind for problem in parsed.problems}


@pytest.mark.parametrize("case", CONVERSATIONS, ids=identity)
def test_conversation(case: dict[str, Any]) -> None:
    """What bare rendering does is a value, what the template wants is inferred, and a prepared conversation renders."""
    run(case, check_conversation)


def check_conversation(case: dict[str, Any]) -> None:
    """Run one case: bare rendering, inference, preparation."""
    template, raw = template_of(case), case["raw"]
    given = {"variables": case.get("variables", {})}
    with RenderWorker() as worker:
        [outcome] = worker.render(
            template.text, [RenderRequest(case["messages"], tools=case.get("tools"), **given)]
        )
        if isinstance(outcome, Rendered):
            assert raw["text"] == outcome.text
        else:
            kinds = raw["kind"] if isinstance(raw["kind"], list) else [raw["kind"]]
            assert outcome.kind in kinds
            assert raw.get("says", "") in outcome.message
            assert raw.get("line", outcome.line) == outcome.line
        if not {"facts", "notes"} & set(case):
            return
        found = analyze(template, renderer=worker, verify=False)
        assert found.spec is not None
        for path, value in case.get("facts", {}).items():
            assert value == fact(found.spec, path), path
        if "notes" not in case:
            return
        prepared = prepare(found.spec, case["messages"], case.get("tools"))
        request = RenderRequest(prepared.messages, tools=prepared.tools, **given)
        [outcome] = worker.render(template.text, [request])

    notes = {note.kind: note for note in prepared.notes}
    assert set(case["notes"]) <= set(notes)
    assert case.get("note_at", "") in notes[case["notes"][0]].path
    assert not isinstance(outcome, RenderFailure), outcome
    for fragment in case.get("writes", []):
        assert fragment in outcome.text
    assert case.get("text", outcome.text) == outcome.text


def fact(spec: Spec, path: str) -> Any:
    """A field of a spec; tuples as lists."""
    value: Any = spec
    for name in path.split("."):
        value = getattr(value, name)
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("name", ["messages", "tools", "add_generation_prompt"])
def test_variables_do_not_replace_what_is_given(name: str) -> None:
    """A template's variables cannot take the place of the conversation (CVE-2025-62426)."""
    with pytest.raises(UsageError):
        RenderRequest([{"role": "user", "content": "Q"}], variables={name: []})


def test_a_template_that_does_not_compile_is_named_with_its_line() -> None:
    """What is not known is an error, and nothing is skipped."""
    with pytest.raises(TemplateError, match="foo") as caught:
        analyze(Template("broken", "A\n{% foo %}A{% endfoo %}"), renderer=InProcessRenderer())

    assert 2 == caught.value.line


def test_a_hostile_template_is_refused_with_its_reason() -> None:
    """Nothing of it runs, and the analysis says why there is no spec."""
    found = analyze(Template("hostile", "{{ lipsum.__globals__['os'] }}"), renderer=InProcessRenderer())

    assert "refused" == found.verdict
    assert "security" in {note.kind for note in found.notes}


def test_that_there_is_no_format_is_said_on_the_command_line() -> None:
    """That no tool format was found is no error: it stands in the spec and in the summary."""
    result = CliRunner().invoke(app, ["infer", str(TEMPLATES / "no_tools.jinja")])

    assert 0 == result.exit_code
    assert "no calls" in result.output
    assert "no tool format found: tools and tool_calls do not change the render" in " ".join(
        result.output.split()
    )
