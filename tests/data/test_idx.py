import gzip

import numpy as np
import pytest

from tests.data.small_files import checksums, idx, idx_files, write_folder, write_tar
from wola.data.arrays import DataError
from wola.data.idx import parse_idx, read_idx_dataset

CLASSES = ("a", "b", "c")


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 3, 4), (0,)])
def test_what_was_written_is_read(shape):
    values = np.random.default_rng(0).integers(0, 256, shape)
    np.testing.assert_array_equal(parse_idx(idx(values), name="x"), values)


@pytest.mark.parametrize("container", ["plain", "gz", "tar"])
def test_a_dataset_is_read_from_any_container(tmp_path, container):
    files, arrays = idx_files()
    if container == "tar":
        source = write_tar(tmp_path / "x.tar.gz", files)
    else:
        compress = gzip.compress if container == "gz" else None
        source = write_folder(tmp_path, files, compress=compress)
    read = read_idx_dataset(source, checksums=checksums(files), classes=CLASSES)
    np.testing.assert_array_equal(read.x_train, arrays[0][:, None])
    np.testing.assert_array_equal(read.y_train, arrays[1])
    np.testing.assert_array_equal(read.x_test, arrays[2][:, None])
    np.testing.assert_array_equal(read.y_test, arrays[3])
    assert read.classes == CLASSES


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "begins with nothing"),
        (b"<html>", "begins with 3c 68 74 6d"),
        (bytes([0, 0, 13, 1, 0, 0, 0, 1, 0]), "expected an idx file of unsigned bytes"),
        (bytes([0, 0, 8, 3, 0, 0]), "ends within its header"),
        (idx(np.zeros((2, 3)))[:-1], r"has 17 bytes; expected 18 for its shape \(2, 3\)"),
        (idx(np.zeros((2, 3))) + b"x", "has 19 bytes; expected 18"),
    ],
)
def test_a_damaged_file_is_refused_with_what_was_expected(content, message):
    with pytest.raises(DataError, match=message):
        parse_idx(content, name="x")


def test_a_whole_file_of_another_dataset_is_refused(tmp_path):
    files, _ = idx_files(seed=0)
    others, _ = idx_files(seed=1)
    source = write_folder(tmp_path, others)
    with pytest.raises(DataError, match="train-images-idx3-ubyte is not the official file"):
        read_idx_dataset(source, checksums=checksums(files), classes=CLASSES)
