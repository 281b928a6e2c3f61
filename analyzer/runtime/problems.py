"""The closed list of problem kinds: what each means, how bad it is, and what a model could do about it."""

from __future__ import annotations

from typing import Final, NamedTuple

from analyzer.runtime.events import Severity


class Kind(NamedTuple):
    """One kind of problem."""

    severity: Severity
    message: str
    """Written for the model: what to do. `{0}` is what the case is about."""
    rule: str = ""
    """The option that allows it, when it is a leniency rule."""


KINDS: Final[dict[str, Kind]] = {
    "malformed_call": Kind(
        "error", "The tool call {0} is not written as the format wants it. Write it again."
    ),
    "unterminated_call": Kind("error", "The tool call {0} was cut off. Write it again, shorter if need be."),
    "unknown_tool": Kind("warning", "There is no tool named {0}."),
    "unresolved_name": Kind("error", "The call's id {0} does not say which tool is meant."),
    "lone_marker": Kind("info", "The marker {0} stands in the text, and no call follows it: it is text."),
    "missing_header": Kind("warning", "The header {0} of a further message is missing.", "missing_header"),
    "missing_open": Kind("warning", "The opening marker {0} is missing.", "missing_open"),
    "missing_close": Kind("warning", "The closing marker {0} is missing.", "missing_close"),
    "missing_value_close": Kind(
        "warning", "The argument {0} is not closed before the next one.", "missing_value_close"
    ),
    "missing_brace": Kind("warning", "The call's closing brace is missing.", "missing_brace"),
    "missing_arguments": Kind("warning", "The call of {0} has no arguments.", "missing_arguments"),
    "bare_object": Kind("warning", "A single call stands where a list of calls belongs.", "bare_object"),
    "arguments_as_text": Kind(
        "warning", "The arguments are JSON text in a string; write an object.", "arguments_as_text"
    ),
    "control_character": Kind(
        "warning", "A JSON string holds a raw control character.", "control_characters"
    ),
    "invalid_escape": Kind("warning", "A JSON string holds an escape that JSON lacks.", "invalid_escapes"),
    "python_value": Kind("warning", "The argument {0} is a Python value; write JSON.", "python_values"),
    "foreign_quotes": Kind("warning", "A string is not in the format's own quotes.", "foreign_quotes"),
    "inner_quote": Kind("warning", "A string holds the format's own quotes.", "foreign_quotes"),
    "type_mismatch": Kind("warning", "The argument {0} does not have the type that its schema asks for."),
    "type_word": Kind("warning", "The type of the argument {0} is not one the format knows."),
    "duplicate_argument": Kind("warning", "The argument {0} is given twice; the last one counts."),
    "foreign_id": Kind("warning", "The call's id {0} is not of the usual form.", "id_names"),
    "unexpected_text": Kind(
        "warning", "Text stands among the calls where only calls belong.", "text_in_section"
    ),
    "too_many_calls": Kind("warning", "There are more calls than are allowed; {0} was dropped."),
    "call_too_long": Kind("error", "The call of {0} is longer than is allowed."),
    "repaired": Kind("warning", "The arguments of {0} were not JSON and have been repaired."),
    "unterminated_reasoning": Kind("warning", "The reasoning was not closed."),
    "orphan_close": Kind("info", "A reasoning closer stands where no reasoning is open.", "orphan_close"),
    "repeated_open": Kind("info", "The reasoning opener stands twice.", "repeated_open"),
    "call_in_reasoning": Kind("warning", "A call stands inside reasoning that was never closed."),
    "overlay": Kind("info", "The spelling is that of the overlay {0}, not the template's own.", "overlays"),
    "unknown_prompt": Kind("info", "The prompt's end is none of the spec's generation prompts."),
    "text_after_end": Kind("info", "Text stands after the end of the turn."),
}
"""Every kind of problem event."""
