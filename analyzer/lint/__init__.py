"""Lint: what is wrong with a template, what its format leaves open, and what changed between two formats."""

from __future__ import annotations

from analyzer.lint.ambiguities import Ambiguity, ambiguities, is_ambiguous

__all__ = ["Ambiguity", "ambiguities", "is_ambiguous"]
