"""The figure of the weights that each worker received over training: who was listened to."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wola.ground.names import worker_names
from wola.report.figures.panels import NOTE, SMALL, caption, panel_grid
from wola.report.figures.selection import CannotDraw, described, runs_with, steps_of
from wola.report.figures.styles import FROM_NOTHING, OF_BYZANTINE
from wola.report.figures.training import shared_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names

# As many columns as a panel can show; the weights of more steps are averaged.
_BINS = 75


def weights_figure(
    runs: Runs,
    *,
    dataset: str,
    setting: str = "",
    alpha: float,
    byzantine: int,
    attack: str,
    seed: int | None = None,
) -> Figure:
    r"""The weight :math:`w_i` of each worker's update by step, a row per aggregator.

    The update that the model takes is :math:`\sum_i w_i u_i`, mixing before the aggregator
    included. Honest workers stand above the line, Byzantine ones below it and in another colour;
    white is no weight at all, the darkest three times 1 / n or more. Above each panel stands the
    share of the weight that went to Byzantine workers over all steps; the mean gives f / n. Rules
    that weigh single coordinates have no such weights and are not shown. One seed, the first
    unless told otherwise: with another one the workers hold other data.
    """
    place = {"alpha": alpha, "byzantine": byzantine, "attack": attack}
    here = runs_with(runs, dataset=dataset, setting=setting, **place)
    shown = min(here.table["seed"].to_list()) if seed is None else seed
    there = runs_with(here, seed=shown).table
    steps = steps_of(here, there, ["weights"]).drop_nulls("weights")
    table = there.join(steps, on="run", how="semi")
    shown_rules = short_names(parts_in_order(here.table["aggregator"]))
    if table.is_empty():
        rules = ", ".join(shown_rules.values())
        raise CannotDraw(f"the rules of these runs ({rules}) give no weight to a worker as a whole")
    columns, rows = shared_labels(here, table), parts_in_order(table["aggregator"])
    workers = int(table["workers"][0])
    figure, panels = panel_grid(
        len(rows),
        len(columns),
        panel=(1.4, 0.13 * workers + 0.7),
        sharex=True,
        sharey=True,
        least=7.5,
    )
    names = worker_names(workers, workers - byzantine)
    ticks = sorted({0, workers - byzantine - 1, workers - byzantine, workers - 1})
    for row, rule in enumerate(rows):
        for column, (strategy, label) in enumerate(columns.items()):
            axes = panels[row, column]
            own = steps.filter(strategy=strategy, aggregator=rule).sort("step")
            ran = there.filter(strategy=strategy, aggregator=rule)
            none = "no run" if ran.is_empty() else "no weights"
            told = none if own.is_empty() else draw_weights(axes, own, byzantine)
            axes.set_title(f"{label.split(' (')[0]}\n{told}" if row == 0 else told, fontsize=NOTE)
            axes.tick_params(labelsize=SMALL)
        panels[row, 0].set_yticks(ticks, [names[i] for i in ticks], fontsize=SMALL)
        panels[row, 0].set_ylabel(f"{shown_rules[rule]}\nworker (B: Byzantine)", fontsize=NOTE)
    for axes in panels[-1]:
        axes.set_xlabel("step", fontsize=NOTE)
    honest, others = next(axes for axes in panels.flat if axes.get_images()).get_images()
    for image, name in ((others, "weight, Byzantine"), (honest, "weight, honest")):
        figure.colorbar(image, ax=list(panels.flat), label=name, pad=0.01, aspect=40, extend="max")
    caption(
        figure,
        f"Who was listened to: {described(dataset, setting)} under "
        f"{short_names([attack])[attack]}, alpha = {alpha:g}, f = {byzantine} of "
        f"{workers} workers, seed {shown}",
        [
            "above each panel: the Byzantine workers' share of the weight; equal weights give "
            f"them {100 * byzantine / workers:.0f} %"
        ],
    )
    return figure


def draw_weights(axes: Axes, steps: pl.DataFrame, byzantine: int) -> str:
    """Draws the weights of a run, honest workers over Byzantine ones, and tells their share."""
    numbers = np.asarray(steps["weights"].to_list(), dtype=np.float64)
    workers = numbers.shape[1]
    border, end = workers - byzantine - 0.5, steps["step"].to_list()[-1] + 0.5
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
        axes.axhline(border, color="black", linewidth=2)
    axes.set_ylim(workers - 0.5, -0.5)
    share = 100 * numbers[:, workers - byzantine :].sum(1).mean()
    return f"Byzantine {share:.0f} %"


def binned(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over equal stretches of steps of (steps, workers), at most as many as can be seen.

    >>> binned(np.arange(300.0)[:, None]).shape
    (75, 1)
    """
    parts = np.array_split(numbers, min(len(numbers), _BINS))
    return np.stack([part.mean(0) for part in parts])
