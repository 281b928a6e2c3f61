"""The normaliser: an OpenAI-style conversation made acceptable to one template, with a note for each change."""

from __future__ import annotations

from analyzer.prepare.conversation import prepare
from analyzer.prepare.notes import KINDS, Note, Prepared, kinds_table

__all__ = ["KINDS", "Note", "Prepared", "kinds_table", "prepare"]
