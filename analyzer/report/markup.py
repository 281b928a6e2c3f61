"""How text becomes markup: Jinja with autoescaping, its filters, and JSON that no browser runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from analyzer.visible import visible

_SHOWN: Final = 4000
"""How many characters of a witness's value are shown."""


def data_block(value: Mapping[str, Any]) -> Markup:
    """JSON for a block that is not run: nothing in it can end the block."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found.group()):04x}", text)  # cannot be encoded
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  (its markup characters are escaped above)


def environment() -> Environment:
    """Jinja as the pages want it: everything is escaped, what is not defined is an error."""
    pages = Environment(
        loader=PackageLoader("analyzer.report", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["visible"] = visible
    pages.filters["words"] = lambda text: text.replace("_", " ")
    pages.filters["shown"] = _shown
    pages.filters["prose"] = _prose
    return pages


def _shown(value: Any) -> str:
    """A witness's value as text: text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return visible(text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …")


def _prose(text: str) -> Markup:
    """A sentence of ours with what stands between back quotes as code; every part of it is escaped."""
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        return escape(visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    )
