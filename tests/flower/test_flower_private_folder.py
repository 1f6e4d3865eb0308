"""State folders are their owner's alone."""

import logging
import os
import stat
from pathlib import Path

import pytest

from wola.flower.private_folder import SharedFolderError, make_private

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_a_new_folder_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_private(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a" / "b") == 0o700


@pytest.mark.parametrize("wide", [0o755, 0o770, 0o711, 0o777])
def test_a_wider_folder_of_ones_own_is_repaired_and_said(
    wide: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(wide)
    with caplog.at_level(logging.WARNING):
        make_private(tmp_path)
    assert mode(tmp_path) == 0o700
    assert f"had mode {wide:04o}" in caplog.text


def test_a_private_folder_stays_as_it_is(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tmp_path.chmod(0o500)
    make_private(tmp_path)
    assert mode(tmp_path) == 0o500
    assert not caplog.text


def test_a_folder_made_to_be_shared_is_refused_and_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    with pytest.raises(SharedFolderError, match=r"mode 1777 .*; allowed: a folder of your own"):
        make_private(tmp_path)
    assert mode(tmp_path) == 0o1777


def test_a_wide_folder_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(SharedFolderError, match="belongs to user"):
        make_private(tmp_path)
    assert mode(tmp_path) == 0o755
