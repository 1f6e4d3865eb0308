"""A file is there whole or not at all, whatever happens."""

import errno
import os

import pytest

from wola.training.files import WriteError, write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "new" / "file.bin"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["file.bin"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_half_one(tmp_path, monkeypatch, step):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "file.bin"
    write_whole(path, b"old")
    monkeypatch.setattr(os, step, full)
    with pytest.raises(WriteError, match=r"cannot write .No space left on device") as caught:
        write_whole(path, b"new")
    assert caught.value.errno == errno.ENOSPC
    assert str(path) in str(caught.value)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file.bin"]


def test_a_folder_that_cannot_be_written_to_is_a_clear_error(read_only_folder):
    with pytest.raises(WriteError, match="cannot write"):
        write_whole(read_only_folder / "file.bin", b"new")


def test_a_folder_that_is_a_file_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteError, match="cannot write"):
        write_whole(tmp_path / "file" / "inner.bin", b"new")
