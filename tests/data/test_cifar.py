import os
import pickle

import numpy as np
import pytest

from tests.data.small_files import (
    checksums,
    cifar_batches,
    cifar_binary,
    cifar_python,
    cifar_sheets,
    write_folder,
    write_tar,
)
from wola.data.arrays import DataError
from wola.data.cifar import parse_binary_batch, parse_python_batch, parse_sheet, read_cifar10

BATCHES = cifar_batches()
BINARY = cifar_binary(BATCHES)
NAMES = tuple("abcdefghij")
FORMATS = {"binary": BINARY, "python": cifar_python(BATCHES), "sheets": cifar_sheets(BATCHES)}


@pytest.mark.parametrize("archive", [True, False])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_gives_the_same_images_and_labels(tmp_path, form, archive):
    write = write_tar if archive else write_folder
    source = write(tmp_path / "cifar", FORMATS[form])
    read = read_cifar10(source, checksums=checksums(BINARY), classes=NAMES)
    images = np.concatenate([images for _, _, images in BATCHES])
    labels = np.concatenate([labels for _, labels, _ in BATCHES])
    np.testing.assert_array_equal(np.concatenate([read.x_train, read.x_test]), images)
    np.testing.assert_array_equal(np.concatenate([read.y_train, read.y_test]), labels)
    assert len(read.y_test) == len(BATCHES[-1][1])


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_python_batches_of_every_common_pickle_protocol_are_read(protocol):
    name, content = next(iter(cifar_python(BATCHES, protocol=protocol).items()))
    assert parse_python_batch(content, name=name).tobytes() == BINARY[f"{name}.bin"]


def test_a_batch_pickled_by_python_2_is_read():
    image = bytes(range(256)) * 12
    content = (
        b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n"
        b"K\x00\x85U\x01btR(K\x01K\x01M\x00\x0c\x86cnumpy\ndtype\n(U\x02u1K\x00K\x01tR"
        b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T\x00\x0c\x00\x00"
        + image
        + b"tbU\x06labels](K\x06eu."
    )
    assert parse_python_batch(content, name="data_batch_1").tobytes() == b"\x06" + image


class Harmful:
    def __reduce__(self):
        return os.mkdir, ("harm-was-done",)


def test_a_pickle_that_asks_for_anything_else_is_refused_and_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = pickle.dumps({b"data": Harmful(), b"labels": [1]}, protocol=2)
    with pytest.raises(DataError, match=r"pickle asks for \w+.mkdir; expected NumPy arrays alone"):
        parse_python_batch(content, name="data_batch_1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"<html>", pickle.dumps({b"data": 1}), pickle.dumps(3)])
def test_a_damaged_python_batch_says_what_was_expected(content):
    with pytest.raises(DataError, match=r"expected a pickled dictionary with data \(N, 3072\)"):
        parse_python_batch(content, name="data_batch_1")


def test_values_that_are_not_bytes_are_refused():
    content = pickle.dumps({b"data": np.zeros((1, 3072)), b"labels": [1]}, protocol=2)
    with pytest.raises(DataError, match="expected u1"):
        parse_python_batch(content, name="data_batch_1")


@pytest.mark.parametrize("content", [b"", bytes(3072), bytes(3074)])
def test_a_truncated_binary_batch_says_what_was_expected(content):
    with pytest.raises(DataError, match=r"expected a multiple of 3,073"):
        parse_binary_batch(content, name="test_batch.bin")


@pytest.mark.parametrize("kept", [0, 20, 900])
def test_a_damaged_sheet_says_what_was_expected(kept):
    content = FORMATS["sheets"]["test_batch.png"][:kept]
    with pytest.raises(DataError, match=r"expected a PNG of 1024 x 4 pixels"):
        parse_sheet(content, [0] * 4, name="test_batch.png")


def test_a_sheet_with_too_many_labels_is_refused():
    with pytest.raises(DataError, match="not a sheet of 5 images"):
        parse_sheet(FORMATS["sheets"]["test_batch.png"], [0] * 5, name="test_batch.png")


def test_damaged_labels_of_sheets_are_refused(tmp_path):
    source = write_folder(tmp_path, FORMATS["sheets"] | {"train_lables.json": b"[1, "})
    with pytest.raises(DataError, match=r"train_lables.json or test_lables.json is damaged"):
        read_cifar10(source, checksums=checksums(BINARY), classes=NAMES)


def test_a_folder_without_all_batches_says_what_it_found(tmp_path):
    files = {name: FORMATS["python"][name] for name in ("data_batch_1", "test_batch")}
    with pytest.raises(DataError, match=r"found data_batch_1, test_batch\); expected"):
        read_cifar10(write_folder(tmp_path, files), checksums={}, classes=NAMES)


def test_one_changed_pixel_is_noticed(tmp_path):
    name = "data_batch_3.bin"
    changed = BINARY[name][:-1] + bytes([BINARY[name][-1] ^ 1])
    source = write_folder(tmp_path, BINARY | {name: changed})
    with pytest.raises(DataError, match="data_batch_3 is not the official file"):
        read_cifar10(source, checksums=checksums(BINARY), classes=NAMES)
