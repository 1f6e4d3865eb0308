"""Maps of the weights that workers received: over seeds, in order, honest above Byzantine."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from numpy.typing import NDArray

from wola.report.figure_style import FigureStyle
from wola.report.figures.maps import FROM_NOTHING, OF_BYZANTINE

# As many columns as a panel can show; the weights of more steps are averaged.
_BINS = 75

Weights = NDArray[np.float64]


def weights_of_runs(steps: pl.DataFrame) -> tuple[int, Weights]:
    """The last step that all runs have, and the weights up to there (runs, steps, workers).

    >>> rows = [("a", 1, [0.5, 0.5]), ("a", 2, [1.0, 0.0]), ("b", 1, [0.0, 1.0])]
    >>> steps = pl.DataFrame(rows, schema=["run", "step", "weights"], orient="row")
    >>> last, weights = weights_of_runs(steps)
    >>> last, weights.shape
    (1, (2, 1, 2))
    """
    runs = steps["run"].n_unique()
    shared = steps.group_by("step").len().filter(pl.col("len") == runs)
    kept = steps.join(shared, on="step", how="semi").sort("run", "step")
    numbers = np.asarray(kept["weights"].to_list(), dtype=np.float64)
    return int(kept["step"].to_list()[-1]), numbers.reshape(runs, len(shared), -1)


def mean_weights(weights: Weights, byzantine: int) -> Weights:
    """The mean over runs (steps, workers), each with its workers from most to least weight.

    Worker 3 of one seed is not worker 3 of another: a mean by name would show nothing. Honest
    workers come first, then the Byzantine ones. Those of a single run keep their own order.

    >>> mean_weights(np.asarray([[[0.1, 0.9]], [[0.7, 0.3]]]), 0).round(3)
    array([[0.8, 0.2]])
    """
    if len(weights) == 1:
        only: Weights = weights[0]
        return only
    honest = weights.shape[2] - byzantine
    made = []
    for run in weights:
        heard = run.sum(0)
        order = [*np.argsort(-heard[:honest], kind="stable")]
        order += [honest + place for place in np.argsort(-heard[honest:], kind="stable")]
        made.append(run[:, order])
    mean: Weights = np.mean(made, axis=0)
    return mean


def draw_weights(axes: Axes, steps: pl.DataFrame, byzantine: int, style: FigureStyle) -> str:
    """Draws the weights of some runs, honest workers over Byzantine ones, and tells their share.

    The share is the Byzantine workers' part of all weight in percent: the mean over runs, and the
    lowest and the highest if they differ as printed.
    """
    last, weights = weights_of_runs(steps)
    numbers = mean_weights(weights, byzantine)
    workers = numbers.shape[1]
    border, end = workers - byzantine - 0.5, last + 0.5
    shades = {"vmin": 0.0, "vmax": min(1.0, 3 / workers), "aspect": "auto"}
    parts = (
        (FROM_NOTHING, numbers[:, : workers - byzantine], (0.5, end, border, -0.5)),
        (OF_BYZANTINE, numbers[:, workers - byzantine :], (0.5, end, workers - 0.5, border)),
    )
    for colours, part, extent in parts:
        if part.size:
            image = binned(part).T
            axes.imshow(image, cmap=colours, extent=extent, interpolation="nearest", **shades)
    if byzantine:
        axes.axhline(border, color="black", linewidth=1.6 * style.scale)
    axes.set_ylim(workers - 0.5, -0.5)
    shares = 100 * weights[:, :, workers - byzantine :].sum(2).mean(1)
    mean, low, high = (f"{number:.0f}" for number in (shares.mean(), shares.min(), shares.max()))
    return f"{mean} %" + (f" ({low}\N{EN DASH}{high})" if low != high else "")


def binned(numbers: Weights) -> Weights:
    """Means over equal stretches of steps of (steps, workers), at most as many as can be seen.

    >>> binned(np.arange(300.0)[:, None]).shape
    (75, 1)
    """
    parts = np.array_split(numbers, min(len(numbers), _BINS))
    return np.stack([part.mean(0) for part in parts])
