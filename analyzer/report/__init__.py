"""The report: a static site that shows what was found in templates, and a server that parses for it.

`write_site` writes it, `Subject` is what it is given, `append_run` and `read_history` keep the verdicts of runs.  The
names are imported when they are first used: the words of a format (`facts`) are wanted without a site, too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from analyzer.report.history import Run, append_run, read_history
    from analyzer.report.manifest import check_report_folder
    from analyzer.report.site import Written, write_site
    from analyzer.report.subject import Subject

_HOMES: Final = {
    "Run": "history",
    "Subject": "subject",
    "Written": "site",
    "append_run": "history",
    "check_report_folder": "manifest",
    "read_history": "history",
    "write_site": "site",
}

__all__ = ["Run", "Subject", "Written", "append_run", "check_report_folder", "read_history", "write_site"]


def __getattr__(name: str) -> Any:
    """Import a public name now."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"analyzer.report.{_HOMES[name]}"), name)
