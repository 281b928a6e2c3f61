"""Templates in GGUF files, made here."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.errors import TemplateError
from analyzer.template import Template, load_templates

gguf = pytest.importorskip("gguf", reason="gguf is not installed")

TOKENS = ["<unk>", "<s>", "</s>", "a", "<think>"]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4


def write(path: Path, templates: dict[str, str], *, vocabulary: bool = True) -> Path:
    """A GGUF file of metadata only; templates by key suffix."""
    writer = gguf.GGUFWriter(path, "test")
    for suffix, text in templates.items():
        writer.add_string(f"tokenizer.chat_template{suffix}", text)
    if vocabulary:
        writer.add_token_list(TOKENS)
        writer.add_token_types([UNKNOWN, CONTROL, CONTROL, NORMAL, USER_DEFINED])
        writer.add_bos_token_id(1)
        writer.add_eos_token_id(2)
        writer.add_pad_token_id(99)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def test_templates_and_tokens_come_out_of_the_metadata(tmp_path: Path) -> None:
    """Named variants, special tokens by id (one that is out of range is none), and added tokens by type."""
    path = write(tmp_path / "model.gguf", {"": "plain é", ".tool_use": "tools"})

    expected = {
        "special_tokens": {"bos_token": "<s>", "eos_token": "</s>"},
        "added_tokens": ("<s>", "</s>", "<think>"),
        "origin": str(path),
    }

    assert (
        Template("model", "plain é", **expected),  # type: ignore[arg-type]
        Template("model", "tools", variant="tool_use", **expected),  # type: ignore[arg-type]
    ) == load_templates(path)


def test_a_vocabulary_is_not_needed(tmp_path: Path) -> None:
    """Without tokens there is still the template."""
    (template,) = load_templates(write(tmp_path / "model.gguf", {"": "x"}, vocabulary=False))

    assert ("x", {}, ()) == (template.text, template.special_tokens, template.added_tokens)


def test_a_file_without_a_template_says_so(tmp_path: Path) -> None:
    """Naming the key that is missing."""
    with pytest.raises(TemplateError, match=r"no tokenizer\.chat_template"):
        load_templates(write(tmp_path / "model.gguf", {}))


def test_a_file_cut_short_says_so(tmp_path: Path) -> None:
    """Wherever it is cut."""
    path = write(tmp_path / "model.gguf", {"": "x" * 100})
    path.write_bytes(path.read_bytes()[:-200])

    with pytest.raises(TemplateError, match="cannot be read"):
        load_templates(path)
