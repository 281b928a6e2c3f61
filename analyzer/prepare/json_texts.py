"""JSON texts of what stands in a conversation, with an error that names the place of what JSON cannot say."""

from __future__ import annotations

import json
from typing import Any

from analyzer.errors import UsageError


def json_text(value: Any, path: str) -> str:
    """A value as JSON text.

    Raises:
        UsageError: the value holds itself, is nested too deeply, or holds something that JSON has no word for.
    """
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError(f"{path} is no JSON value: {reason}", hint="Give plain JSON values.") from error
