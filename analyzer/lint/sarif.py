"""Findings as SARIF 2.1.0, the format that code scanning services read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from analyzer.lint.findings import RULES, Finding

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(findings: Sequence[Finding], source: str, version: str, *, lines: bool = True) -> dict[str, Any]:
    """One run over one template; `source` is the file or the id it came from.

    `lines` says that the file is the template itself, so that a line of the template is a line of the file.  A place has a
    region only where its line is known.
    """
    uri = source_uri(source)
    used = sorted({found.kind for found in findings})
    rules = [
        {
            "id": kind,
            "shortDescription": {"text": RULES[kind][1] if kind in RULES else kind},
            "defaultConfiguration": {"level": RULES[kind][0] if kind in RULES else "warning"},
        }
        for kind in used
    ]
    results = [
        {
            "ruleId": found.kind,
            "ruleIndex": used.index(found.kind),
            "level": found.severity,
            "message": {"text": found.message},
            "locations": [{"physicalLocation": _place(uri, found.line if lines else None)}],
            "properties": {"evidence": dict(found.evidence), "conversation": dict(found.conversation)},
        }
        for found in findings
    ]
    driver = {"name": "chat-template-analyzer", "version": version, "rules": rules}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _place(uri: str, line: int | None) -> dict[str, Any]:
    region = {} if line is None else {"region": {"startLine": line}}
    return {"artifactLocation": {"uri": uri}, **region}


def source_uri(source: str) -> str:
    """A source as the URI reference that the format demands: `/`, and everything else that is special in percent signs."""
    path = PurePath(source)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), safe="/")
