"""A report on some of the project's own templates, and a browser to look at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from analyzer.analysis import analyze, with_stand_ins
from analyzer.render import RenderWorker
from analyzer.report import Run, Subject, Written, write_site
from analyzer.spec.document import load_spec
from analyzer.template import Template, load_templates

ROOT: Final = Path(__file__).parents[2]
NAMES: Final = (
    "bare_json",
    "described_tags_in_section",
    "json_array_marker_ids9",
    "key_value_tags",
    "no_tools",
    "section_fenced_json",
    "typed_string_attribute",
)
HOSTILE_NAME: Final = 'x"><img src=y onerror=hacked()><script>hacked()</script>'
HOSTILE_TEXT: Final = (ROOT / "tests" / "report" / "hostile.jinja").read_text(encoding="utf-8")
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def own_subject(name: str) -> Subject:
    """One of the project's own templates with the spec that is committed of it."""
    template = with_stand_ins(load_templates(ROOT / "corpus" / "templates" / f"{name}.jinja")[0])
    spec = load_spec(ROOT / "generated" / "own" / f"{name}.yaml")
    verdict = spec.verification.verdict if spec.calls is not None else "no_calls"
    return Subject(template, verdict, spec, spec.calls is not None, spec.verification.failures)


@dataclass(frozen=True)
class Report:
    """A written report, and what it was written of."""

    written: Written
    subjects: tuple[Subject, ...]

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.written.folder

    def subject(self, name: str) -> Subject:
        """The subject of that name."""
        return next(one for one in self.subjects if one.template.name == name)

    def page(self, name: str) -> str:
        """The address of a template's page."""
        return (self.folder / self.written.pages[self.subject(name).slug]).as_uri()

    def address(self, page: str) -> str:
        """The address of another page."""
        return (self.folder / page).as_uri()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report on `NAMES`, on a hostile template and on one that is refused, with a history of two runs."""
    with RenderWorker() as renderer:
        hostile = analyze(Template(HOSTILE_NAME, HOSTILE_TEXT), renderer=renderer, verify=False)
        subjects = (
            *map(own_subject, NAMES),
            Subject.of(hostile),
            Subject(Template("refused", "{{ nothing"), "refused", failures=("it <b>does not</b> compile",)),
        )
        verdicts = {one.template.name: one.verdict for one in subjects}
        runs = [
            Run("2031-10-14T03:17:00Z", "0.1.0", {**verdicts, "bare_json": "failed"}),
            Run("2031-10-15T03:17:00Z", "0.1.0", verdicts),
        ]
        folder = tmp_path_factory.mktemp("report")
        return Report(write_site(subjects, folder, history=runs, renderer=renderer), subjects)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium; skipped where there is none, unless `ANALYZER_NEEDS_BROWSER` is set.

    It lives as long as a module: while Playwright is started an event loop runs, and other tests start their own.
    """
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if path is None:
        reason = "no Chromium on the PATH (Debian: apt-get install chromium)"
        if os.environ.get("ANALYZER_NEEDS_BROWSER"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield chromium
        chromium.close()


@dataclass
class Visit:
    """A page in a context of its own, and what it complained of."""

    page: Any
    complaints: list[str]


@pytest.fixture
def visit(browser: Any) -> Iterator[Visit]:
    """A fresh page; whatever it writes to the console, and any script that fails, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    yield Visit(page, complaints)
    context.close()

    assert [] == complaints
