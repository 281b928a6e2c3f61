"""The findings of chatlint, an optional companion that checks whole conversations: prefix stability, marker balance.

It renders templates without limits, so it runs in a process of its own that is stopped when it takes too long.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

SECONDS: Final = 120.0
_OUTPUT_CHARS: Final = 4_000_000

_DRIVER: Final = """
import json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
except (ImportError, ValueError, OSError):
    pass
from chatlint.check import check
from chatlint.render import Template
report = check(Template("template", sys.stdin.read()))
rows = [("error", r) for r in report.errors] + [("warning", r) for r in report.warnings]
print(json.dumps([[level, r.prop, r.shape, str(r.detail)[:400]] for level, r in rows]))
"""


@dataclass(frozen=True, slots=True)
class ForeignFinding:
    """What chatlint found of one property: how often, and the first conversation that shows it."""

    prop: str
    severity: str
    shape: str
    detail: str
    times: int

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON data."""
        return {
            "property": self.prop,
            "severity": self.severity,
            "shape": self.shape,
            "detail": self.detail,
            "times": self.times,
        }


def is_installed() -> bool:
    """Whether chatlint can be run."""
    return find_spec("chatlint") is not None


def run_chatlint(text: str, *, seconds: float = SECONDS) -> tuple[ForeignFinding, ...] | str:
    """Its findings for a template's text, one for each property and severity; a sentence when it gave none.

    Only call this when `is_installed`.
    """
    command = [sys.executable, "-I", "-c", _DRIVER]
    try:
        done = subprocess.run(  # noqa: S603  (our own interpreter and text)
            command,
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"chatlint was stopped after {seconds:g} seconds"
    if done.returncode or len(done.stdout) > _OUTPUT_CHARS:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        return f"chatlint failed: {last[0][:200]}"
    try:
        return _grouped(json.loads(done.stdout))
    except (ValueError, TypeError):
        return "chatlint gave an answer that cannot be read"


def _grouped(rows: Any) -> tuple[ForeignFinding, ...]:
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for level, prop, shape, detail in rows:
        found.setdefault((str(level), str(prop)), []).append((str(shape), str(detail)))
    return tuple(
        ForeignFinding(prop, level, shown[0][0], shown[0][1], len(shown))
        for (level, prop), shown in found.items()
    )


def summary(found: tuple[ForeignFinding, ...] | str | None) -> Mapping[str, Any] | None:
    """What it found as JSON data; None when it was not run."""
    if found is None:
        return None
    if isinstance(found, str):
        return {"error": found}
    return {"findings": [one.to_json() for one in found]}
