"""Each error is one paragraph that says where, what and, where it helps, what to do."""

from __future__ import annotations

import pickle

import pytest

from analyzer.errors import AnalyzerError, ExportError, JobError, SpecError, TemplateError, UsageError

ERRORS = [
    (AnalyzerError("Broken"), 1, "Broken."),
    (UsageError("No such set", hint="There are: a, b."), 2, "No such set. There are: a, b."),
    (TemplateError("Not text", source="a.jinja", line=3), 3, "a.jinja, line 3: Not text."),
    (TemplateError("Not text", line=3, hint="Use\n  UTF-8."), 3, "line 3: Not text. Use UTF-8."),
    (
        SpecError("Unknown key", file="a.yaml", line=2, path="turn.x"),
        4,
        "a.yaml, line 2, at turn.x: Unknown key.",
    ),
    (SpecError("Unknown key", path="turn.x"), 4, "at turn.x: Unknown key."),
    (ExportError("No lookahead", target="gbnf"), 5, "gbnf: No lookahead."),
    (JobError("The workers are gone", hint="Try again."), 7, "The workers are gone. Try again."),
]


@pytest.mark.parametrize(("error", "code", "text"), ERRORS, ids=[text for _, _, text in ERRORS])
def test_an_error_is_a_paragraph_with_an_exit_code(error: AnalyzerError, code: int, text: str) -> None:
    """The text, the code, and the same error after a journey between processes."""
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  (our own)

    assert (text, code) == (str(error), error.exit_code)
    assert (str(error), vars(error), type(error)) == (str(copy), vars(copy), type(copy))
