"""The idx format of MNIST and Fashion-MNIST."""

from collections.abc import Mapping
from math import prod
from pathlib import Path
from struct import unpack_from

import numpy as np
from numpy.typing import NDArray

from wola.data.arrays import Arrays, DataError, checked_arrays
from wola.data.files import check_content, require_files

UNSIGNED_BYTE = 0x08
IDX_FILES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def parse_idx(content: bytes, *, name: str) -> NDArray[np.uint8]:
    """The array in an idx file of unsigned bytes.

    Layout: two zero bytes, the type (8), the number of dimensions k, k big-endian sizes of four
    bytes, then the values in row-major order. Reference: Y. LeCun, C. Cortes and C. J. C. Burges,
    The MNIST database of handwritten digits, 1998.

    >>> parse_idx(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]), name="labels")
    array([7, 9], dtype=uint8)
    """
    if len(content) < 4 or content[:3] != bytes([0, 0, UNSIGNED_BYTE]):
        raise DataError(
            f"{name} begins with {content[:4].hex(' ') or 'nothing'}; expected an idx file of "
            "unsigned bytes, 00 00 08 and the number of dimensions"
        )
    dimensions = content[3]
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise DataError(f"{name} ends within its header; expected {start} bytes and the values")
    shape: tuple[int, ...] = unpack_from(f">{dimensions}I", content, 4)
    if len(content) != start + prod(shape):
        raise DataError(
            f"{name} has {len(content):,} bytes; expected {start + prod(shape):,} for its shape "
            f"{shape}: the file is truncated or damaged"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def read_idx_dataset(
    source: Path, *, checksums: Mapping[str, str], classes: tuple[str, ...]
) -> Arrays:
    """The four idx files, plain or ``.gz``, from a folder or archive, against their SHA-256."""
    parsed = []
    for name, content in sorted(
        require_files(source, IDX_FILES).items(), key=lambda item: IDX_FILES.index(item[0])
    ):
        parsed.append(parse_idx(content, name=f"{source}: {name}"))
        check_content(f"{source}: {name}", content, checksums[name])
    return checked_arrays(*parsed, classes=classes, origin=str(source))
