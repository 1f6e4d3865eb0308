"""The metrics of many runs, read together: a table of each costs more to open than to read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PanicException, PolarsError

#: The file of a run's metrics.
METRICS = "metrics.parquet"

#: So many files are read at once.
AT_ONCE = 200

_NUMBERS = ("accuracy", "dissimilarity_momenta", "cosine")
_FILE = "file of the run"


@dataclass(frozen=True, eq=False)
class RunCurves:
    """What was measured in a run: `steps`, numbers by name, and the weights of all steps.

    A number that is missing is nan. `weights` are those of one step after the other, and `lengths`
    says how many of them each step has.
    """

    steps: NDArray[np.float64]
    numbers: Mapping[str, NDArray[np.float64]]
    weights: NDArray[np.float64]
    lengths: NDArray[np.int64]


def read_curves(paths: Sequence[Path]) -> dict[Path, RunCurves]:
    """The curves in some files of metrics; what cannot be read is left out.

    >>> read_curves([Path("nowhere")])
    {}
    """
    made: dict[Path, RunCurves] = {}
    for start in range(0, len(paths), AT_ONCE):
        some = paths[start : start + AT_ONCE]
        try:
            made |= _together(some)
        except (PolarsError, PanicException, OSError, ValueError):
            # Files with other columns, or one that is damaged: each on its own.
            for path in some if len(some) > 1 else ():
                made |= read_curves([path])
    return made


def _together(paths: Sequence[Path]) -> dict[Path, RunCurves]:
    files = pl.scan_parquet(list(paths), glob=False, include_file_paths=_FILE)
    there = files.collect_schema()
    names = ["step", *(name for name in (*_NUMBERS, "weights") if name in there)]
    table = files.select(*names, _FILE).collect()
    steps = _floats(table["step"])
    numbers = {name: _floats(table[name]) for name in names if name in _NUMBERS}
    weights, lengths = _lists(table["weights"]) if "weights" in names else _none(len(table))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    made, start = {}, 0
    for length, path in table[_FILE].rle().struct.unnest().iter_rows():
        end = start + length
        cut = {name: values[start:end] for name, values in numbers.items()}
        some = weights[ends[start] : ends[end]]
        made[Path(path)] = RunCurves(steps[start:end], cut, some, lengths[start:end])
        start = end
    return made


def _floats(column: pl.Series) -> NDArray[np.float64]:
    return np.asarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)


def _lists(column: pl.Series) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The numbers of all lists one after the other, and how many each row has."""
    lengths = column.list.len().fill_null(0).cast(pl.Int64).to_numpy()
    return _floats(column.drop_nulls().explode(empty_as_null=False)), lengths


def _none(rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.empty(0), np.zeros(rows, dtype=np.int64)
