"""Files that commands write: whole or not at all, and nothing that is no file is replaced by one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

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
