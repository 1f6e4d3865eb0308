"""The formats of Purchase100: the official text file and the common ``.npz``."""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wola.data.arrays import Arrays, DataError, checked_arrays, split
from wola.data.files import DAMAGED, find_files, reading_errors

TEXT_FILE = "dataset_purchase"
ARRAY_FILE = "purchase100.npz"
ROWS, FEATURES, CLASSES = 197_324, 600, 100

_Values = NDArray[np.uint8]
_Labels = NDArray[np.int64]


def parse_purchase_text(content: bytes, *, name: str) -> tuple[_Values, _Labels]:
    """Features (N, 600) and labels 0 to 99 from lines ``label,v1,...,v600`` with labels 1 to 100.

    >>> line = b"100," + b",".join([b"0", b"1"] * 300)
    >>> features, labels = parse_purchase_text(line, name="dataset_purchase")
    >>> features.shape, labels
    ((1, 600), array([99]))
    """
    labels, rows, commas = [], [], b"," * (FEATURES - 1)
    for number, line in enumerate(io.BytesIO(content), start=1):
        label, _, values = line.strip().partition(b",")
        if not label.isdigit() or len(values) != 2 * FEATURES - 1 or values[1::2] != commas:
            raise DataError(
                f"{name}, line {number}, begins {line[:24]!r} and has {len(line)} bytes; expected "
                f"a label from 1 to {CLASSES} and {FEATURES} values 0 or 1, with commas between"
            )
        labels.append(int(label))
        rows.append(values[::2])
    features = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, FEATURES) - np.uint8(ord("0"))
    return _checked(features, np.array(labels, dtype=np.int64) - 1, name)


def parse_purchase_arrays(content: bytes, *, name: str) -> tuple[_Values, _Labels]:
    """The same from an ``.npz`` with ``features`` (N, 600) and ``labels``.

    _Labels are one-hot (N, 100), or whole numbers: 0 to 99 if a 0 occurs, else 1 to 100.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            features, labels = arrays["features"], arrays["labels"]
    except (ValueError, KeyError, zipfile.BadZipFile, *DAMAGED) as error:
        raise DataError(
            f"{name} is not the .npz form of Purchase100, or is damaged ({error}); expected the "
            f"arrays features (N, {FEATURES}) and labels"
        ) from error
    if features.ndim != 2 or features.shape[1] != FEATURES:
        raise DataError(f"{name}: features have shape {features.shape}; expected (N, {FEATURES})")
    if not ((features == 0) | (features == 1)).all():
        raise DataError(f"{name}: features hold other values than 0 and 1; expected these alone")
    return _checked(features.astype(np.uint8), _class_numbers(labels, name), name)


def read_purchase100(source: Path, *, rows: int = ROWS) -> Arrays:
    """The dataset from the text file, the ``.npz``, or a folder or archive that holds either.

    80 % of the samples train and 20 % test, by :func:`wola.data.arrays.split`. Reference: R.
    Shokri, M. Stronati, C. Song and V. Shmatikov, Membership inference attacks against machine
    learning models, IEEE S&P 2017. No checksum of the file has been published; its form is
    checked instead: ``rows`` samples, 600 values 0 or 1, labels 1 to 100.
    """
    if source.is_file() and source.suffix == ".npz":
        with reading_errors(source):
            found = {ARRAY_FILE: source.read_bytes()}
    else:
        found = find_files(source, (TEXT_FILE, ARRAY_FILE))
    if TEXT_FILE in found:
        features, labels = parse_purchase_text(found[TEXT_FILE], name=f"{source}: {TEXT_FILE}")
    elif ARRAY_FILE in found:
        features, labels = parse_purchase_arrays(found[ARRAY_FILE], name=str(source))
    else:
        raise DataError(f"{source} holds neither {TEXT_FILE} nor {ARRAY_FILE}; expected one")
    if len(labels) != rows:
        raise DataError(
            f"{source} has {len(labels):,} samples; expected {rows:,}: it is truncated, or "
            "another dataset"
        )
    names = [str(number) for number in range(1, CLASSES + 1)]
    return checked_arrays(*split(features, labels), classes=names, origin=str(source))


def _class_numbers(labels: NDArray[Any], name: str) -> _Labels:
    if labels.ndim == 2 and labels.shape[1] == CLASSES and (labels.sum(axis=1) == 1).all():
        classes: _Labels = labels.argmax(axis=1).astype(np.int64)
        return classes
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise DataError(
            f"{name}: labels are {labels.dtype} {labels.shape}; expected one-hot (N, {CLASSES}) "
            "or whole numbers (N,)"
        )
    numbers = labels.astype(np.int64)
    shifted: _Labels = numbers if (numbers == 0).any() else numbers - 1
    return shifted


def _checked(features: _Values, labels: _Labels, name: str) -> tuple[_Values, _Labels]:
    if len(labels) == 0 or len(features) != len(labels):
        raise DataError(
            f"{name} has {len(features)} samples and {len(labels)} labels; expected as many, and "
            "at least one"
        )
    if features.max() > 1:
        raise DataError(f"{name} holds other feature values than 0 and 1; expected these alone")
    if labels.min() < 0 or labels.max() >= CLASSES:
        raise DataError(
            f"{name} holds labels {labels.min() + 1} to {labels.max() + 1}; expected 1 to {CLASSES}"
        )
    return features, labels
