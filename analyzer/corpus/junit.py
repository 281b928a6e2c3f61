"""The outcome of a run as JUnit XML: one test case for each template, and one for each change that has no template.

Drift and regression are failures, each with its kind as the type; what broke the run is an error.  Why a template is refused
that nobody knows as such stands in its output.  Times are left out, so
that the file hangs on nothing but what was found.  The elements are those that test reporters agree on
(https://github.com/testmoapp/junitxml).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from analyzer.corpus.changes import KINDS, Change, FormatChange
from analyzer.corpus.review import Review

SUITE: Final = "analyzer corpus check"

_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 cannot hold, not even escaped."""


def to_junit(review: Review) -> str:
    """The file's text."""
    cases = list(_cases(review))
    errors = sum(case.find("error") is not None for case in cases)
    failures = sum(case.find("failure") is not None for case in cases)
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": str(errors)}
    root = ET.Element("testsuites", {"name": SUITE, **counts})
    suite = ET.SubElement(root, "testsuite", {"name": SUITE, **counts, "skipped": "0"})
    suite.extend(cases)
    ET.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _cases(review: Review) -> Iterator[ET.Element]:
    formats = review.formats_by_template()
    changes: dict[str, list[Change]] = {}
    for change in review.changes:
        changes.setdefault(change.name, []).append(change)
    refused = {one.name: one.reason for one in review.refused}
    for result in review.results:
        case = _case(result.name, result.verdict, changes.pop(result.name, []), formats)
        if result.name in refused:
            ET.SubElement(case, "system-out").text = _text(refused[result.name])
        yield case
    for name, of_it in sorted(changes.items()):
        yield _case(name, of_it[0].kind, of_it, formats)


def _case(
    name: str, group: str, changes: Sequence[Change], formats: Mapping[str, FormatChange]
) -> ET.Element:
    case = ET.Element("testcase", {"classname": _text(group), "name": _text(name)})
    if changes:
        first = changes[0]  # what matters most comes first
        element = "error" if first.severity == "broken" else "failure"
        attributes = {"type": f"{first.severity}.{first.kind}", "message": _text(first.words)}
        ET.SubElement(case, element, attributes).text = _text("\n".join(_lines(changes, formats)))
    return case


def _lines(changes: Sequence[Change], formats: Mapping[str, FormatChange]) -> Iterator[str]:
    for change in changes:
        form = formats.get(change.name) if change.kind == "format_changed" else None
        if form is None:
            yield f"{change.kind}: {change.words} ({KINDS[change.kind].meaning})"
        else:
            yield f"{change.kind}: {form.words}"
            yield from (f"  {one.words}" for one in form.differences)


def _text(text: str) -> str:
    return _NO_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
