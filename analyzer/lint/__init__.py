"""Lint: what is wrong with a template, what its format leaves open, and what changed between two formats."""

from __future__ import annotations

from analyzer.lint.ambiguities import Ambiguity, ambiguities, is_ambiguous
from analyzer.lint.diff import Change, diff
from analyzer.lint.findings import RULES, Finding, rules_table
from analyzer.lint.linting import lint, lint_analysis
from analyzer.lint.sarif import to_sarif

__all__ = [
    "RULES",
    "Ambiguity",
    "Change",
    "Finding",
    "ambiguities",
    "diff",
    "is_ambiguous",
    "lint",
    "lint_analysis",
    "rules_table",
    "to_sarif",
]
