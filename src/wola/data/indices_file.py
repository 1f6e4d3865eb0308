"""The partition that a file gives: indices per worker, as JSON or an .npz."""

import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from torch import Generator, Tensor

from wola.data.arrays import DataError
from wola.data.dataset import Dataset
from wola.data.files import DAMAGED
from wola.data.indices import FromIndices
from wola.data.partition import Partition

KEYS = ("honest", "byzantine")
FORMS = (
    'a .json with a list of indices per worker, or {"honest": [...], "byzantine": [...]}, or an '
    ".npz with one array per worker"
)


@dataclass(frozen=True)
class IndicesFile(Partition):
    """The indices of each worker are read from a file.

    ``path`` is a ``.json`` with one list of indices per worker, the Byzantine workers last, or
    ``{"honest": [...], "byzantine": [...]}`` with such lists; or an ``.npz`` with one array per
    worker, in the order in which they were saved, the Byzantine workers last. See
    :class:`~wola.data.indices.FromIndices`.

    Defaults: `path`: no default.

    Cost: reading the file.

    Reference: none, the user's own.

    >>> import torch
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.json")
    ...     written = path.write_text("[[0, 2], [1]]")
    ...     IndicesFile(path).partition(
    ...         torch.tensor([0, 1, 1]), honest=2, generator=torch.Generator())
    [tensor([0, 2]), tensor([1])]
    """

    path: str | PathLike[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", os.fspath(self.path))

    def partition(
        self,
        labels: Tensor,
        *,
        honest: int,
        byzantine: int = 0,
        classes: int | None = None,
        clients: Tensor | None = None,
        generator: Generator,
    ) -> list[Tensor]:
        """The indices in the file, honest workers first: see :class:`Partition`."""
        given = self._rows()
        if not isinstance(given, Mapping):
            if len(given) != honest + byzantine:
                raise DataError(
                    f"honest + byzantine = {honest + byzantine}; allowed: {len(given)}, the "
                    f"workers in {self.path}"
                )
            given = {"honest": given[:honest], "byzantine": given[honest:]}
        try:
            shards = FromIndices(given["honest"], given.get("byzantine", ()))
            return shards.partition(
                labels, honest=honest, byzantine=byzantine, classes=classes, generator=generator
            )
        except (TypeError, ValueError) as error:
            raise DataError(f"{self.path}: {error}") from error

    def workers(self, dataset: Dataset) -> int:
        """As many as the file has indices for."""
        given = self._rows()
        return sum(map(len, given.values())) if isinstance(given, Mapping) else len(given)

    def files(self) -> list[Path]:
        """The one file."""
        return [Path(self.path).expanduser()]

    def describe(self) -> str:
        """One line that says what the partition means."""
        return f"indices for each worker from {self.path}"

    def _rows(self) -> list[Any] | dict[str, list[Any]]:
        place = self.files()[0]
        readers = {".json": _json_rows, ".npz": _npz_rows}
        if place.suffix.lower() not in readers:
            raise DataError(f"{place} ends in {place.suffix!r}; expected {FORMS}")
        try:
            return readers[place.suffix.lower()](place)
        except (ValueError, KeyError, *DAMAGED) as error:
            raise DataError(f"{place} cannot be read ({error}); expected {FORMS}") from error


def _json_rows(place: Path) -> list[Any] | dict[str, list[Any]]:
    stored = json.loads(place.read_text(encoding="utf-8"))
    if isinstance(stored, dict) and set(stored) <= set(KEYS) and "honest" in stored:
        return {key: _lists(rows) for key, rows in stored.items()}
    return _lists(stored)


def _lists(rows: Any) -> list[Any]:
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ValueError("it is no list of lists")
    return rows


def _npz_rows(place: Path) -> list[Any]:
    if not zipfile.is_zipfile(place):
        raise ValueError("it is no archive of arrays")
    with place.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
        rows = [stored[name] for name in stored.files]
    wrong = [row.shape for row in rows if row.ndim != 1]
    if wrong:
        raise ValueError(f"an array has shape {wrong[0]}, not (N,)")
    return rows
