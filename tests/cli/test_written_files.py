"""Files that commands write: whole or not at all, and nothing that is no file is replaced by one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from analyzer.cli.app import app
from analyzer.files import write_file


def test_a_device_stays_a_device() -> None:
    """`-o /dev/null` must not put a file in its place: as root, that would be everybody's."""
    master, slave = os.openpty()
    try:
        path = Path(os.ttyname(slave))

        write_file(path, "text")

        assert stat.S_ISCHR(path.stat().st_mode)
        assert b"text" == os.read(master, 10)
    finally:
        os.close(master)
        os.close(slave)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The file that it points to is written."""
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)

    write_file(link, "new")

    assert link.is_symlink()
    assert "new" == file.read_text()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """And nothing is left beside it."""
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path, "text")

    assert [] == list(tmp_path.iterdir())


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """Not the one that is written beside it first."""
    with pytest.raises(FileNotFoundError) as caught:
        write_file(tmp_path / "nowhere" / "file", "text")

    assert str(tmp_path / "nowhere" / "file") == caught.value.filename


def test_a_template_is_not_written_over(tmp_path: Path) -> None:
    """`infer X -o X` would lose the template."""
    template = tmp_path / "template.jinja"
    template.write_text("{{ messages[0].content }}")

    result = CliRunner().invoke(app, ["infer", str(template), "-o", str(template)])

    assert 2 == result.exit_code
    assert "is the template itself" in result.output
    assert "{{ messages[0].content }}" == template.read_text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_no_bug(tmp_path: Path) -> None:
    """It is said as what it is."""
    template = tmp_path / "template.jinja"
    template.write_text("{%- for m in messages -%}<{{ m.role }}>{{ m.content }}{%- endfor -%}")

    result = CliRunner().invoke(app, ["infer", str(template), "-o", "/dev/full"])

    assert 2 == result.exit_code
    assert "cannot be written" in result.output


def test_what_a_terminal_cannot_show_is_spelt_out(tmp_path: Path) -> None:
    """An output that is not UTF-8 is no reason to stop."""
    template = tmp_path / "template.jinja"
    template.write_text(
        "{%- for m in messages -%}<{{ m.role }}☕>{{ m.content }}{%- endfor -%}", encoding="utf-8"
    )
    command = [sys.executable, "-c", "from analyzer.cli import main; main()", "infer", str(template)]

    done = subprocess.run(
        command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=False
    )

    assert b"bug in the program" not in done.stderr
    assert b"\\u2615" in done.stdout
