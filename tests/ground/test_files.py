"""A file is there whole or not at all, whatever happens."""

import errno
import os
import stat
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from wola.ground.files import (
    ABANDONED,
    WriteError,
    clear_leftovers,
    draft_folder,
    move_aside,
    remove_file,
    write_whole,
)


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


def test_a_function_writes_to_the_stream_itself(tmp_path):
    path = tmp_path / "file.bin"
    write_whole(path, lambda stream: [stream.write(part) for part in (b"one ", b"two")])
    assert path.read_bytes() == b"one two"


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_function_that_fails_halfway_leaves_the_old_file_and_no_half_one(tmp_path, error):
    def fail(stream):
        stream.write(b"half")
        raise error

    path = tmp_path / "file.bin"
    write_whole(path, b"old")
    with pytest.raises(error):
        write_whole(path, fail)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file.bin"]


@pytest.mark.parametrize("sync", [True, False])
def test_a_file_and_then_its_name_are_forced_to_disk_only_if_asked(tmp_path, monkeypatch, sync):
    path, forced = tmp_path / "file.bin", []

    def force(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        forced.append((kind, path.exists()))

    monkeypatch.setattr(os, "fsync", force)
    write_whole(path, b"new", sync=sync)
    assert forced == ([("file", False), ("folder", True)] if sync else [])
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(("code", "told"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_forced_to_disk_is_told_unless_none_can(
    tmp_path, monkeypatch, code, told
):
    def fail(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError) if told else nullcontext():
        write_whole(tmp_path / "file.bin", b"new")
    assert (tmp_path / "file.bin").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file.bin"]


def test_what_a_killed_writer_left_is_cleared_once_it_is_old(tmp_path):
    def killed(stream):
        stream.write(b"half")
        os._exit(9)

    child = os.fork()
    if child == 0:
        write_whole(tmp_path / "file.bin", killed)
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    assert clear_leftovers(tmp_path) == 0
    then = time.time() - 2 * ABANDONED
    os.utime(left, (then, then))
    (tmp_path / ".mine").touch()
    os.utime(tmp_path / ".mine", (then, then))
    assert clear_leftovers(tmp_path) == 1
    assert os.listdir(tmp_path) == [".mine"]


def test_a_draft_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", interrupted)
    with pytest.raises(KeyboardInterrupt):
        draft_folder(tmp_path, "run", {"a": b"1"})
    assert os.listdir(tmp_path) == []


def test_two_drafts_of_one_name_are_two_folders(tmp_path):
    drafts = [draft_folder(tmp_path / "drafts", "run", {"a": bytes([k])}) for k in range(2)]
    assert [(draft / "a").read_bytes() for draft in drafts] == [b"\0", b"\1"]


def test_a_draft_that_cannot_be_finished_leaves_nothing(tmp_path):
    with pytest.raises(WriteError, match="cannot write"):
        draft_folder(tmp_path, "run", {"a": b"1", "missing/b": b"2"})
    assert os.listdir(tmp_path) == []


def test_what_is_moved_aside_keeps_its_content_and_gets_a_suffix(tmp_path):
    folder = draft_folder(tmp_path, "run", {"a": b"1"})
    moved = move_aside(folder, tmp_path / "corner")
    assert moved.parent == tmp_path / "corner"
    assert moved.name.startswith(folder.name + ".")
    assert (moved / "a").read_bytes() == b"1"
    assert not folder.exists()


def test_moving_aside_what_is_gone_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        move_aside(tmp_path / "gone", tmp_path / "corner")


def test_a_corner_that_is_a_file_is_a_clear_error(tmp_path):
    (tmp_path / "corner").write_bytes(b"")
    (tmp_path / "run").mkdir()
    with pytest.raises(WriteError, match="cannot write"):
        move_aside(tmp_path / "run", tmp_path / "corner")
    assert (tmp_path / "run").is_dir()


def test_a_file_is_removed_if_it_is_there(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    remove_file(tmp_path / "file")
    remove_file(tmp_path / "file")
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_removed_is_a_clear_error(tmp_path):
    with pytest.raises(WriteError, match="cannot write"):
        remove_file(tmp_path)
