"""The JSON Schema of the spec and the descriptions of its fields, both made from the models.

`schema.json` beside this module is what `json_schema` returns; editors use it to complete and check spec files.
"""

from __future__ import annotations

import ast
import inspect
import sys
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import BaseModel

from analyzer.spec.model import Spec

SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


def json_schema(model: type[BaseModel] = Spec) -> dict[str, Any]:
    """Return the JSON Schema of a spec file, or of another model."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    classes = {found.__name__: found for found in models(model)}
    for name, definition in [*definitions.items(), (model.__name__, schema)]:
        _describe(definition, classes[name])
    _shorten_codecs(schema, definitions)
    if model is Spec:
        schema["required"] = ["format_version", *schema.get("required", [])]
    return {"$schema": SCHEMA_ID, **schema}


def models(root: type[BaseModel]) -> list[type[BaseModel]]:
    """Return `root` and every model below it, each before the models of its fields."""
    found: dict[type[BaseModel], None] = {}

    def visit(annotation: Any) -> None:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            if annotation not in found:
                found[annotation] = None
                for field in annotation.model_fields.values():
                    visit(field.annotation)
            return
        for argument in getattr(annotation, "__args__", ()):
            visit(argument)

    visit(root)
    return list(found)


@cache
def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings that stand below the fields of a model, as one line each."""
    module = ast.parse(inspect.getsource(sys.modules[model.__module__]))
    (body,) = [
        node.body for node in module.body if isinstance(node, ast.ClassDef) and node.name == model.__name__
    ]
    docs: dict[str, str] = {}
    for field, doc in pairwise(body):
        match field, doc:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str() as text)):
                docs[name] = " ".join(text.split())
    return docs


def _describe(definition: dict[str, Any], model: type[BaseModel]) -> None:
    """Give the fields their docstrings; a tag is required, since it says which model is meant."""
    docs = field_docs(model)
    for name, field in definition.get("properties", {}).items():
        field.pop("title", None)
        if name in docs:
            field["description"] = docs[name]
        if "const" in field and name in {"kind", "slot"}:
            definition["required"] = [name, *definition.get("required", [])]
    if model.__doc__:
        definition["description"] = " ".join(inspect.cleandoc(model.__doc__).split())


def _shorten_codecs(schema: Any, definitions: dict[str, Any]) -> None:
    """Let a codec without parameters be written as its kind alone."""
    if isinstance(schema, list):
        for item in schema:
            _shorten_codecs(item, definitions)
        return
    if not isinstance(schema, dict):
        return
    mapping = schema.get("discriminator", {}).get("mapping", {})
    names = {kind: reference.rpartition("/")[2] for kind, reference in mapping.items()}
    if names and all(name.endswith("Codec") for name in names.values()):
        short = [kind for kind, name in names.items() if definitions[name].get("required") == ["kind"]]
        full = {"oneOf": schema.pop("oneOf"), "discriminator": schema.pop("discriminator")}
        schema["anyOf"] = [{"enum": short}, full]
        return
    for item in schema.values():
        _shorten_codecs(item, definitions)
