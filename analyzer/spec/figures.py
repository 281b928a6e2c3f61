"""Counts and hashes in a spec, and what may stand there.

They have validators of their own: the sentences of pydantic's constraints are none that this package's errors could tell.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, TypeAlias

from pydantic import AfterValidator, Field

_HASH: Final = "^([0-9a-fA-F]{64})?$"


def _counted(number: int) -> int:
    if number < 0:
        raise ValueError(f"found {number}, expected a count: 0 or more")
    return number


def _hashed(text: str) -> str:
    if not re.fullmatch(_HASH, text):
        raise ValueError(
            f"found {len(text)} characters, expected a sha256 of 64 hexadecimal digits, or nothing"
        )
    return text


Count: TypeAlias = Annotated[int, AfterValidator(_counted), Field(json_schema_extra={"minimum": 0})]
Hash: TypeAlias = Annotated[str, AfterValidator(_hashed), Field(json_schema_extra={"pattern": _HASH})]
