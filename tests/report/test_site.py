from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analyzer.analysis import analyze
from analyzer.errors import UsageError
from analyzer.render import RenderWorker
from analyzer.report import Subject, write_site
from analyzer.report.serve import ReportServer
from analyzer.template import Template
from tests.report.conftest import Report, own_subject


def test_nothing_comes_from_elsewhere(report: Report) -> None:
    """No page names an address beyond its folder, every link leads somewhere, and each page forbids what it does not need."""
    pages = sorted(report.folder.rglob("*.html"))
    assert len(pages) == 4 + len(report.subjects)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "default-src &#39;none&#39;; script-src &#39;self&#39; file:;" in text
        for link in re.findall(r'<(?:a|link|script|img)[^>]*?(?:href|src)="([^"]*)"', text):
            target = link.partition("#")[0]
            assert not target.startswith(("http", "//", "/")), link
            assert not target or (page.parent / target).is_file(), f"{page.name}: {link}"
    for asset in (report.folder / "assets").iterdir():
        assert "http://" not in asset.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")


def test_every_file_is_listed(report: Report) -> None:
    """The list of files is what is there, and adds up."""
    listed = json.loads((report.folder / "report.json").read_text(encoding="utf-8"))["files"]
    there = sorted(
        path.relative_to(report.folder).as_posix()
        for path in report.folder.rglob("*")
        if path.is_file() and path.name != "report.json"
    )

    assert listed == there
    assert len(there) == report.written.files
    assert sum((report.folder / name).stat().st_size for name in there) == report.written.bytes


def test_a_report_replaces_an_older_one(tmp_path: Path) -> None:
    """Pages of templates that are gone are removed, files of others are left, and the same report is the same bytes."""
    with RenderWorker() as renderer:
        first = write_site([own_subject("no_tools"), own_subject("bare_json")], tmp_path, renderer=renderer)
        (tmp_path / "templates" / "mine.txt").write_text("kept", encoding="utf-8")
        before = {path: path.read_bytes() for path in tmp_path.rglob("*.html")}
        write_site([own_subject("no_tools"), own_subject("bare_json")], tmp_path, renderer=renderer)
        assert before == {path: path.read_bytes() for path in tmp_path.rglob("*.html")}
        second = write_site([own_subject("no_tools")], tmp_path, renderer=renderer)

    gone = set(first.pages.values()) - set(second.pages.values())
    assert 1 == len(gone)
    assert not any((tmp_path / name).exists() for name in gone)
    assert (tmp_path / "templates" / "mine.txt").is_file()


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    """Nothing is written beside files of others."""
    (tmp_path / "thesis.txt").write_text("", encoding="utf-8")

    with pytest.raises(UsageError, match="no report"):
        write_site([own_subject("no_tools")], tmp_path)
    assert ["thesis.txt"] == [path.name for path in tmp_path.iterdir()]


def test_a_list_of_files_cannot_lead_out(tmp_path: Path) -> None:
    """A doctored list neither removes nor serves what lies outside of the report."""
    outside = tmp_path / "outside.html"
    outside.write_text("secret", encoding="utf-8")
    folder = tmp_path / "report"
    with RenderWorker() as renderer:
        write_site([own_subject("no_tools")], folder, renderer=renderer)
        manifest = folder / "report.json"
        data = json.loads(manifest.read_text(encoding="utf-8"))
        data["files"] += ["../outside.html", "/etc/passwd", "a/../../outside.html", ".hidden"]
        manifest.write_text(json.dumps(data), encoding="utf-8")
        with ReportServer(folder) as server:
            assert not {name for name in server.files if ".." in name or name.startswith(("/", "."))}
        write_site([own_subject("no_tools")], folder, renderer=renderer)

    assert "secret" == outside.read_text(encoding="utf-8")


def test_text_that_cannot_be_encoded(tmp_path: Path) -> None:
    """A lone surrogate, which JSON files may hold, and characters that turn text are spelled out."""
    text = "{% for m in messages %}\ud800\u202e{{ m.content }}{% endfor %}"
    with RenderWorker() as renderer:
        subject = Subject.of(analyze(Template("odd", text), renderer=renderer, verify=False))
        written = write_site([subject], tmp_path, renderer=renderer)
    page = (tmp_path / written.pages[subject.slug]).read_text(encoding="utf-8")

    assert "\\ud800\\u202e" in page
    assert "\u202e" not in page.partition('<script type="application/json"')[0]
