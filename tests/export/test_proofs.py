"""Every export held against the engine that reads it, on what the format and the chat templates themselves write.

A normal run takes the project's own templates and a part of the corpus; at night it is all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from analyzer.corpus import is_synced
from analyzer.engines import ENGINES
from analyzer.errors import ExportError
from analyzer.export import export
from analyzer.render import RenderWorker
from analyzer.spec.document import load_spec
from analyzer.spec.model import Spec
from analyzer.template import load_templates, pick
from analyzer.verify.described import is_described
from tests import budget
from tests.export.proofs import PROOFS, choices
from tests.export.rendered import rendered
from tests.export.samples import CORPUS, OWN, ROOT, TOOLS, Written, formats, proven, written

STRIDE: Final = 1 if budget.NIGHTLY else 12
SHARDS: Final = 8
GRAMMARS: Final = [target for target in PROOFS if target != "response-template"]
TEMPLATES: Final = ROOT / "corpus" / "templates"
_NO_CLOSER: Final = "nothing closes an argument's value"
NOT_EXPRESSIBLE: Final[Mapping[str, frozenset[str]]] = {
    "response-template": frozenset(
        (
            "nothing but the tool's name opens a call",
            "`python-call-list` does not read these arguments",
            "the tool's name is the key of the call's object",
            "containers are written as nested items",
            "the prompt writes what opens the first call",
            "content and reasoning both open with '<think>'",
            "reasoning has no opener of its own",
            _NO_CLOSER,
        )
    ),
    "structural-tag": frozenset((_NO_CLOSER,)),
    "gbnf": frozenset((_NO_CLOSER,)),
    "lark": frozenset((_NO_CLOSER,)),
}
"""Why a target may refuse a format; another reason fails its test, so that refusals cannot grow unnoticed."""


def needs(target: str) -> None:
    """Skip what the target's engine is needed for; the reason says what stays unchecked."""
    missing = ENGINES[target].missing
    if missing is not None:
        pytest.skip(f"{missing} is not installed: {target} is not checked")


def prove(target: str, spec: Spec, items: Sequence[Written]) -> None:
    """Nothing is taken or refused otherwise than it should, but for declared losses."""
    try:
        done = export(target, spec, TOOLS)
    except ExportError as error:
        assert error.found in NOT_EXPRESSIBLE[target], error  # noqa: PT017  (which errors are known is what is tested)
        return
    proof = PROOFS[target](spec, done, items)

    assert [] == proof.gaps
    assert proof.good


@pytest.fixture(scope="module")
def worker() -> Iterator[RenderWorker]:
    """One process for all templates."""
    with RenderWorker() as made:
        yield made


@cache
def specs() -> tuple[Path, ...]:
    """The golden specs with calls: the project's own, and those of a part of the corpus."""
    chosen = [path for path in CORPUS if path.stem in proven()][::STRIDE]
    return tuple(path for path in (*OWN, *chosen) if load_spec(path).calls is not None)


OWN_PROVEN: Final = [
    path
    for path in OWN
    if (found := load_spec(path)).calls is not None
    and found.verification.verdict.startswith("proven")
    and not is_described(found)
]


@cache
def turns(name: str, worker: RenderWorker) -> tuple[Spec, list[Written]]:
    """The spec of one of the project's own templates, and the samples as that template writes them."""
    spec = load_spec(ROOT / "generated" / "own" / f"{name}.yaml")
    template = pick(load_templates(TEMPLATES / f"{name}.jinja"))
    return spec, rendered(spec, template, worker)


@pytest.mark.engine
@pytest.mark.parametrize("target", PROOFS)
@pytest.mark.parametrize("path", specs(), ids=lambda path: path.stem)
def test_what_a_spec_writes(target: str, path: Path) -> None:
    """With text before and after, with one or several calls; wrong calls are refused."""
    needs(target)
    spec = load_spec(path)

    prove(target, spec, list(written(spec)))


@pytest.mark.engine
@pytest.mark.parametrize("target", PROOFS)
@pytest.mark.parametrize("path", OWN_PROVEN, ids=lambda path: path.stem)
def test_what_a_template_renders(target: str, path: Path, worker: RenderWorker) -> None:
    """The same, in the template's own spacing, with its ids, its order of arguments and what it writes for absent parts."""
    needs(target)
    spec, items = turns(path.stem, worker)

    assert any(item.message.tool_calls for item in items)
    prove(target, spec, items)


@pytest.mark.engine
@pytest.mark.parametrize("target", GRAMMARS)
@pytest.mark.parametrize("path", OWN_PROVEN, ids=lambda path: path.stem)
def test_each_tool_choice(target: str, path: Path, worker: RenderWorker) -> None:
    """`required`, a name, and one call a turn."""
    needs(target)
    spec, items = turns(path.stem, worker)
    try:
        export(target, spec, TOOLS)
    except ExportError as error:
        pytest.skip(f"not expressible: {error}")

    proof = choices(target, spec, items)

    assert [] == proof.gaps
    assert proof.good


@pytest.mark.corpus
@pytest.mark.engine
@pytest.mark.parametrize("shard", range(SHARDS))
def test_what_real_templates_render(shard: int, worker: RenderWorker) -> None:
    """A part of the real templates in a normal run, all of them at night; what is not installed is not asked."""
    if not is_synced():
        pytest.skip("the corpus is not here: `analyzer corpus sync` fetches it")
    known = [one for one in budget.real_templates() if one.name in formats()]
    present = [target for target in PROOFS if ENGINES[target].missing is None]
    for template in known[shard :: SHARDS * STRIDE]:
        spec = load_spec(ROOT / "generated" / "corpus" / f"{formats()[template.name]}.yaml")
        items = rendered(spec, template, worker)
        assert any(item.message.tool_calls for item in items), template.name
        for target in present:
            prove(target, spec, items)
