"""Reads templates and tokens out of tokenizer configurations (``tokenizer_config.json`` and its relatives)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analyzer.errors import TemplateError
from analyzer.template.model import DEFAULT_VARIANT, JSON_BYTES, decode, read_bytes


def read_json(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file; raises `TemplateError`, with the line where the syntax is wrong."""
    text = decode(read_bytes(path, JSON_BYTES), str(path))
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise TemplateError(f"Not valid JSON: {error.msg}", source=str(path), line=error.lineno) from None
    except (RecursionError, ValueError):
        raise TemplateError(
            "Not valid JSON: nested too deeply, or a number too long", source=str(path)
        ) from None
    if not isinstance(value, dict):
        raise TemplateError("The JSON file holds no object", source=str(path))
    return value


def templates_in(config: Mapping[str, Any], source: str) -> dict[str, str]:
    """The templates of a configuration by variant: a string, a list of ``{name, template}``, or a mapping.

    Empty when there is no ``chat_template``; raises `TemplateError` when it has another shape.
    """
    found = config.get("chat_template")
    if found is None:
        return {}
    if isinstance(found, str):
        return {DEFAULT_VARIANT: found}
    if isinstance(found, list):
        pairs = [(item.get("name"), item.get("template")) for item in found if isinstance(item, dict)]
        found = dict(pairs) if len(pairs) == len(found) else None
    if isinstance(found, dict) and all(isinstance(part, str) for pair in found.items() for part in pair):
        return found
    raise TemplateError(
        "chat_template is neither a text nor a list of named templates",
        source=source,
        hint='The list\'s items look like {"name": "default", "template": "…"}.',
    )


def special_tokens_in(config: Mapping[str, Any]) -> dict[str, str]:
    """The named special tokens that are set: each ``…_token``, and those of a mapping ``extra_special_tokens``."""
    extra = config.get("extra_special_tokens")
    named = {**config, **extra} if isinstance(extra, dict) else config
    tokens = {name: _content(value) for name, value in named.items() if _names_token(name, config)}
    return {name: text for name, text in tokens.items() if text is not None}


def _names_token(name: str, config: Mapping[str, Any]) -> bool:
    extra = config.get("extra_special_tokens")
    return name.endswith("_token") or (isinstance(extra, dict) and name in extra)


def added_tokens_in(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The added tokens in order of id, of ``added_tokens_decoder`` or of a ``tokenizer.json``'s ``added_tokens``.

    Unnamed extra special tokens come last.
    """
    decoder = config.get("added_tokens_decoder")
    numbered = list(decoder.items()) if isinstance(decoder, dict) else []
    listed = config.get("added_tokens")
    if isinstance(listed, list):
        numbered += [(item.get("id"), item) for item in listed if isinstance(item, dict)]
    numbered.sort(key=lambda pair: int(pair[0]) if str(pair[0]).isdecimal() else 0)
    extra = config.get("extra_special_tokens", config.get("additional_special_tokens"))
    values = [value for _, value in numbered] + (extra if isinstance(extra, list) else [])
    return tuple(dict.fromkeys(text for value in values if (text := _content(value))))


def _content(token: object) -> str | None:
    """The text of a token, given as text or as an object with ``content``."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else None
