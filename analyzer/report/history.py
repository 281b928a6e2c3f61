"""The history of verdicts: a file that runs append to, one line of JSON a run.

    {"format_version": 1, "time": "2031-10-14T03:17:00Z", "version": "0.1.0", "verdicts": {"some-template": "proven"}}
    {"format_version": 1, "time": "2031-10-15T03:17:00Z", "version": "0.1.0", "verdicts": {"some-template": "failed", "gone": null}}

A line holds only what changed since the lines before it (`null`: the template is no longer there), so a quiet night costs a
hundred bytes however many templates there are.  The file is written anew as a whole, by renaming, so that a run that is
killed leaves the old one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

from analyzer.errors import UsageError
from analyzer.files import write_file

FORMAT_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Run:
    """One run: when it was, which version of this program, and the verdict of each template by name."""

    time: str
    """UTC, as `2031-10-14T03:17:00Z`."""
    version: str
    verdicts: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many templates have each verdict."""
        return dict(Counter(self.verdicts.values()).most_common())


@dataclass(frozen=True, slots=True)
class Change:
    """A template whose verdict two runs do not share; an empty word where it was not there."""

    name: str
    before: str
    after: str


def changes(before: Run | None, after: Run) -> tuple[Change, ...]:
    """What a run changed, by name."""
    old = before.verdicts if before is not None else {}
    names = sorted({*old, *after.verdicts}, key=lambda name: (name.lower(), name))
    return tuple(
        Change(name, old.get(name, ""), after.verdicts.get(name, ""))
        for name in names
        if old.get(name) != after.verdicts.get(name)
    )


def now() -> str:
    """This second, as a run's time."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_history(path: Path) -> tuple[Run, ...]:
    """The runs of a file, oldest first; none when there is no file.

    Raises:
        UsageError: the file cannot be read, or a line of it is no run.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: the history cannot be read ({error})") from error
    runs: list[Run] = []
    verdicts: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        data = _line(path, number, line)
        for name, verdict in data["verdicts"].items():
            if verdict is None:
                verdicts.pop(name, None)
            else:
                verdicts[name] = verdict
        runs.append(Run(data["time"], data["version"], dict(verdicts)))
    return tuple(runs)


def _line(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        data = None
    whole = isinstance(data, dict) and data.get("format_version") == FORMAT_VERSION
    whole = whole and isinstance(data.get("time"), str) and isinstance(data.get("version"), str)
    verdicts = data.get("verdicts") if whole and isinstance(data, dict) else None
    if not isinstance(verdicts, dict) or not all(isinstance(v, (str, type(None))) for v in verdicts.values()):
        raise UsageError(
            f"{path}, line {number}: this is no run of a history",
            hint="Remove the line, or the file to begin a new history.",
        )
    assert isinstance(data, dict)  # noqa: S101  (it has verdicts)
    return data


def append_run(path: Path, run: Run) -> tuple[Run, ...]:
    """Add a run to a file and return all runs.

    Raises:
        UsageError: the file is no history, or cannot be written.
    """
    known = read_history(path)
    news = {one.name: one.after or None for one in changes(known[-1] if known else None, run)}
    data = {"format_version": FORMAT_VERSION, "time": run.time, "version": run.version, "verdicts": news}
    before = path.read_text(encoding="utf-8") if known else ""
    ends = "" if before.endswith("\n") or not before else "\n"
    try:
        write_file(path, f"{before}{ends}{json.dumps(data)}\n")
    except OSError as error:
        raise UsageError(f"{path}: the history cannot be written ({error.strerror or error})") from error
    return (*known, run)


def recent(runs: Sequence[Run], most: int = 60) -> tuple[Run, ...]:
    """The last runs."""
    return tuple(runs[-most:])
