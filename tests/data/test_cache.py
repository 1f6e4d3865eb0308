import os

import numpy as np
import pytest

from wola.data.arrays import Arrays, DataError
from wola.data.cache import read_cache, write_cache

ARRAYS = Arrays(
    np.arange(8, dtype=np.uint8).reshape(2, 4), np.array([0, 1]),
    np.arange(4, dtype=np.uint8).reshape(1, 4), np.array([1]), ("a", "b"),
)  # fmt: skip


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "new" / "x.npz"
    write_cache(ARRAYS, path)
    read = read_cache(path)
    np.testing.assert_array_equal(read.x_train, ARRAYS.x_train)
    np.testing.assert_array_equal(read.y_test, ARRAYS.y_test)
    assert read.classes == ("a", "b")
    assert os.listdir(path.parent) == ["x.npz"]


def test_a_write_that_fails_halfway_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    write_cache(ARRAYS, path)
    before = path.read_bytes()

    def full(stream, **_):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(DataError, match=r"No space left on device; set WOLA_DATA"):
        write_cache(ARRAYS, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.npz"]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"cannot write .*x.npz"):
        write_cache(ARRAYS, tmp_path / "file" / "x.npz")


def test_a_changed_byte_in_the_cache_is_noticed(tmp_path):
    path = tmp_path / "x.npz"
    write_cache(ARRAYS, path)
    content = bytearray(path.read_bytes())
    content[content.index(bytes(range(8)))] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match="the cached copy is damaged"):
        read_cache(path)
