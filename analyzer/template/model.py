"""A template as it was found, and the reading of the files it is found in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from analyzer.errors import TemplateError

DEFAULT_VARIANT: Final = "default"
TOOL_VARIANT: Final = "tool_use"
"""The variant that is rendered whenever tools are given, where a model has more than one template."""

TEMPLATE_BYTES: Final = 4 * 1024 * 1024
JSON_BYTES: Final = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Template:
    """A chat template and what its tokenizer says of itself.

    ``name`` is the model's or the file's name, ``variant`` tells several templates of one model apart.  ``text`` is
    the source as found, line ends included; ``sha256`` is the hexadecimal hash of its UTF-8 bytes, computed when it is
    not given.
    ``special_tokens`` holds the tokens that are set, by the name a template knows them under (``bos_token``);
    ``added_tokens`` every token beyond the plain vocabulary, in order of id, as far as they are known.  ``origin``
    is the file or hub id, for messages.
    """

    name: str
    text: str
    sha256: str = ""
    special_tokens: Mapping[str, str] = field(default_factory=dict, hash=False)
    added_tokens: tuple[str, ...] = ()
    origin: str = ""
    variant: str = DEFAULT_VARIANT

    @property
    def place(self) -> str:
        """What stands before a line of it in messages: its file, or what it is in; its name where that is not known."""
        is_inside = self.origin.lower().endswith((".json", ".gguf"))  # whose own lines are others
        return f"the template in {self.origin}" if is_inside else self.origin or self.name

    def __post_init__(self) -> None:
        if not self.sha256:
            object.__setattr__(self, "sha256", text_hash(self.text))


def text_hash(text: str) -> str:
    """The hexadecimal sha256 of a text's UTF-8 bytes; lone surrogates, which JSON allows, count as three bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_bytes(path: Path, limit: int) -> bytes:
    """A file's bytes; raises `TemplateError` when it cannot be read or has more than ``limit`` bytes."""
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise TemplateError(f"The file cannot be read: {error.strerror or error}", source=str(path)) from None
    if len(data) > limit:
        raise TemplateError(
            f"The file is larger than {limit // (1024 * 1024)} MB",
            source=str(path),
            hint="No template is that long.",
        )
    return data


def decode(data: bytes, source: str) -> str:
    """The text in UTF-8 bytes, line ends kept; raises `TemplateError` for anything else."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TemplateError(
            f"Not a text file: byte {error.start} is not UTF-8",
            source=source,
            hint="A template is UTF-8 text.",
        ) from None
    if "\0" in text:
        raise TemplateError("Not a text file: it holds NUL characters", source=source)
    return text
