"""SARIF 2.1.0: what the format's schema demands of the parts that are written, said here part by part."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft7Validator

from analyzer.lint import RULES, to_sarif
from analyzer.lint.findings import finding

TEXT: Final = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
}
LEVEL: Final = {"enum": ["none", "note", "warning", "error"]}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object with these properties and no other."""
    return {"type": "object", "required": required, "properties": properties, "additionalProperties": False}


RULE: Final = closed(
    ["id"],
    id={"type": "string"},
    shortDescription=TEXT,
    defaultConfiguration=closed([], level=LEVEL),
)
PLACE: Final = closed(
    [],
    artifactLocation=closed([], uri={"type": "string", "format": "uri-reference"}),
    region=closed([], startLine={"type": "integer", "minimum": 1}),
)
RESULT: Final = closed(
    ["message"],
    ruleId={"type": "string"},
    ruleIndex={"type": "integer", "minimum": -1},
    level=LEVEL,
    message=TEXT,
    locations={"type": "array", "items": closed([], physicalLocation=PLACE)},
    properties={"type": "object"},
)
DRIVER: Final = closed(
    ["name"],
    name={"type": "string"},
    version={"type": "string"},
    rules={"type": "array", "uniqueItems": True, "items": RULE},
)
RUN: Final = closed(
    ["tool"], tool=closed(["driver"], driver=DRIVER), results={"type": "array", "items": RESULT}
)
LOG: Final = {
    **closed(["version", "runs"], version={"const": "2.1.0"}, runs={"type": "array", "items": RUN}),
    "properties": {
        "version": {"const": "2.1.0"},
        "$schema": {"type": "string", "format": "uri"},
        "runs": {"type": "array", "items": RUN},
    },
}
URI: Final = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*")
"""The characters that a URI reference without query and fragment may have (RFC 3986)."""


def test_every_kind_is_written_as_the_format_demands() -> None:
    """One finding of each kind, with and without a line; the whole is JSON."""
    found = [finding(kind, line=None if number % 2 else number + 1) for number, kind in enumerate(RULES)]

    log = json.loads(json.dumps(to_sarif(found, "chat_template.jinja", "1.0")))

    assert [] == [error.message for error in Draft7Validator(LOG).iter_errors(log)]
    [run] = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len(RULES) == len(rules) == len(run["results"])
    assert all(rules[one["ruleIndex"]]["id"] == one["ruleId"] for one in run["results"])
    assert all(
        rules[one["ruleIndex"]]["defaultConfiguration"]["level"] == one["level"] for one in run["results"]
    )


@pytest.mark.parametrize(
    "source", ["a b.jinja", "über/100%.jinja", "owner/model", "-", "/models/x y/t.jinja", "a\nb#?.jinja"]
)
def test_the_source_is_a_uri_reference(source: str) -> None:
    """Whatever the file is called."""
    log = to_sarif([finding("ambiguous")], source, "1.0")

    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    uri = place["artifactLocation"]["uri"]
    assert URI.fullmatch(uri), uri
    assert Path(source).is_absolute() == uri.startswith("file:///")


def test_a_line_of_the_template_is_none_of_another_file() -> None:
    """The template inside a configuration has lines of its own."""
    log = to_sarif([finding("ambiguous", line=7)], "tokenizer_config.json", "1.0", lines=False)

    [result] = log["runs"][0]["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_a_line_that_is_not_known_is_left_out() -> None:
    """A place may be a file alone: nothing points at a line that has nothing to do with it."""
    log = to_sarif([finding("ambiguous", line=7), finding("mutates_input")], "t.jinja", "1.0")

    places = [one["locations"][0]["physicalLocation"] for one in log["runs"][0]["results"]]
    uri = {"artifactLocation": {"uri": "t.jinja"}}
    assert [{**uri, "region": {"startLine": 7}}, uri] == places


def test_no_finding_is_an_empty_run() -> None:
    """So that a service knows that it was looked at."""
    log = to_sarif([], "t.jinja", "1.0")

    assert [] == log["runs"][0]["results"]
    assert Draft7Validator(LOG).is_valid(log)
