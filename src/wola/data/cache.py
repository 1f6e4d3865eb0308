"""The cache: one ``.npz`` per dataset, written whole or not at all."""

from pathlib import Path

import numpy as np

from wola.data.arrays import Arrays, DataError, write_arrays
from wola.data.own import read_npz
from wola.ground.files import WriteError
from wola.ground.folders import DATA


def cache_file(name: str, folder: Path) -> Path:
    """Where the dataset ``name`` lies in a cache folder.

    >>> cache_file("mnist", Path("data")).name
    'mnist.npz'
    """
    return folder / f"{name}.npz"


def read_cache(path: Path) -> Arrays:
    """The arrays of a cached dataset; the archive's own checksums are compared on the way."""
    try:
        return read_npz(path)
    except DataError as error:
        raise DataError(
            f"the cached copy is damaged: {error}; fetch it again, or delete the file"
        ) from error


def write_cache(arrays: Arrays, path: Path) -> None:
    """Writes under a temporary name, then renames: a reader sees the old file or the new one.

    >>> from tempfile import TemporaryDirectory
    >>> x, y = np.zeros((2, 3), dtype=np.float32), np.array([0, 1])
    >>> with TemporaryDirectory() as folder:
    ...     write_cache(Arrays(x, y, x, y), Path(folder, "zeros.npz"))
    ...     read_cache(Path(folder, "zeros.npz")).y_train
    array([0, 1])
    """
    named = {part: getattr(arrays, part) for part in ("x_train", "y_train", "x_test", "y_test")}
    try:
        write_arrays(path, {**named, "classes": np.array(arrays.classes, dtype=np.str_)})
    except WriteError as error:
        raise DataError(
            f"cannot write {path}: {error.__cause__}; set {DATA} to a folder with enough space "
            "that may be written"
        ) from error
