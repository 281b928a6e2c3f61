"""Reads templates and tokens out of a GGUF file's metadata, with the ``gguf`` package.

Keys: ``tokenizer.chat_template``, ``tokenizer.chat_template.NAME`` for named variants, token ids under
``tokenizer.ggml.…_token_id``, texts in ``tokenizer.ggml.tokens``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from analyzer.errors import TemplateError, UsageError
from analyzer.template.model import DEFAULT_VARIANT, TEMPLATE_BYTES, Template

MAGIC: Final = b"GGUF"
TEMPLATE_KEY: Final = "tokenizer.chat_template"
TOKENS_KEY: Final = "tokenizer.ggml.tokens"
TYPES_KEY: Final = "tokenizer.ggml.token_type"
ADDED_TYPES: Final = frozenset({3, 4})
"""Token types "control" and "user defined": the tokens beyond the plain vocabulary."""

TOKEN_KEYS: Final = {
    "bos_token": "tokenizer.ggml.bos_token_id",
    "eos_token": "tokenizer.ggml.eos_token_id",
    "unk_token": "tokenizer.ggml.unknown_token_id",
    "sep_token": "tokenizer.ggml.seperator_token_id",  # spelt so in the format
    "pad_token": "tokenizer.ggml.padding_token_id",
    "mask_token": "tokenizer.ggml.mask_token_id",
}


def from_gguf(path: Path) -> tuple[Template, ...]:
    """The templates in a GGUF file, the default one first.

    Raises `UsageError` without the ``gguf`` package, `TemplateError` when the file is damaged or has no template.
    """
    try:
        import gguf  # noqa: PLC0415  (an extra)
    except ImportError:
        raise UsageError(
            f"{path}: Reading a GGUF file needs the gguf package",
            hint="Install it with: pip install 'chat-template-analyzer[gguf]'",
        ) from None
    try:
        fields = gguf.GGUFReader(path).fields
        templates = _templates(fields, path)
    except Exception as error:  # noqa: BLE001  (a damaged file breaks the reader in many ways)
        raise TemplateError(f"The GGUF file cannot be read: {error}", source=str(path)) from None
    if not templates:
        raise TemplateError(f"The file's metadata has no {TEMPLATE_KEY}", source=str(path))
    return templates


def _templates(fields: Any, path: Path) -> tuple[Template, ...]:
    texts = {
        key: _text(fields[key]) for key in fields if key == TEMPLATE_KEY or key.startswith(f"{TEMPLATE_KEY}.")
    }
    name = _text(fields["general.name"]) if "general.name" in fields else path.stem
    special = _special_tokens(fields) if texts else {}
    added = _added_tokens(fields) if texts else ()
    return tuple(
        Template(
            text=texts[key],
            name=name,
            special_tokens=special,
            added_tokens=added,
            origin=str(path),
            variant=key[len(TEMPLATE_KEY) + 1 :] or DEFAULT_VARIANT,
        )
        for key in sorted(texts)
    )


def _special_tokens(fields: Any) -> dict[str, str]:
    tokens = fields.get(TOKENS_KEY)
    if tokens is None:
        return {}
    ids = {name: int(_value(fields[key])) for name, key in TOKEN_KEYS.items() if key in fields}
    return {name: _text(tokens, at) for name, at in ids.items() if at < len(tokens.data)}


def _added_tokens(fields: Any) -> tuple[str, ...]:
    tokens, types = fields.get(TOKENS_KEY), fields.get(TYPES_KEY)
    if tokens is None or types is None:
        return ()
    at = [
        index
        for index in range(min(len(types.data), len(tokens.data)))
        if _value(types, index) in ADDED_TYPES
    ]
    return tuple(dict.fromkeys(_text(tokens, index) for index in at))


def _value(field: Any, index: int = 0) -> Any:
    return field.parts[field.data[index]][0]


def _text(field: Any, index: int = 0) -> str:
    data = field.parts[field.data[index]].tobytes()
    if len(data) > TEMPLATE_BYTES:
        raise ValueError(f"a text of {len(data)} bytes")
    return str(data, "utf-8", "replace")
