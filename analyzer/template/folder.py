"""Reads a model folder, or one file of it.

``chat_template.jinja`` and ``additional_chat_templates/NAME.jinja`` win over ``chat_template.json``, which wins over
``tokenizer_config.json``: the first of the three that has a template is the only one that counts.  Tokens come from
``tokenizer_config.json``, ``special_tokens_map.json`` and ``tokenizer.json``, whichever are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from analyzer.errors import TemplateError
from analyzer.template.config import added_tokens_in, read_json, special_tokens_in, templates_in
from analyzer.template.model import DEFAULT_VARIANT, TEMPLATE_BYTES, Template, decode, read_bytes

JINJA_FILE: Final = "chat_template.jinja"
JSON_FILE: Final = "chat_template.json"
CONFIG_FILE: Final = "tokenizer_config.json"
MAP_FILE: Final = "special_tokens_map.json"
TOKENIZER_FILE: Final = "tokenizer.json"
MORE_FOLDER: Final = "additional_chat_templates"


def from_folder(folder: Path, *, name: str = "", origin: str = "") -> tuple[Template, ...]:
    """The templates of a model folder, the default one first; raises `TemplateError` when there is none."""
    source = origin or str(folder)
    texts = _jinja_files(folder)
    for file in (JSON_FILE, CONFIG_FILE):
        path = folder / file
        if not texts and path.is_file():
            texts = templates_in(read_json(path), str(path))
    if not texts:
        raise TemplateError(
            "No chat template in this folder",
            source=source,
            hint=f"Looked for {JINJA_FILE}, {MORE_FOLDER}/*.jinja, {JSON_FILE} and a chat_template in {CONFIG_FILE}.",
        )
    return _templates(texts, folder, name=name or folder.resolve().name, origin=source)


def from_config(path: Path) -> tuple[Template, ...]:
    """The templates of one JSON file, with the tokens of the folder it is in."""
    texts = templates_in(read_json(path), str(path))
    if not texts:
        raise TemplateError("The file has no chat_template", source=str(path))
    name = path.resolve().parent.name if path.name in (CONFIG_FILE, JSON_FILE) else path.stem
    return _templates(texts, path.parent, name=name, origin=str(path), config=path)


def from_jinja(path: Path) -> Template:
    """The template of one text file; only a model folder's own file takes the tokens of the folder it is in."""
    text = decode(read_bytes(path, TEMPLATE_BYTES), str(path))
    if path.name == JINJA_FILE:
        return _templates(
            {DEFAULT_VARIANT: text}, path.parent, name=path.resolve().parent.name, origin=str(path)
        )[0]
    return Template(text=text, name=path.stem, origin=str(path))


def _jinja_files(folder: Path) -> dict[str, str]:
    files = {DEFAULT_VARIANT: folder / JINJA_FILE} if (folder / JINJA_FILE).is_file() else {}
    files |= {path.stem: path for path in sorted((folder / MORE_FOLDER).glob("*.jinja"))}
    return {variant: decode(read_bytes(path, TEMPLATE_BYTES), str(path)) for variant, path in files.items()}


def _templates(
    texts: Mapping[str, str], folder: Path, *, name: str, origin: str, config: Path | None = None
) -> tuple[Template, ...]:
    special, added = _tokens(folder, config or folder / CONFIG_FILE)
    variants = sorted(texts, key=lambda variant: variant != DEFAULT_VARIANT)
    return tuple(
        Template(
            text=texts[variant],
            name=name,
            special_tokens=special,
            added_tokens=added,
            origin=origin,
            variant=variant,
        )
        for variant in variants
    )


def _tokens(folder: Path, config: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """Special tokens and added tokens, from whichever files are there."""
    configured = _optional(config)
    special = {**special_tokens_in(_optional(folder / MAP_FILE)), **special_tokens_in(configured)}
    added = added_tokens_in(configured)
    if "added_tokens_decoder" not in configured:
        added = added_tokens_in(_optional(folder / TOKENIZER_FILE)) or added
    return special, added


def _optional(path: Path) -> Mapping[str, Any]:
    return read_json(path) if path.is_file() else {}
