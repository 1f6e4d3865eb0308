"""What a run looked like step by step, small enough to put thousands of them on a page."""

import math
from base64 import b64encode
from collections.abc import Hashable, Iterable, Iterator, Sequence
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
_NO_NUMBERS = np.empty(0)


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
    made = [run_classes(summary) for summary in summaries]
    alike: dict[Hashable, list[int]] = {}
    for at, (path, (_, workers)) in enumerate(zip(paths, wanted, strict=True)):
        if path in curves:
            alike.setdefault((workers, *_form(curves[path])), []).append(at)
    for places in alike.values():
        shown = _shown([curves[paths[at]] for at in places], wanted[places[0]][1], spans)
        for at, details in zip(places, shown, strict=True):
            made[at] |= details
    return made


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


def _form(curves: RunCurves) -> tuple[Hashable, ...]:
    """What runs have in common whose curves are made together: many at once cost little more."""
    tested = np.isfinite(curves.numbers.get("accuracy", _NO_NUMBERS))
    arrays = (curves.steps, curves.lengths, tested)
    return (*curves.numbers, *(array.tobytes() for array in arrays), len(curves.weights) > 0)


def _shown(runs: Sequence[RunCurves], workers: int, spans: int) -> list[dict[str, Any]]:
    """The curves of runs of one form as the page has them."""
    made: list[dict[str, Any]] = [{} for _ in runs]
    steps = runs[0].steps
    columns = {name: np.stack([run.numbers[name] for run in runs], 1) for name in runs[0].numbers}
    if (accuracy := columns.get("accuracy")) is not None:
        tested = np.isfinite(accuracy[:, 0])
        curves = _curves(steps[tested], accuracy[tested], 2 * spans, digits=2)
        _put(made, "accuracy", curves)
    if (spread := columns.get("dissimilarity_momenta")) is not None:
        _put(made, "dissimilarity", _curves(steps, spread, spans, digits=None))
    if (cosine := columns.get("cosine")) is not None:
        there = np.flatnonzero(np.isfinite(cosine).any(0))
        curves = _curves(steps, cosine[:, there], spans, digits=3)
        _put([made[at] for at in there], "cosine", curves)
    if len(runs[0].weights):
        _put(made, "weights", _weights(steps, _matrices(runs, workers), spans))
    return made


def _put(made: Sequence[dict[str, Any]], name: str, values: Iterable[Any]) -> None:
    for details, value in zip(made, values, strict=True):
        details[name] = value


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


def _curves(
    steps: NDArray[Any], values: NDArray[Any], most: int, *, digits: int | None
) -> Iterator[list[list[float | None]]]:
    """The curve of each column of values."""
    places = _places(steps, most)
    return ([places, shown] for shown in shortened(span_means(values, most).T, digits))


def _places(steps: NDArray[Any], most: int) -> list[float | None]:
    return list(_places_of(steps.tobytes(), most))


@lru_cache(maxsize=64)
def _places_of(steps: bytes, most: int) -> tuple[float, ...]:
    # Runs of one grid have the same steps.
    shown = span_means(np.frombuffer(steps), most).tolist()
    return tuple(int(step) if step.is_integer() else step for step in shown)


def shortened(values: NDArray[np.float64], digits: int | None) -> list[Any]:
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
    if not finite.all():
        made = made.astype(object)
        made[~finite] = None
    return list(made.tolist())


def _matrices(runs: Sequence[RunCurves], workers: int) -> NDArray[np.float64]:
    """A weight for each step, run and worker; nan where a step has no weights."""
    lengths = runs[0].lengths
    whole = lengths == workers
    made = np.full((len(lengths), len(runs), workers), np.nan)
    kept = np.repeat(whole, lengths)
    for at, run in enumerate(runs):
        made[whole, at] = run.weights[kept].reshape(-1, workers)
    return made


def _weights(
    steps: NDArray[Any], matrices: NDArray[np.float64], spans: int
) -> Iterator[dict[str, Any]]:
    shown = span_means(matrices, spans)
    finite = np.isfinite(shown)
    low = np.where(finite, shown, 0.0).min((0, 2), initial=0.0)
    high = np.where(finite, shown, -np.inf).max((0, 2))
    high[~finite.any((0, 2))] = 1.0
    width = np.where(high == low, 1.0, high - low)
    scaled = (shown - low[:, None]) / width[:, None] * (_MISSING - 1)
    codes = np.where(finite, np.rint(scaled), _MISSING).astype(np.uint8)
    places, lows, highs = _places(steps, spans), shortened(low, None), shortened(high, None)
    for at, (least, most) in enumerate(zip(lows, highs, strict=True)):
        yield {
            "steps": places,
            "workers": matrices.shape[2],
            "low": least,
            "high": most,
            "bytes": b64encode(codes[:, at].tobytes()).decode(),
        }
