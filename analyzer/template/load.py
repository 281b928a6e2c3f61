"""Tells the kinds of template sources apart, and picks among the templates of one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TextIO

from analyzer.errors import TemplateError, UsageError
from analyzer.files import with_home
from analyzer.template.folder import from_config, from_folder, from_jinja
from analyzer.template.gguf import MAGIC, from_gguf
from analyzer.template.hub import HUB_ID, from_hub
from analyzer.template.model import DEFAULT_VARIANT, TEMPLATE_BYTES, TOOL_VARIANT, Template

_FILE_SUFFIXES: Final = frozenset({".jinja", ".jinja2", ".j2", ".json", ".gguf", ".txt"})


def load_templates(source: str | Path, *, stdin: TextIO | None = None) -> tuple[Template, ...]:
    """The templates that a source holds, the default one first; never empty.

    ``source`` is a template file, a ``tokenizer_config.json`` or another JSON file with a ``chat_template``, a model
    folder, a ``.gguf`` file, ``-`` for standard input (``stdin``, where given), or a hub id such as
    ``organisation/model``; what exists on disk is never looked up on the hub.

    Raises `TemplateError` when it cannot be read or holds no template, `UsageError` when it is empty or an extra is missing.
    """
    if str(source) == "-":
        return (_from_stdin(sys.stdin if stdin is None else stdin),)
    if not str(source):
        raise UsageError("the source is empty", hint="Give a file, a model folder or a hub id.")
    try:
        return _load(source)
    except OSError as error:
        found = f"This cannot be read: {error.strerror or type(error).__name__}"
        raise TemplateError(found, source=str(error.filename or source)) from error


def _load(source: str | Path) -> tuple[Template, ...]:
    path = with_home(source)
    if path.is_dir():
        return from_folder(path)
    if path.exists():
        return _from_file(path)
    if isinstance(source, str) and HUB_ID.match(source) and path.suffix.lower() not in _FILE_SUFFIXES:
        return from_hub(source)
    raise TemplateError(
        "There is no such file or folder", source=str(source), hint="A hub id looks like organisation/model."
    )


def _from_file(path: Path) -> tuple[Template, ...]:
    if path.suffix.lower() == ".gguf" or (path.is_file() and _begins_with(path, MAGIC)):
        return from_gguf(path)
    if path.suffix.lower() == ".json":
        return from_config(path)
    template = from_jinja(path)
    if not template.text.strip():
        raise TemplateError("The file is empty", source=str(path))
    return (template,)


def _begins_with(path: Path, magic: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(magic)) == magic
    except OSError as error:
        raise TemplateError(f"The file cannot be read: {error.strerror or error}", source=str(path)) from None


def _from_stdin(stdin: TextIO) -> Template:
    try:
        text = stdin.read(TEMPLATE_BYTES + 1)
    except UnicodeDecodeError:
        raise TemplateError("Not text", source="standard input", hint="A template is UTF-8 text.") from None
    if len(text) > TEMPLATE_BYTES:
        raise TemplateError("No template is that long", source="standard input")
    if "\0" in text:
        raise TemplateError("Not text: it holds NUL characters", source="standard input")
    if not text.strip():
        raise TemplateError("Nothing came in", source="standard input")
    return Template(text=text, name="stdin", origin="standard input")


def pick(templates: Sequence[Template], variant: str | None = None) -> Template:
    """One of a model's templates: the variant asked for, else the one that is rendered when tools are given.

    That is ``tool_use`` where there is one, else ``default``, else the only one.  Raises `UsageError` when the variant
    does not exist or there is no telling.
    """
    by_variant = {template.variant: template for template in templates}
    wanted = [TOOL_VARIANT, DEFAULT_VARIANT] if variant is None else [variant]
    for name in wanted:
        if name in by_variant:
            return by_variant[name]
    if variant is None and len(by_variant) == 1:
        return next(iter(by_variant.values()))
    listed = ", ".join(sorted(by_variant)) or "none"
    asked = "No variant is called default" if variant is None else f"There is no variant {variant!r}"
    raise UsageError(asked, hint=f"There are: {listed}.")
