"""What a run looked like step by step, small enough to put thousands of them on a page."""

import math
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from wola.bench.run_files import summary_in
from wola.ground.sealed import Damaged, check_digest
from wola.ground.tables import read_table

#: At most so many tests and so many spans of steps are kept of a run.
TESTS, SPANS = 120, 60

#: Of more classes than these, a page shows no table of who is taken for whom.
MOST_CLASSES = 30

_MISSING = 255


def run_details(folder: Path, workers: int) -> dict[str, Any]:
    """What the page shows of a run beside its row, read from its folder; nothing of damaged files.

    `accuracy`, `dissimilarity` and `cosine` are lists of steps and of values. `weights` has a byte
    per span of steps and worker, in base64: 0 to 254 stand for `low` to `high`, 255 for no weight.
    Long runs are cut into spans of equal length, each shown by its mean. `classes` has the names
    and the accuracies of the classes, `confusion` how often each was taken for each.
    """
    try:
        summary = summary_in(folder)
    except (OSError, Damaged):
        return {}
    return {**run_classes(summary), **_curves(folder, summary.get("metrics_sha256"), workers)}


def run_classes(summary: dict[str, Any]) -> dict[str, Any]:
    """What the final model of a run gets right and wrong, from its summary.

    >>> run_classes({"classes": ["a", "b"], "class_accuracies": [75.0, None]})
    {'classes': {'names': ['a', 'b'], 'accuracies': [75.0, None]}}
    """
    classes, rates = summary.get("classes"), summary.get("class_accuracies")
    if not classes or not rates or len(classes) != len(rates):
        return {}
    shown = [None if rate is None else round(float(rate), 2) for rate in rates]
    made: dict[str, Any] = {"classes": {"names": list(map(str, classes)), "accuracies": shown}}
    confusion = summary.get("confusion")
    if confusion and len(confusion) == len(classes) <= MOST_CLASSES:
        made["confusion"] = confusion
    return made


def _curves(folder: Path, digest: Any, workers: int) -> dict[str, Any]:
    path = folder / "metrics.parquet"
    try:
        table = read_table(check_digest(path, path.read_bytes(), digest))
        steps = table["step"].to_numpy().astype(float)
    except (OSError, PolarsError, Damaged):
        return {}
    made: dict[str, Any] = {}
    if "accuracy" in table.columns:
        accuracy = _numbers(table["accuracy"])
        tested = np.isfinite(accuracy)
        made["accuracy"] = _curve(steps[tested], accuracy[tested], TESTS, digits=2)
    if "dissimilarity_momenta" in table.columns:
        values = _numbers(table["dissimilarity_momenta"])
        made["dissimilarity"] = _curve(steps, values, SPANS, digits=None)
    if "cosine" in table.columns and table["cosine"].null_count() < len(table):
        made["cosine"] = _curve(steps, _numbers(table["cosine"]), SPANS, digits=3)
    if "weights" in table.columns and table["weights"].null_count() < len(table):
        made["weights"] = _weights(steps, _matrix(table["weights"], workers))
    return made


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """A column of numbers; nan where there is none."""
    if column.dtype != pl.Float64:
        column = column.cast(pl.Float64)
    return np.asarray(column.to_numpy(), dtype=np.float64)


def span_means(values: NDArray[Any], most: int) -> NDArray[np.float64]:
    """Means of the finite values of equal spans of rows, at most `most` spans; nan where none is.

    >>> span_means(np.array([1.0, 3.0, 5.0, np.nan, 9.0]), 3).tolist()
    [2.0, 5.0, 9.0]
    """
    length = math.ceil(len(values) / most)
    if length <= 1:
        return np.asarray(values, dtype=np.float64)
    starts = np.arange(0, len(values), length)
    there = np.isfinite(values)
    totals = np.add.reduceat(np.where(there, values, 0.0), starts, axis=0)
    counts = np.add.reduceat(there, starts, axis=0, dtype=int)
    made = np.full(totals.shape, np.nan)
    np.divide(totals, counts, out=made, where=counts > 0)
    return made


def _curve(
    steps: NDArray[Any], values: NDArray[Any], most: int, *, digits: int | None
) -> list[list[float | None]]:
    shown = span_means(values, most).tolist()
    return [_places(steps, most), [_short(value, digits) for value in shown]]


def _places(steps: NDArray[Any], most: int) -> list[float | None]:
    return [int(step) if step.is_integer() else step for step in span_means(steps, most).tolist()]


def _short(value: float, digits: int | None) -> float | None:
    if not math.isfinite(value):
        return None
    return float(f"{value:.4g}") if digits is None else round(value, digits)


def _matrix(weights: pl.Series, workers: int) -> NDArray[np.float64]:
    """A row per step and a column per worker; nan where a step has no weights."""
    if not weights.null_count():
        flat = weights.explode().to_numpy()
        if len(flat) == len(weights) * workers and weights.list.len().n_unique() == 1:
            return np.asarray(flat, dtype=np.float64).reshape(-1, workers)
    whole = (weights.list.len() == workers).fill_null(False).to_numpy()
    made = np.full((len(weights), workers), np.nan)
    made[whole] = weights.filter(pl.Series(whole)).explode().to_numpy().reshape(-1, workers)
    return made


def _weights(steps: NDArray[Any], matrix: NDArray[np.float64]) -> dict[str, Any]:
    shown = span_means(matrix, SPANS)
    finite = shown[np.isfinite(shown)]
    low, high = (float(min(0, finite.min())), float(finite.max())) if finite.size else (0.0, 1.0)
    scaled = (shown - low) / ((high - low) or 1.0) * (_MISSING - 1)
    codes = np.where(np.isfinite(scaled), np.rint(scaled), _MISSING).astype(np.uint8)
    return {
        "steps": _places(steps, SPANS),
        "workers": matrix.shape[1],
        "low": _short(low, None),
        "high": _short(high, None),
        "bytes": b64encode(codes.tobytes()).decode(),
    }
