"""What a run looked like step by step, small enough to put thousands of them on a page."""

import math
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from wola.bench.run_files import metrics_in
from wola.ground.sealed import Damaged

#: At most so many tests and so many spans of steps are kept of a run.
TESTS, SPANS = 120, 60

_MISSING = 255


def run_curves(folder: Path, workers: int) -> dict[str, Any]:
    """The curves of a run, read from its folder; none if its metrics are not as written.

    `accuracy` and `dissimilarity` are lists of steps and of values. `weights` has a byte per span
    of steps and worker, in base64: 0 to 254 stand for `low` to `high`, 255 for no weight. Long
    runs are cut into spans of equal length, each shown by its mean.
    """
    try:
        table = metrics_in(folder)
        steps = table["step"].to_numpy().astype(float)
    except (OSError, PolarsError, Damaged):
        return {}
    made: dict[str, Any] = {}
    if "accuracy" in table.columns:
        accuracy = table["accuracy"].cast(pl.Float64).to_numpy()
        tested = np.isfinite(accuracy)
        made["accuracy"] = _curve(steps[tested], accuracy[tested], TESTS, digits=2)
    if "dissimilarity_momenta" in table.columns:
        values = table["dissimilarity_momenta"].cast(pl.Float64).to_numpy()
        made["dissimilarity"] = _curve(steps, values, SPANS, digits=None)
    if "weights" in table.columns and table["weights"].null_count() < len(table):
        made["weights"] = _weights(steps, _matrix(table["weights"], workers))
    return made


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
    places = [int(step) if step.is_integer() else step for step in span_means(steps, most).tolist()]
    return [places, [_short(value, digits) for value in shown]]


def _short(value: float, digits: int | None) -> float | None:
    if not math.isfinite(value):
        return None
    return float(f"{value:.4g}") if digits is None else round(value, digits)


def _matrix(weights: pl.Series, workers: int) -> NDArray[np.float64]:
    """A row per step and a column per worker; nan where a step has no weights."""
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
    places = [
        int(step) if step.is_integer() else step for step in span_means(steps, SPANS).tolist()
    ]
    return {
        "steps": places,
        "workers": matrix.shape[1],
        "low": _short(low, None),
        "high": _short(high, None),
        "bytes": b64encode(codes.tobytes()).decode(),
    }
