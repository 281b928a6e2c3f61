from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from analyzer.cli.app import app

ROOT: Final = Path(__file__).parents[1]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The code blocks in that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def commands() -> Iterator[tuple[str, str]]:
    """Each command of the console blocks with the output that is promised."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def fits(promised: str, actual: str) -> bool:
    """Whether the output is the promised one, where a line of dots stands for any lines."""
    pieces = [re.escape(piece) for piece in re.split(r"^\.\.\.\n", promised, flags=re.MULTILINE)]
    return re.fullmatch("(?s:.*?)".join(pieces), actual) is not None


def test_the_tour_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the README prints what the README says, and the program does too."""
    (reply,) = blocks("text")
    (tmp_path / "reply.txt").write_text(reply, encoding="utf-8")
    template = ROOT / "corpus" / "templates" / "key_value_tags.jinja"
    (tmp_path / template.name).write_bytes(template.read_bytes())
    monkeypatch.chdir(tmp_path)
    seen = list(commands())
    assert 4 == len(seen)

    for command, promised in seen:
        result = CliRunner().invoke(app, shlex.split(command)[1:])
        assert 0 == result.exit_code, result.output
        assert fits(promised, result.output), f"{command}\n{result.output}"

    (program,) = blocks("python")
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(program, "README.md", "exec"), {})  # noqa: S102  (our own README)
    assert "proven\nHello.\n" == printed.getvalue()


def test_links_lead_somewhere() -> None:
    """Every relative link of the README and of the docs is a file."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
