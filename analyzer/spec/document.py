"""Spec files: reading and writing a spec as YAML.

Reading refuses what the models do not know and says where (file, line, path). Writing is deterministic: keys in the order
of the models, defaults left out, and equal specs give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from analyzer.errors import SpecError
from analyzer.files import write_file
from analyzer.spec.model import FORMAT_VERSION, Spec
from analyzer.spec.parts import ArgumentsSlot, Codecs
from analyzer.spec.problems import spec_error
from analyzer.spec.reader import Document, read_document, read_text
from analyzer.spec.writer import write_yaml

_Model = TypeVar("_Model", bound=BaseModel)


def load_spec(source: str | Path) -> Spec:
    """Return the spec in a file, or in a text.

    A string that holds a line break or begins with `{` is a spec's text, any other string is a path.

    Raises:
        UsageError: the file cannot be read.
        SpecError: it is no YAML, or no spec; says the file, the line and the path of the field.
    """
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return parse_spec(source)
    return parse_spec(read_text(Path(source)), file=str(source))


def parse_spec(text: str, *, file: str = "") -> Spec:
    """Return the spec that `text` holds; `file` is the name that errors tell."""
    document = read_document(text, file=file)
    _check_version(document)
    return validate(document, Spec)


def validate(document: Document, model: type[_Model]) -> _Model:
    """Return `document` as `model`; SpecError tells the first problems with their lines and paths."""
    if not isinstance(document.data, dict):
        raise SpecError("the document is no mapping", file=document.file, line=1)
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise spec_error(error, document, model) from error


def dumps(spec: Spec) -> str:
    """Return `spec` as YAML. Loading it again gives an equal spec, and equal specs give the same text."""
    return write_yaml(to_data(spec))


def dump(spec: Spec, path: str | Path) -> None:
    """Write `spec` to a file; the file is either the old one or the whole new one at any time."""
    write_file(Path(path), dumps(spec))


def to_data(model: BaseModel) -> dict[str, Any]:
    """Return `model` as plain data in the order of its fields, defaults left out, tags and the version kept."""
    data: dict[str, Any] = {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        kept = name in {"format_version", "slot"} or (name == "kind" and not field.is_required())
        if not kept and not field.is_required() and _same(value, field.default):
            continue
        data[name] = _plain(value)
        is_codec = isinstance(model, Codecs) or (isinstance(model, ArgumentsSlot) and name == "codec")
        if is_codec and list(data[name]) == ["kind"]:
            data[name] = data[name]["kind"]
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return to_data(value)
    if isinstance(value, Mapping):
        return {key: _plain(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _check_version(document: Document) -> None:
    if not isinstance(document.data, dict):
        return
    if "format_version" not in document.data:
        hint = f"A spec begins with `format_version: {FORMAT_VERSION}`."
        raise SpecError("the key `format_version` is missing", file=document.file, line=1, hint=hint)
    version = document.data["format_version"]
    if version == FORMAT_VERSION and type(version) is int:
        return
    newer = type(version) is int and version > FORMAT_VERSION
    hint = "Update the package to read it." if newer else f"Write `format_version: {FORMAT_VERSION}`."
    found = f"the spec has format version {version!r}; this package reads version {FORMAT_VERSION}"
    line = document.line(("format_version",))
    raise SpecError(found, file=document.file, line=line, path="format_version", hint=hint)
