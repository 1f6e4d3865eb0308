"""The formats of CIFAR-10: binary and python batches, and one PNG sheet per batch."""

import io
import json
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wola.data.arrays import Arrays, DataError, checked_arrays
from wola.data.files import check_content, find_files

BATCHES = (*(f"data_batch_{k}" for k in range(1, 6)), "test_batch")
SHAPE = (3, 32, 32)
RECORD = 1 + 3 * 32 * 32
LABEL_SHEETS = ("train_lables.json", "test_lables.json")

Records = NDArray[np.uint8]


def parse_binary_batch(content: bytes, *, name: str) -> Records:
    """The records (N, 3073) of a binary batch: a label, then the red, green and blue planes.

    Reference: A. Krizhevsky, Learning multiple layers of features from tiny images, 2009.

    >>> parse_binary_batch(bytes(3073), name="test_batch.bin").shape
    (1, 3073)
    """
    if not content or len(content) % RECORD:
        raise DataError(
            f"{name} has {len(content):,} bytes; expected a multiple of {RECORD:,} (a label and "
            "3 x 32 x 32 values): the file is truncated or damaged"
        )
    return np.frombuffer(content, np.uint8).reshape(-1, RECORD)


def parse_python_batch(content: bytes, *, name: str) -> Records:
    """The same records from a python batch: a pickle with ``data`` (N, 3072) and ``labels``.

    Nothing in the pickle is run: it may name NumPy's array and dtype alone, and these are read
    as plain data.
    """
    try:
        batch = _PlainUnpickler(io.BytesIO(content), encoding="bytes").load()
        data, labels = batch[b"data"].values(), np.asarray(batch[b"labels"])
        return _records(data.reshape(len(labels), RECORD - 1), labels)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    except Exception as error:
        # A damaged pickle can raise nearly anything.
        raise DataError(
            f"{name} is not a CIFAR-10 python batch, or is damaged ({error}); expected a pickled "
            "dictionary with data (N, 3072) and labels"
        ) from error


def parse_sheet(content: bytes, labels: list[int], *, name: str) -> Records:
    """The same records from a PNG with one image of 32 x 32 pixels, unrolled, per row."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            pixels = np.asarray(image.convert("RGB"))
        planes = pixels.reshape(len(labels), 32 * 32, 3).transpose(0, 2, 1)
        return _records(planes.reshape(len(labels), RECORD - 1), np.asarray(labels))
    except (OSError, ValueError, SyntaxError) as error:
        raise DataError(
            f"{name} is not a sheet of {len(labels):,} images, or is damaged ({error}); expected "
            f"a PNG of 1024 x {len(labels):,} pixels"
        ) from error


def read_cifar10(source: Path, *, checksums: Mapping[str, str], classes: tuple[str, ...]) -> Arrays:
    """The six batches from a folder or archive in any of the three formats.

    Each batch is brought into the official binary layout and compared with the SHA-256 of the
    official binary file.
    """
    binary = {f"{batch}.bin" for batch in BATCHES}
    sheets = {f"{batch}.png" for batch in BATCHES}
    found = find_files(source, {*BATCHES, *binary, *sheets, *LABEL_SHEETS})
    if binary <= found.keys():
        batches = [parse_binary_batch(found[f"{b}.bin"], name=f"{b}.bin") for b in BATCHES]
    elif set(BATCHES) <= found.keys():
        batches = [parse_python_batch(found[b], name=b) for b in BATCHES]
    elif {*sheets, *LABEL_SHEETS} <= found.keys():
        batches = _from_sheets(found)
    else:
        raise DataError(
            f"{source} does not hold CIFAR-10 (found {', '.join(sorted(found)) or 'nothing'}); "
            "expected data_batch_1.bin to data_batch_5.bin and test_batch.bin, or the python "
            "batches of the same names without .bin"
        )
    for name, records in zip(BATCHES, batches, strict=True):
        check_content(f"{source}: {name}", records.tobytes(), checksums[f"{name}.bin"])
    train = np.concatenate(batches[:-1])
    return checked_arrays(
        *_images_and_labels(train),
        *_images_and_labels(batches[-1]),
        classes=classes,
        origin=str(source),
    )


def _images_and_labels(records: Records) -> tuple[Records, Records]:
    images = np.ascontiguousarray(records[:, 1:]).reshape(-1, *SHAPE)
    return images, records[:, 0]


def _from_sheets(found: Mapping[str, bytes]) -> list[Records]:
    try:
        train, test = (json.loads(found[name]) for name in LABEL_SHEETS)
        per_batch = np.array_split(np.asarray(train, dtype=np.uint8), len(BATCHES) - 1)
        labels = [part.tolist() for part in (*per_batch, np.asarray(test, dtype=np.uint8))]
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(
            f"{' or '.join(LABEL_SHEETS)} is damaged ({error}); expected lists of labels"
        ) from error
    return [
        parse_sheet(found[f"{batch}.png"], part, name=f"{batch}.png")
        for batch, part in zip(BATCHES, labels, strict=True)
    ]


def _records(data: Records, labels: NDArray[Any]) -> Records:
    return np.concatenate([labels.astype(np.uint8)[:, None], data], axis=1)


class _PlainDtype:
    def __init__(self, code: bytes, *_: object) -> None:
        self.code = code

    def __setstate__(self, state: object) -> None:
        pass


class _PlainArray:
    """Stands in for NumPy's array while a pickle is read: keeps its parts, runs nothing."""

    def __init__(self, *_: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def values(self) -> Records:
        _, shape, dtype, fortran, content = self.state
        if dtype.code not in (b"u1", "u1"):
            raise DataError(f"its values have the type {dtype.code!r}; expected u1, unsigned bytes")
        raw = content if isinstance(content, bytes) else content.encode("latin1")
        return np.frombuffer(raw, np.uint8).reshape(shape, order="F" if fortran else "C")


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("numpy"):
            if name == "dtype":
                return _PlainDtype
            if name in ("_reconstruct", "ndarray"):
                return _PlainArray
        if (module, name) == ("_codecs", "encode"):
            # How Python 3 writes bytes into a pickle that Python 2 can read.
            return lambda text, encoding: text.encode("latin1")
        raise DataError(f"its pickle asks for {module}.{name}; expected NumPy arrays alone")
