import io

import numpy as np
import pytest

from tests.data.small_files import purchase_rows, purchase_text, write_tar
from wola.data.arrays import DataError
from wola.data.purchase import parse_purchase_arrays, parse_purchase_text, read_purchase100

LABELS, VALUES = purchase_rows()
TEXT = purchase_text(LABELS, VALUES)


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def written(path, content):
    path.write_bytes(content)
    return path


def sources(folder):
    (folder / "in").mkdir()
    one_hot = np.eye(100)[LABELS - 1]
    return [
        written(folder / "dataset_purchase", TEXT),
        written(folder / "windows.npz", npz(features=VALUES.astype(bool), labels=one_hot)),
        written(folder / "shifted.npz", npz(features=VALUES.astype(float), labels=LABELS - 1)),
        written(folder / "official.npz", npz(features=VALUES, labels=LABELS)),
        write_tar(folder / "dataset_purchase.tgz", {"dataset_purchase": TEXT}),
        written(folder / "in" / "purchase100.npz", npz(features=VALUES, labels=LABELS)).parent,
    ]


def test_every_form_gives_the_same_split_of_shifted_labels(tmp_path):
    read = [read_purchase100(source, rows=500) for source in sources(tmp_path)]
    first = read[0]
    assert (len(first.y_train), len(first.y_test)) == (400, 100)
    together = np.concatenate([first.y_train, first.y_test])
    np.testing.assert_array_equal(np.bincount(together), np.full(100, 5))
    rows = {
        (row.tobytes(), int(label) - 1)
        for row, label in zip(VALUES.astype(np.uint8), LABELS, strict=True)
    }
    found = zip(np.concatenate([first.x_train, first.x_test]), together, strict=True)
    assert {(row.tobytes(), int(label)) for row, label in found} == rows
    assert first.classes[0] == "1"
    for other in read[1:]:
        np.testing.assert_array_equal(other.x_train, first.x_train)
        np.testing.assert_array_equal(other.y_test, first.y_test)


def test_windows_line_ends_are_read():
    features, _ = parse_purchase_text(TEXT.replace(b"\n", b"\r\n"), name="x")
    np.testing.assert_array_equal(features, VALUES)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "0 samples"),
        (TEXT[:-5], "line 500, begins"),
        (b"label" + TEXT[1:], "line 1, begins b'label"),
        (TEXT.replace(b",", b";"), "with commas between"),
        (b"101" + TEXT[1:], "expected 1 to 100"),
        (b"0" + TEXT[1:], "holds labels 0 to 100"),
        (b"1," + b"7" + TEXT[3:], "other feature values than 0 and 1"),
    ],
)
def test_damaged_text_is_refused_with_what_was_expected(content, message):
    with pytest.raises(DataError, match=message):
        parse_purchase_text(content, name="dataset_purchase")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected the arrays features"),
        (npz(features=VALUES), "expected the arrays features"),
        (npz(features=VALUES, labels=LABELS)[:-900], "expected the arrays features"),
        (npz(features=VALUES[:, 1:], labels=LABELS), r"expected \(N, 600\)"),
        (npz(features=VALUES * 2, labels=LABELS), "other values than 0 and 1"),
        (npz(features=VALUES, labels=LABELS + 1), "expected 1 to 100"),
        (npz(features=VALUES, labels=LABELS[1:]), "500 samples and 499 labels"),
        (npz(features=VALUES, labels=LABELS / 2), "expected one-hot"),
        (npz(features=VALUES, labels=np.array([{}])), "expected the arrays features"),
    ],
)
def test_damaged_arrays_are_refused_with_what_was_expected(content, message):
    with pytest.raises(DataError, match=message):
        parse_purchase_arrays(content, name="purchase100.npz")


def test_a_file_cut_at_the_end_of_a_line_is_noticed(tmp_path):
    source = written(tmp_path / "dataset_purchase", TEXT)
    with pytest.raises(DataError, match="has 500 samples; expected 197,324: it is truncated"):
        read_purchase100(source)


def test_a_folder_without_the_dataset_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"holds neither dataset_purchase nor purchase100.npz"):
        read_purchase100(tmp_path)
