"""Our response templates beside the hand-written ones of transformers' table: whatever theirs reads, ours reads too."""

from __future__ import annotations

import pytest

from analyzer.corpus import is_synced
from analyzer.engines import ENGINES
from analyzer.render import RenderWorker
from tests import budget
from tests.export.fallbacks import compared, fallbacks, families
from tests.export.samples import formats

pytestmark = [
    pytest.mark.engine,
    pytest.mark.corpus,
    pytest.mark.skipif(
        ENGINES["response-template"].missing is not None, reason="transformers is not installed"
    ),
]


def test_each_family_of_the_table_is_compared() -> None:
    """A family that transformers adds is missing here until it stands in the data."""
    assert set(fallbacks()) == set(families())


def test_the_templates_are_proven() -> None:
    """Only a proven format says what its conversations are."""
    assert [] == [name for names in families().values() for name in names if name not in formats()]


@pytest.mark.skipif(not is_synced(), reason="the corpus is not here: analyzer corpus sync --which core")
@pytest.mark.parametrize("family", families())
def test_ours_reads_what_theirs_reads(family: str) -> None:
    """Each conversation, and the calls among them; the first template of a family, at night all that are here."""
    here = {one.name: one for one in budget.real_templates()}
    names = [name for name in families()[family] if name in here]
    with RenderWorker() as worker:
        for name in names if budget.NIGHTLY else names[:1]:
            row = compared(here[name], fallbacks()[family], worker)

            assert [] == row.only_theirs
            assert row.conversations >= row.ours >= row.theirs > 0
