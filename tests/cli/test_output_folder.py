"""Folders are checked before work begins, and nothing is written."""

import os
from pathlib import Path

import pytest

from wola.cli.errors import Refused
from wola.cli.output_folder import check_output


def test_a_folder_that_is_there_or_can_be_made_is_taken(tmp_path: Path) -> None:
    check_output(tmp_path)
    check_output(tmp_path / "new" / "deep")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_no_folder_and_nothing_lies_below_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Refused, match=r"--out = '.*file' is a file; allowed: a folder"):
        check_output(tmp_path / "file")
    with pytest.raises(Refused, match=r"lies below '.*file', a file"):
        check_output(tmp_path / "file" / "new" / "deep")


def test_a_relative_folder_is_looked_for_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    check_output(Path("new/deep"))
    with pytest.raises(Refused, match="lies below"):
        check_output(Path("file/new"))


def test_a_link_to_nowhere_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(Refused, match="allowed: a folder"):
        check_output(tmp_path / "link")


def test_a_folder_that_may_not_be_written_to_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(Refused, match=r"' may not be written to; allowed: another folder"):
        check_output(tmp_path)
    with pytest.raises(Refused, match=r"cannot be made: .* may not be written to"):
        check_output(tmp_path / "new")
