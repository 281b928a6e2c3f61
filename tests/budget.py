"""How much the tests try.

`HYPOTHESIS_PROFILE` chooses: `dev`, the default, tries something else each time; `ci` (what `make test` and `scripts/check` take)
always the same; `nightly` a lot, and every real template instead of a sample.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Final

from hypothesis import HealthCheck, Phase, settings

from analyzer.corpus import is_synced, load_corpus
from analyzer.template import Template

PROFILE: Final = os.environ.get("HYPOTHESIS_PROFILE", "dev")
NIGHTLY: Final = PROFILE == "nightly"
_NORMAL: Final = 100
_SHARED: Final = settings(
    max_examples=_NORMAL,
    deadline=None,  # a loaded machine is no finding
    print_blob=True,
    # not `explain`: it traces every example with `sys.settrace`, beside the threads that other tests have left
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.target, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def register() -> None:
    """Make the profiles known to Hypothesis and take the chosen one."""
    settings.register_profile("dev", _SHARED)
    settings.register_profile("ci", _SHARED, derandomize=True, database=None)
    settings.register_profile("nightly", _SHARED, max_examples=20 * _NORMAL)
    settings.load_profile(PROFILE)


def examples(amount: int) -> int:
    """So many examples in a normal run, more at night."""
    return amount * settings.default.max_examples // _NORMAL


@cache
def real_templates(every: int = 1) -> tuple[Template, ...]:
    """One of so many templates of the core corpus, always the same ones; at night all, of the full corpus where it is here."""
    if NIGHTLY:
        return load_corpus(which="full" if is_synced(which="full") else "core")
    return load_corpus()[::every]


def real_template(name: str) -> Template:
    """The real template of that name."""
    return next(one for one in real_templates() if one.name == name)
