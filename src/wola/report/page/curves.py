"""What a run looked like step by step, small enough to put thousands of them on a page."""

import math
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wola.bench.run_files import summary_in
from wola.ground.sealed import Damaged
from wola.report.page.metrics_files import METRICS, RunCurves, read_curves

#: At most so many spans of steps are kept of a run, and twice as many tests.
SPANS = 60

#: So many digits count where values may have any size.
COUNTING = 4

#: Of more classes than these, a page shows no table of who is taken for whom.
MOST_CLASSES = 30

_MISSING = 255


def run_details(folder: Path, workers: int) -> dict[str, Any]:
    """What the page shows of one run beside its row: see `many_details`."""
    return many_details([(folder, workers)])[0]


def many_details(wanted: Sequence[tuple[Path, int]], spans: int = SPANS) -> list[dict[str, Any]]:
    """What the page shows of runs beside their rows, from their folders and counts of workers.

    `accuracy`, `dissimilarity` and `cosine` are lists of steps and of values. `weights` has a byte
    per span of steps and worker, in base64: 0 to 254 stand for `low` to `high`, 255 for no weight.
    Long runs are cut into so many `spans` of equal length, each shown by its mean, and their tests
    into twice as many. `classes` has the names
    and the accuracies of the classes, `confusion` how often each was taken for each. Of damaged
    files nothing is shown.
    """
    summaries = [_summary(folder) for folder, _ in wanted]
    paths = [folder / METRICS for folder, _ in wanted]
    digests = [summary.get("metrics_sha256") for summary in summaries]
    intact = [p for p, digest in zip(paths, digests, strict=True) if _is_intact(p, digest)]
    curves = read_curves(intact)
    return [
        {**run_classes(summary), **_shown(curves.get(path), workers, spans)}
        for path, summary, (_, workers) in zip(paths, summaries, wanted, strict=True)
    ]


def _summary(folder: Path) -> dict[str, Any]:
    try:
        return summary_in(folder)
    except (OSError, Damaged):
        return {}


def _is_intact(path: Path, digest: object) -> bool:
    try:
        return sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        return False


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


def _shown(curves: RunCurves | None, workers: int, spans: int) -> dict[str, Any]:
    """The curves of a run as the page has them."""
    if curves is None:
        return {}
    made: dict[str, Any] = {}
    steps = curves.steps
    if (accuracy := curves.numbers.get("accuracy")) is not None:
        tested = np.isfinite(accuracy)
        made["accuracy"] = _curve(steps[tested], accuracy[tested], 2 * spans, digits=2)
    if (spread := curves.numbers.get("dissimilarity_momenta")) is not None:
        made["dissimilarity"] = _curve(steps, spread, spans, digits=None)
    cosine = curves.numbers.get("cosine")
    if cosine is not None and np.isfinite(cosine).any():
        made["cosine"] = _curve(steps, cosine, spans, digits=3)
    if len(curves.weights):
        made["weights"] = _weights(steps, _matrix(curves, workers), spans)
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
    return [_places(steps, most), shortened(span_means(values, most), digits)]


def _places(steps: NDArray[Any], most: int) -> list[float | None]:
    return list(_places_of(steps.tobytes(), most))


@lru_cache(maxsize=64)
def _places_of(steps: bytes, most: int) -> tuple[float, ...]:
    # Runs of one grid have the same steps.
    shown = span_means(np.frombuffer(steps), most).tolist()
    return tuple(int(step) if step.is_integer() else step for step in shown)


def shortened(values: NDArray[np.float64], digits: int | None) -> list[float | None]:
    """Numbers with so many digits after the point, or with four that count; None if not finite.

    >>> shortened(np.array([12.3456, np.nan]), 2), shortened(np.array([0.0123456, 0.0]), None)
    ([12.35, None], [0.01235, 0.0])
    """
    finite = np.isfinite(values)
    known = np.where(finite, values, 0.0)
    if digits is not None:
        made = np.round(known, digits)
    else:
        size = np.log10(np.abs(known), out=np.zeros_like(known), where=known != 0)
        after = COUNTING - 1 - np.floor(size)
        # Divided by a power of ten that is exact, a whole number comes out as it is written.
        up, down = 10.0 ** np.maximum(after, 0), 10.0 ** np.maximum(-after, 0)
        made = np.rint(known * up / down) * down / up
    if finite.all():
        return list(made.tolist())
    return [value if there else None for value, there in zip(made.tolist(), finite, strict=True)]


def _matrix(curves: RunCurves, workers: int) -> NDArray[np.float64]:
    """A row per step and a column per worker; nan where a step has no weights."""
    made = np.full((len(curves.lengths), workers), np.nan)
    whole = curves.lengths == workers
    made[whole] = curves.weights[np.repeat(whole, curves.lengths)].reshape(-1, workers)
    return made


def _weights(steps: NDArray[Any], matrix: NDArray[np.float64], spans: int) -> dict[str, Any]:
    shown = span_means(matrix, spans)
    finite = shown[np.isfinite(shown)]
    low, high = (float(min(0, finite.min())), float(finite.max())) if finite.size else (0.0, 1.0)
    scaled = (shown - low) / ((high - low) or 1.0) * (_MISSING - 1)
    codes = np.where(np.isfinite(scaled), np.rint(scaled), _MISSING).astype(np.uint8)
    return {
        "steps": _places(steps, spans),
        "workers": matrix.shape[1],
        "low": shortened(np.array([low]), None)[0],
        "high": shortened(np.array([high]), None)[0],
        "bytes": b64encode(codes.tobytes()).decode(),
    }
