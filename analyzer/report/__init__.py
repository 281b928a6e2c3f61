"""The report: a static site that shows what was found in templates, and a server that parses for it.

`write_site` writes it, `Subject` is what it is given, `history` keeps the verdicts of runs, `serve` answers on loopback.
"""

from analyzer.report.history import Run, append_run, read_history
from analyzer.report.site import Written, write_site
from analyzer.report.subject import Subject

__all__ = ["Run", "Subject", "Written", "append_run", "read_history", "write_site"]
