"""Templates from every kind of source, and one clear paragraph when there is none."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import TemplateError, UsageError
from analyzer.template import Template, load_templates, pick
from analyzer.template.model import TEMPLATE_BYTES, text_hash

TEXT = "{{ bos_token }}\r\n{{ messages }}\n"
CONFIG: dict[str, Any] = {
    "add_bos_token": True,
    "bos_token": {"__type": "AddedToken", "content": "<s>", "special": True},
    "eos_token": "</s>",
    "pad_token": None,
    "image_token": "<image>",
    "extra_special_tokens": {"call_start": "<call>"},
    "added_tokens_decoder": {"10": {"content": "<call>"}, "2": {"content": "</s>"}, "1": {"content": "<s>"}},
    "chat_template": TEXT,
}
NAMED = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": "plain"}]


def write(path: Path, content: object) -> Path:
    """Writes text as it is, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((content if isinstance(content, str) else json.dumps(content)).encode())
    return path


def test_a_template_file_is_read_to_the_byte(tmp_path: Path) -> None:
    """Line ends are kept, so the hash is the file's."""
    path = write(tmp_path / "mine.jinja", TEXT)

    (template,) = load_templates(path)

    assert Template("mine", TEXT, text_hash(TEXT), origin=str(path)) == template
    assert (template,) == load_templates(str(path))


def test_a_configuration_gives_template_and_tokens(tmp_path: Path) -> None:
    """Special tokens as text or object, only those that are set; added tokens in order of id."""
    (template,) = load_templates(write(tmp_path / "model" / "tokenizer_config.json", CONFIG))

    assert ("model", TEXT) == (template.name, template.text)
    assert {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "image_token": "<image>",
        "call_start": "<call>",
    } == template.special_tokens
    assert ("<s>", "</s>", "<call>") == template.added_tokens


@pytest.mark.parametrize("chat_template", [NAMED, {item["name"]: item["template"] for item in NAMED}])
def test_named_templates_are_variants(tmp_path: Path, chat_template: object) -> None:
    """The default comes first, and the one for tools is picked, as it is rendered when tools are given."""
    templates = load_templates(write(tmp_path / "config.json", {"chat_template": chat_template}))

    assert [("default", "plain"), ("tool_use", "tools")] == [(t.variant, t.text) for t in templates]
    assert "tools" == pick(templates).text
    assert "plain" == pick(templates, "default").text
    with pytest.raises(UsageError, match="There are: default, tool_use"):
        pick(templates, "rag")


def test_picking_needs_something_to_pick() -> None:
    """A single template is picked whatever its name; two without a default are not guessed among."""
    only = Template("m", "x", variant="rag")

    assert only == pick([only])
    with pytest.raises(UsageError, match="There are: other, rag"):
        pick([only, Template("m", "y", variant="other")])


def test_in_a_model_folder_the_jinja_file_wins(tmp_path: Path) -> None:
    """Its text counts, with the configuration's tokens; the configuration's own templates do not."""
    write(tmp_path / "m" / "tokenizer_config.json", {**CONFIG, "chat_template": NAMED})
    write(tmp_path / "m" / "chat_template.json", {"chat_template": "from json"})
    assert ["from json"] == [t.text for t in load_templates(tmp_path / "m")]

    write(tmp_path / "m" / "chat_template.jinja", "from jinja")
    write(tmp_path / "m" / "additional_chat_templates" / "rag.jinja", "rag")
    templates = load_templates(tmp_path / "m")

    assert [("m", "default", "from jinja"), ("m", "rag", "rag")] == [
        (t.name, t.variant, t.text) for t in templates
    ]
    assert "<s>" == templates[0].special_tokens["bos_token"]
    assert templates[:1] == tuple(
        Template(
            t.name,
            t.text,
            special_tokens=t.special_tokens,
            added_tokens=t.added_tokens,
            origin=str(tmp_path / "m"),
        )
        for t in load_templates(tmp_path / "m" / "chat_template.jinja")
    )


def test_added_tokens_may_stand_in_the_tokenizers_file(tmp_path: Path) -> None:
    """Newer folders have them nowhere else; the unnamed extra tokens are a last resort."""
    config = {"chat_template": "x", "extra_special_tokens": ["<extra>"]}
    write(tmp_path / "tokenizer_config.json", config)
    write(tmp_path / "special_tokens_map.json", {"eos_token": {"content": "<end>"}})
    assert ("<extra>",) == load_templates(tmp_path)[0].added_tokens

    write(
        tmp_path / "tokenizer.json",
        {"added_tokens": [{"id": 9, "content": "<b>"}, {"id": 3, "content": "<a>"}]},
    )
    (template,) = load_templates(tmp_path)

    assert ("<a>", "<b>") == template.added_tokens
    assert {"eos_token": "<end>"} == template.special_tokens


def test_standard_input_is_a_template() -> None:
    """Under the name of a dash."""
    (template,) = load_templates("-", stdin=io.StringIO(TEXT))

    assert ("stdin", TEXT, "standard input") == (template.name, template.text, template.origin)


@pytest.mark.parametrize(
    ("content", "found"),
    [("", "Nothing came in"), ("a\0b", "NUL"), ("x" * (TEMPLATE_BYTES + 1), "that long")],
)
def test_standard_input_must_hold_a_template(content: str, found: str) -> None:
    """Nothing, bytes and floods are refused."""
    with pytest.raises(TemplateError, match=found):
        load_templates("-", stdin=io.StringIO(content))


@pytest.mark.parametrize(
    ("file", "content", "line", "found"),
    [
        ("a.jinja", b"", None, "empty"),
        ("a.jinja", b"\xff\xfe", None, "byte 0 is not UTF-8"),
        ("a.jinja", b"a\0", None, "NUL"),
        ("a.jinja", b" " * (TEMPLATE_BYTES + 1), None, "larger than 4 MB"),
        ("tokenizer_config.json", b'{\n"chat_template": \n}', 3, "Not valid JSON"),
        ("tokenizer_config.json", b"[" * 100_000, None, "Not valid JSON"),
        ("tokenizer_config.json", b'{"a": ' + b"9" * 5000 + b"}", None, "Not valid JSON"),
        ("tokenizer_config.json", b"[]", None, "no object"),
        ("tokenizer_config.json", b"{}", None, "no chat_template"),
        ("tokenizer_config.json", b'{"chat_template": 1}', None, "neither a text nor a list"),
        (
            "tokenizer_config.json",
            b'{"chat_template": [{"name": 1, "template": "x"}]}',
            None,
            "neither a text nor a list",
        ),
        ("a.gguf", b"not one", None, "cannot be read"),
        ("named_otherwise", b"GGUF\3\0\0\0", None, "cannot be read"),
    ],
)
def test_a_file_without_a_template_is_explained(
    tmp_path: Path, file: str, content: bytes, line: int | None, found: str
) -> None:
    """In one paragraph that begins with the file, and with the line where there is one."""
    path = tmp_path / file
    path.write_bytes(content)

    with pytest.raises(TemplateError, match=found) as caught:
        load_templates(path)

    assert line == caught.value.line
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_what_is_not_there_is_explained(tmp_path: Path) -> None:
    """A path, an empty folder, and a path that looks like a hub id but names a file."""
    with pytest.raises(TemplateError, match="no such file or folder"):
        load_templates(tmp_path / "nothing.jinja")
    with pytest.raises(TemplateError, match=r"No chat template in this folder.*tokenizer_config\.json"):
        load_templates(tmp_path)
    with pytest.raises(TemplateError, match="no such file or folder"):
        load_templates("models/nothing.jinja")


def test_the_hub_is_asked_for_what_is_not_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only template files are fetched; the tokenizer's file when the added tokens are nowhere else."""
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    asked: list[tuple[str, str | None, bool]] = []

    def download(repo: str, *, revision: str | None, allow_patterns: list[str]) -> str:
        asked.append((repo, revision, "tokenizer.json" in allow_patterns))
        return str(tmp_path)

    write(tmp_path / "tokenizer_config.json", {"chat_template": TEXT})
    monkeypatch.setattr(hub, "snapshot_download", download)
    (template,) = load_templates("org/some.model-1@v2")

    assert ("org/some.model-1", TEXT, "org/some.model-1@v2") == (
        template.name,
        template.text,
        template.origin,
    )
    assert [("org/some.model-1", "v2", False), ("org/some.model-1", "v2", True)] == asked


def test_the_hub_out_of_reach_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offline and not in the cache."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="huggingface_hub is not installed")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))

    with pytest.raises(TemplateError, match="organisation/model-of-nobody") as caught:
        load_templates("organisation/model-of-nobody")

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("module", "source"), [("huggingface_hub", "org/model"), ("gguf", "a.gguf")])
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, source: str
) -> None:
    """With the command that installs it."""
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)

    with pytest.raises(UsageError, match="pip install 'chat-template-analyzer"):
        load_templates(source)


@given(st.text())
def test_any_text_has_a_hash(text: str) -> None:
    """A template computes it by itself, and two templates are equal when everything is."""
    assert Template("a", text) == Template("a", text, text_hash(text))
    assert hash(Template("a", text)) == hash(Template("a", text))


def test_lone_surrogates_have_a_hash() -> None:
    """JSON allows them, UTF-8 does not."""
    assert len(Template("a", "\ud800").sha256) == 64
