"""The states of a JSON value that is being scanned, and what may be taken at once in them."""

from __future__ import annotations

import re
from typing import Final

from analyzer.runtime.steps import BROKEN, DONE, WHITE, Step

VALUE, FIRST, KEY_OR_END, KEY, COLON, AFTER, STRING, ESCAPE, NUMBER, WORD = range(DONE)
"""The states of a `JsonScanner`."""
KEYS: Final = frozenset({KEY, KEY_OR_END})
OBJECT, ARRAY = 1, 2
special: Final = re.compile(r'["\\\x00-\x1f]').search
"""Finds what needs a look inside a JSON string."""
_TEXT: Final = r'[^"\\\x00-\x1f]*'


def _steps() -> list[list[list[Step | None]]]:
    """The graph of a `JsonScanner`, by the innermost container, whether a key is being read, and the state."""
    steps: dict[tuple[int, bool, int], Step] = {}
    opened = rf'{WHITE}(?:"{_TEXT}()'
    kinds = (
        (ARRAY, False, AFTER, ",", VALUE),
        (OBJECT, False, AFTER, ",", KEY),
        (OBJECT, True, COLON, ":", VALUE),
    )
    for container, in_key, behind, mark, then in kinds:
        marked = rf"{WHITE}(?:{mark}{opened}|())"
        patterns = {STRING: rf'{_TEXT}(?:"{marked}|())|)', behind: rf"{marked}|)"}
        if not in_key:
            patterns |= {VALUE: rf"{opened}|)", then: rf"{opened}|)"}
        for state, pattern in patterns.items():
            steps[container, in_key, state] = Step(pattern, (state, in_key))
    for container, in_key, behind, _, then in kinds:
        reads_key = container == OBJECT and not in_key
        after = ((STRING, reads_key), (then, False))
        outcomes = {STRING: ((STRING, in_key), *after, (behind, in_key)), behind: ((behind, in_key), *after)}
        if not in_key:
            outcomes |= {VALUE: ((VALUE, False), (STRING, False)), then: ((then, False), (STRING, reads_key))}
        for state, ends in outcomes.items():
            step = steps[container, in_key, state]
            for group, (end, key) in enumerate(ends):
                step.then[group or None] = (steps[container, key, end], None, None)
            if state == STRING:
                step.then[None] = (step.long(None, None, special), None, None)
    return [
        [[steps.get((container, key, state)) for state in range(BROKEN + 1)] for key in (False, True)]
        for container in range(ARRAY + 1)
    ]


STEPS: Final = _steps()
