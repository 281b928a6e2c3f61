"""The JSON Schema and the documentation of the spec are made from the models."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from analyzer.spec import Spec, dumps, json_schema, parse_spec
from analyzer.spec.overlays import Overlay
from analyzer.spec.schema import field_docs, models
from tests.spec.formats import NAMES, spec_of

ROOT = Path(__file__).parent.parent.parent
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def read(text: str) -> Any:
    """Return what an ordinary reader of YAML makes of a spec file."""
    return yaml.safe_load(text)


def test_generated_files_are_up_to_date() -> None:
    """`scripts/spec_docs` has nothing to write."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "spec_docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_the_file_is_the_schema() -> None:
    """What is shipped is what the function returns, and it is a valid schema."""
    shipped = json.loads((ROOT / "analyzer" / "spec" / "schema.json").read_text(encoding="utf-8"))

    assert shipped == json_schema()
    jsonschema.Draft202012Validator.check_schema(shipped)


@pytest.mark.parametrize("name", NAMES)
def test_every_format_is_valid(name: str) -> None:
    """What is written is valid, as a person's file is, by the schema alone."""
    file = ROOT / "tests" / "spec" / "formats" / f"{name}.yaml"

    assert [] == list(VALIDATOR.iter_errors(read(file.read_text(encoding="utf-8"))))
    assert [] == list(VALIDATOR.iter_errors(read(dumps(spec_of(name)))))


@pytest.mark.parametrize(
    "data",
    [
        {"turn": {"segments": []}},
        {"format_version": 2, "turn": {"segments": []}},
        {"format_version": 1, "turn": {"segments": [{"open": ""}]}},
        {"format_version": 1, "turn": {"segments": [{"kind": "content", "opn": ""}]}},
        {"format_version": 1, "turn": {"segments": [{"kind": "calls", "layouts": []}]}},
    ],
)
def test_what_the_loader_refuses_is_invalid(data: Any) -> None:
    """Versions, tags, unknown keys and empty lists are in the schema as well."""
    assert list(VALIDATOR.iter_errors(data))


def test_every_field_is_described() -> None:
    """Each field of each model has a docstring."""
    missing = [
        f"{model.__name__}.{name}"
        for root in (Spec, Overlay)
        for model in models(root)
        for name in model.model_fields
        if name not in field_docs(model)
    ]

    assert [] == missing


def test_every_model_is_documented() -> None:
    """The page has a table for each model, and its examples are what it says they are."""
    page = (ROOT / "docs" / "spec-format.md").read_text(encoding="utf-8")
    tables = re.findall(r"<!-- fields: (\w+) -->", page)
    example = next(
        block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "format_version" in block
    )

    assert sorted(tables) == sorted({model.__name__ for root in (Spec, Overlay) for model in models(root)})
    assert parse_spec(example).turn.header == "<|im_start|>assistant\n"
