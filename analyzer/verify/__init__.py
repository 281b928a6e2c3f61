"""Verification: every spec proves itself by round trips through the template and the strict runtime.

`verify` gives a `Verdict`, `verified` the spec with it filled in.  See docs/verification.md.
"""

from analyzer.verify.verdict import Verdict, verified, verify
from analyzer.verify.writer import write_call, write_turn

__all__ = ["Verdict", "verified", "verify", "write_call", "write_turn"]
