"""The static site: pages written into a folder, each whole or not at all.

    index.html      the matrix                templates/NAME.html   one template
    formats.html    families and the map      specs/NAME.yaml       its spec
    defects.html    findings by kind          assets/               style, scripts
    history.html    verdicts over runs        report.json           what was written, for the next writing

Everything from a template or a model is text: Jinja escapes it, data for scripts stands in a block that no browser runs,
and a Content-Security-Policy forbids inline scripts, so that a hostile template is only ever read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path
from statistics import mean
from typing import Any, Final

from analyzer.analysis import VERDICTS
from analyzer.corpus.result import PROVEN
from analyzer.errors import UsageError
from analyzer.files import write_file
from analyzer.lint.diff import diff
from analyzer.lint.findings import RULES, Finding
from analyzer.render import Renderer, RenderWorker
from analyzer.report import drawing
from analyzer.report.capabilities import COLUMNS
from analyzer.report.families import Family, distance, families
from analyzer.report.history import Run, changes, recent
from analyzer.report.layout import fit, place, stress
from analyzer.report.manifest import check_report_folder, read_manifest, write_manifest
from analyzer.report.markup import data_block, environment
from analyzer.report.page import Exported, page_of, severities
from analyzer.report.spans import KINDS
from analyzer.report.subject import Subject
from analyzer.visible import visible

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of the report where it is served."""
_PAGE_POLICY: Final = re.sub(r"((?:script|style|img)-src 'self')", r"\1 file:", POLICY)
"""That of the pages themselves: browsers do not agree on what `'self'` is for a page from the disk."""

LIVE: Final = "live.js"
STATIC_LIVE: Final = "globalThis.REPORT_IS_SERVED = false;\n"
_TOLD: Final = 8
"""How many differences from the nearest format are told."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was written."""

    folder: Path
    files: int
    bytes: int
    pages: Mapping[str, str]
    """The page of each template, by its slug, relative to the folder."""
    explained: Mapping[str, float]
    """By verdict: which part of the characters of the model's turns the specs explain, the mean of all templates."""


def write_site(
    subjects: Sequence[Subject],
    folder: Path,
    *,
    history: Sequence[Run] = (),
    title: str = "Chat templates",
    renderer: Renderer | None = None,
    progress: Callable[[Subject], None] | None = None,
) -> Written:
    """Write the report on these templates into a folder.

    The folder is made, or holds an older report, which the new one replaces; files of others are left alone.  `history`
    is what `read_history` or `append_run` gives.  Without a `renderer` one is started.  `progress` is told of each
    template before its page is made.

    Raises:
        UsageError: the folder holds something else, or cannot be written.
    """
    site = _Site(folder, _order(subjects), title, history)
    site.open()
    made: AbstractContextManager[Renderer] = nullcontext(renderer) if renderer is not None else RenderWorker()
    with made as worker:
        for subject in site.subjects:
            if progress is not None:
                progress(subject)
            site.template_page(subject, worker)
    site.corpus_pages()
    return site.close()


def _order(subjects: Iterable[Subject]) -> list[Subject]:
    """By name; of equal ones the first."""
    unique = {subject.slug: subject for subject in reversed(list(subjects))}
    return sorted(unique.values(), key=lambda subject: (subject.template.name.lower(), subject.slug))


class _Site:
    """A site on its way into a folder."""

    def __init__(self, folder: Path, subjects: Sequence[Subject], title: str, history: Sequence[Run]) -> None:
        self.folder = folder
        self.subjects = subjects
        self._title = title
        self._runs = recent(history)
        self._families = families(subjects)
        self._family_of = {member.slug: family for family in self._families for member in family.members}
        self._exports: dict[str, tuple[Exported, ...]] = {}
        self._findings: dict[str, tuple[Finding, ...]] = {}
        self._explained: dict[str, list[float]] = {}
        self._before: frozenset[str] = frozenset()
        self._files: dict[str, int] = {}
        self._pages = environment()

    def open(self) -> None:
        """Make the folder and see what an older report left there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"{self.folder}: the folder cannot be made ({error.strerror or error})"
            ) from error
        check_report_folder(self.folder)
        self._before = frozenset(read_manifest(self.folder) or ())
        for name in ("assets", "templates", "specs"):
            (self.folder / name).mkdir(exist_ok=True)
        write_manifest(
            self.folder, self._title, self._before
        )  # a report that is not finished can be written again
        for asset in resources.files("analyzer.report").joinpath("assets").iterdir():
            self._write(f"assets/{asset.name}", asset.read_text(encoding="utf-8"))
        self._write(LIVE, STATIC_LIVE)

    def template_page(self, subject: Subject, renderer: Renderer) -> None:
        """Write the page of one template, and its spec."""
        page = page_of(subject, renderer, self._exports)
        self._findings[subject.slug] = page.findings
        if page.shown is not None and page.shown.whole.text:
            self._explained.setdefault(subject.verdict, []).append(page.shown.whole.explained)
        used = {one.kind for one in page.told}
        self._page(
            "template.html",
            f"templates/{subject.slug}.html",
            page=page,
            family=self._family_of.get(subject.slug),
            severities=severities(page.findings),
            kinds=KINDS,
            used=used,
            data=data_block(page.data()),
            folder=str(self.folder),
        )
        if page.spec_text:
            self._write(f"specs/{subject.slug}.yaml", page.spec_text)

    def corpus_pages(self) -> None:
        """Write the pages about all templates."""
        self._index()
        self._formats()
        self._defects()
        self._history()

    def close(self) -> Written:
        """Remove what an older report had and this one has not; say what was written."""
        for name in self._before - self._files.keys():
            (self.folder / name).unlink(missing_ok=True)
        write_manifest(self.folder, self._title, self._files)
        pages = {subject.slug: f"templates/{subject.slug}.html" for subject in self.subjects}
        explained = {verdict: round(mean(shares), 4) for verdict, shares in sorted(self._explained.items())}
        return Written(self.folder, len(self._files), sum(self._files.values()), pages, explained)

    def _index(self) -> None:
        rows = [self._row(subject) for subject in self.subjects]
        calling = [subject for subject in self.subjects if subject.calls_shown]
        verdicts = self._verdicts()
        self._page(
            "index.html",
            "index.html",
            subjects=self.subjects,
            rows=rows,
            calling=len(calling),
            proven=sum(subject.verdict in PROVEN for subject in calling),
            families=self._families,
            defects=sum(len(found) for found in self._findings.values()),
            bar=drawing.bar(verdicts),
            verdicts=verdicts,
            columns=COLUMNS,
            filters=self._filters(),
        )

    def _verdicts(self) -> dict[str, int]:
        counts = Counter(subject.verdict for subject in self.subjects)
        return {verdict: counts[verdict] for verdict in (*VERDICTS, "crashed") if counts[verdict]}

    def _row(self, subject: Subject) -> dict[str, Any]:
        family = self._family_of.get(subject.slug)
        kinds = " ".join(dict.fromkeys(finding.kind for finding in self._findings[subject.slug]))
        words = [
            subject.template.name,
            subject.verdict.replace("_", " "),
            kinds,
            family.label if family else "",
        ]
        return {
            "subject": subject,
            "search": visible(" ".join(words).lower()),
            "kinds": kinds,
            "key": family.key if family else "",
            "size": len(family.members) if family else 0,
        }

    def _filters(self) -> dict[str, list[tuple[str, int]]]:
        """For each column its values with their numbers, the most frequent first."""
        columns: dict[str, Counter[str]] = {"verdict": Counter(s.verdict for s in self.subjects)}
        for name in COLUMNS:
            columns[name] = Counter(subject.can.to_json()[name] for subject in self.subjects)
        columns["defect"] = Counter(
            kind for found in self._findings.values() for kind in {finding.kind for finding in found}
        )
        return {name: counts.most_common() for name, counts in columns.items()}

    def _formats(self) -> None:
        distances = [[distance(one, other) for other in self._families] for one in self._families]
        points = place(distances)
        radii = [drawing.radius(family) for family in self._families]
        placed = fit(points, radii, drawing.WIDTH, drawing.MAP_HEIGHT)
        self._page(
            "formats.html",
            "formats.html",
            families=self._families,
            count=sum(len(family.members) for family in self._families),
            map=drawing.map_of(self._families, placed) if len(self._families) > 2 else "",  # noqa: PLR2004
            stress=stress(distances, points),
            colours=[(shown, word) for word, shown in drawing.CALL_COLOURS.items()],
            near=_nearest(self._families, distances),
        )

    def _defects(self) -> None:
        members: dict[str, list[Subject]] = {}
        for subject in self.subjects:
            for kind in dict.fromkeys(finding.kind for finding in self._findings[subject.slug]):
                members.setdefault(kind, []).append(subject)
        order = {"error": 0, "warning": 1, "note": 2}
        kinds = [
            {
                "name": kind,
                "severity": RULES[kind][0],
                "text": RULES[kind][1],
                "members": found,
                "bar": drawing.share(len(found), len(self.subjects)),
            }
            for kind, found in members.items()
        ]
        kinds.sort(key=lambda kind: (order[str(kind["severity"])], -len(members[str(kind["name"])])))
        self._page("defects.html", "defects.html", kinds=kinds)

    def _history(self) -> None:
        seen = {verdict for run in self._runs for verdict in run.verdicts.values()}
        order = [verdict for verdict in (*VERDICTS, "crashed") if verdict in seen]
        befores: list[Run | None] = [None, *self._runs]
        runs = [
            {"run": run, "first": before is None, "changes": changes(before, run)}
            for before, run in zip(befores, self._runs, strict=False)
        ]
        pages = {subject.template.name: subject.slug for subject in self.subjects}
        chart = drawing.chart(self._runs, order)
        self._page("history.html", "history.html", runs=runs, chart=chart, verdicts=order, pages=pages)

    def _page(self, template: str, path: str, **values: Any) -> None:
        root = "../" * path.count("/")
        text = self._pages.get_template(template).render(
            title=self._title,
            root=root,
            here=path,
            policy=_PAGE_POLICY,
            version=_version(),
            time=self._runs[-1].time if self._runs else "",
            **values,
        )
        self._write(path, text)

    def _write(self, name: str, text: str) -> None:
        try:
            write_file(self.folder / name, text)
        except OSError as error:
            raise UsageError(
                f"{self.folder / name}: this file cannot be written ({error.strerror or error})"
            ) from error
        self._files[name] = len(text.encode())


@dataclass(frozen=True, slots=True)
class Near:
    """The format that is nearest to another one, and what the other one does in another way."""

    family: Family
    distance: float
    changes: tuple[str, ...]
    more: int
    """How many changes are not told."""


def _nearest(known: Sequence[Family], distances: Sequence[Sequence[float]]) -> dict[str, Near]:
    """The nearest other family of each."""
    found: dict[str, Near] = {}
    for at, family in enumerate(known):
        others = [(distances[at][other], other) for other in range(len(known)) if other != at]
        if others:
            apart, other = min(others)
            told = [str(change) for change in diff(known[other].spec, family.spec)]
            found[family.key] = Near(known[other], apart, tuple(told[:_TOLD]), max(0, len(told) - _TOLD))
    return found


def _version() -> str:
    try:
        return metadata.version("chat-template-analyzer")
    except metadata.PackageNotFoundError:
        return ""
