from __future__ import annotations

import json
import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from analyzer.export import TARGETS
from analyzer.report.example import TOOLS
from analyzer.report.page import example_reply
from analyzer.report.replay import own_replay
from analyzer.runtime import Parser, assemble
from analyzer.spec.document import load_spec, parse_spec
from tests.report.conftest import HOSTILE_NAME, Report, Visit

pytestmark = pytest.mark.browser

PAGES = ("index.html", "formats.html", "defects.html", "history.html")


def text_of(visit: Visit, selector: str) -> str:
    """What an element holds."""
    return str(visit.page.text_content(selector))


def test_focus_shows_the_finding_and_its_evidence(visit: Visit, report: Report) -> None:
    """With the keyboard alone: into the conversation, on with the arrows; the panel tells the spec's own evidence."""
    visit.page.goto(report.page("key_value_tags"))
    spec = report.subject("key_value_tags").spec
    assert spec is not None
    visit.page.focus("#conversation .s >> nth=0")

    assert "header" == text_of(visit, "#finding h3")
    told = spec.evidence["turn.header"][0]
    assert f"{told.comparison} · {told.found}" in text_of(visit, "#finding")

    kinds = ["header"]
    count = visit.page.locator("#conversation .s").count()
    for _ in range(count - 1):
        visit.page.keyboard.press("ArrowRight")
        kinds.append(text_of(visit, "#finding h3"))
    expected = visit.page.eval_on_selector_all(
        "#conversation .s", "all => all.map(one => [...one.classList].find(c => c.startsWith('k-')).slice(2))"
    )

    assert expected == kinds
    assert {"header", "reasoning", "content", "section", "call", "name", "key", "value", "result"} <= set(
        kinds
    )
    assert 1 == visit.page.locator('#conversation .s[tabindex="0"]').count()


def test_pointing_shows_the_finding(visit: Visit, report: Report) -> None:
    """The same by pointing, in the pair of renders too."""
    visit.page.goto(report.page("section_fenced_json"))
    visit.page.hover("#conversation .k-key >> nth=0")

    assert "key" == text_of(visit, "#finding h3")
    visit.page.hover(".pair .k-name >> nth=-1")

    assert "name" == text_of(visit, "#finding h3")
    assert "list_hotels" == text_of(visit, "#finding .text")


def test_two_calls_differ_from_one_in_the_second_call(visit: Visit, report: Report) -> None:
    """The rows that are marked are those of what stands between the calls and of the second one."""
    visit.page.goto(report.page("section_fenced_json"))
    rows = visit.page.eval_on_selector_all(
        ".pair tr.differs th", "all => all.map(one => one.firstChild.textContent)"
    )

    assert ["between calls", "call 2"] == rows
    sides = visit.page.eval_on_selector_all(
        ".pair tbody tr:not(.differs)",
        "all => all.map(row => [...row.cells].slice(1).map(c => c.textContent))",
    )
    assert sides
    assert all(one == two for one, two in sides)


def test_the_matrix_is_filtered(visit: Visit, report: Report) -> None:
    """By a column, by a word, by the address; the count says how many are left."""
    visit.page.goto(report.address("index.html"))
    expected = {one.template.name for one in report.subjects if one.can.calls == "JSON"}
    visit.page.select_option("select[name=calls]", "JSON")

    assert expected
    assert expected == set(names_shown(visit))
    assert f"{len(expected)} of {len(report.subjects)} templates" == text_of(visit, "#matched")
    visit.page.fill("input[name=search]", "nothing is called like this")

    assert [] == names_shown(visit)
    assert visit.page.is_visible("#nothing")
    visit.page.click("button[type=reset]")
    visit.page.locator("#matched", has_text=re.compile(f"^{len(report.subjects)} templates$")).wait_for()
    visit.page.goto(report.address("index.html") + "#search=key_value")

    visit.page.locator("#matched", has_text=re.compile(f"^1 of {len(report.subjects)} templates$")).wait_for()
    assert ["key_value_tags"] == names_shown(visit)


def names_shown(visit: Visit) -> list[str]:
    """The templates whose rows can be seen."""
    rows = visit.page.locator("#matrix tbody tr:visible th a")
    return [text.strip() for text in rows.all_text_contents()]


def test_the_parser_steps_through_a_marker_that_is_cut(visit: Visit, report: Report) -> None:
    """Delta by delta: what is held back, what is said, how the message grows, as the runtime in this process says."""
    name = "section_fenced_json"
    spec = report.subject(name).spec
    assert spec is not None
    expected = own_replay(spec, example_reply(spec))
    assert 2 == len(expected.message.tool_calls)
    visit.page.goto(report.page(name))
    parser = Parser(spec, TOOLS, prompt=expected.prompt)
    came, events, held_inside = "", [], False
    for step in expected.steps[:-1]:
        visit.page.click("#next")
        came += step.text
        events += parser.feed(step.text)

        assert parser.pending == text_of(visit, "#held")
        message = json.loads(text_of(visit, "#message"))
        sofar = assemble(events).message
        assert (sofar.content or "") == message["content"]
        if came.endswith(expected.marker[: len(expected.marker) // 2]) and parser.pending:
            held_inside = True
            assert "".join(event.text for event in step.events if event.kind == "text") in message["content"]
            assert not message["content"].endswith(parser.pending)
    assert held_inside
    calls = json.loads(text_of(visit, "#message"))["tool_calls"]
    visit.page.click("#next")

    assert json.loads(json.dumps(expected.message.to_openai())) == json.loads(text_of(visit, "#message"))
    assert [call.name for call in expected.message.tool_calls] == [call["function"]["name"] for call in calls]
    assert [call.arguments for call in expected.message.tool_calls] == [
        call["function"]["arguments"] for call in calls
    ]
    assert visit.page.is_disabled("#next")
    assert expected.prompt + expected.text == text_of(visit, "#tape")
    visit.page.click("#first")
    assert {"role": "assistant", "content": ""} == json.loads(text_of(visit, "#message"))


def test_the_spec_is_copied(visit: Visit, report: Report) -> None:
    """What lands in the clipboard is the spec."""
    visit.page.goto(report.page("typed_string_attribute"))
    subject = report.subject("typed_string_attribute")
    visit.page.click("#panel-spec .copy")
    visit.page.wait_for_selector("#panel-spec .copy:text('Copied')")
    copied = visit.page.evaluate("navigator.clipboard.readText()")

    assert subject.spec == parse_spec(copied)
    assert subject.spec == load_spec(report.folder / "specs" / f"{subject.slug}.yaml")


def test_tabs_by_keyboard(visit: Visit, report: Report) -> None:
    """The arrows choose a target; its panel, and no other, is shown."""
    visit.page.goto(report.page("key_value_tags"))
    visit.page.focus("#tab-spec")
    seen = []
    for _ in range(visit.page.locator("[role=tab]").count()):
        seen.append(text_of(visit, '[role=tab][aria-selected="true"]'))
        assert 1 == visit.page.locator("[role=tabpanel]:visible").count()
        visit.page.keyboard.press("ArrowRight")

    assert ["spec", *TARGETS, "template"] == seen
    assert "spec" == text_of(visit, '[role=tab][aria-selected="true"]')


def test_hostile_text_is_text(visit: Visit, report: Report) -> None:
    """A template whose name, markers and text are markup shows as text and runs nothing, on every page that names it."""
    visit.page.add_init_script("globalThis.hacked = () => { globalThis.wasHacked = true; };")
    for address in (report.page(HOSTILE_NAME), *map(report.address, PAGES)):
        visit.page.goto(address)
        outside = "script:not([src]):not([type='application/json']), img, main style, [onclick], [onerror]"

        assert 0 == visit.page.locator(outside).count(), address
        assert not visit.page.evaluate("globalThis.wasHacked ?? false")
    visit.page.goto(report.page(HOSTILE_NAME))
    assert HOSTILE_NAME == text_of(visit, "h1").strip()
    assert "<script>hacked('assistant')</script>" in text_of(visit, "#conversation")
    visit.page.click("#tab-template")
    assert "<script>hacked()</script>" in visit.page.inner_text("#template-text")
    visit.page.click("#last")
    assert "<script>hacked('assistant')</script>" in text_of(visit, "#tape")
    assert not visit.page.evaluate("globalThis.wasHacked ?? false")


def test_a_refused_template_has_a_page(visit: Visit, report: Report) -> None:
    """It says why, as text, and shows the template."""
    visit.page.goto(report.page("refused"))

    assert "it <b>does not</b> compile" == text_of(visit, ".failures li")
    assert "{{ nothing" == text_of(visit, "#template-text")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_accessibility_fault(visit: Visit, report: Report, scheme: str) -> None:
    """axe-core finds nothing serious or critical on any kind of page, with a span chosen and the parser under way."""
    visit.page.emulate_media(color_scheme=scheme)
    pages = PAGES if scheme == "light" else PAGES[:1]
    names = ("described_tags_in_section", "key_value_tags") if scheme == "light" else ("key_value_tags",)
    found: list[Any] = []
    for address in (*map(report.address, pages), *map(report.page, names)):
        visit.page.goto(address)
        if visit.page.locator("#next").count():
            visit.page.focus("#conversation .s >> nth=1")
            visit.page.fill("#at", "12")
        for details in visit.page.locator("details").all():
            details.evaluate("one => { one.open = true; }")
        checked = Axe().run(visit.page, options={"preload": False, "resultTypes": ["violations"]})
        assert checked.response["passes"]
        found += [
            (address.rpartition("/")[2], fault["id"], node["html"][:120], node["failureSummary"][:200])
            for fault in checked.response["violations"]
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]

    assert [] == found


@pytest.mark.parametrize("page", [*PAGES, "key_value_tags", "section_fenced_json"])
def test_a_phone_needs_no_sideways_scrolling(visit: Visit, report: Report, page: str) -> None:
    """What is wide scrolls inside itself."""
    visit.page.set_viewport_size({"width": 360, "height": 740})
    visit.page.goto(report.address(page) if page.endswith(".html") else report.page(page))

    assert 360 >= visit.page.evaluate("document.documentElement.scrollWidth")


def test_the_map_leads_to_families(visit: Visit, report: Report) -> None:
    """Each disc is a link to its family, with a name."""
    visit.page.goto(report.address("formats.html"))
    links = visit.page.locator(".map a")

    assert visit.page.locator(".family").count() == links.count() > 2
    links.nth(1).focus()
    visit.page.keyboard.press("Enter")
    assert visit.page.locator(".family:target").count()
