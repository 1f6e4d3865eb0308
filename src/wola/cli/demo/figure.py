"""The demonstration's picture: accuracy under each attack, and the dissimilarity behind it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wola.cli.demo.plan import Plan, Run
from wola.cli.names import attack_title

# Colours of Okabe and Ito, told apart by every kind of colour vision; in grey the line styles and
# markers tell them apart.
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": "#000000", "linestyle": ":", "marker": "o"},
    {"color": "#E69F00", "linestyle": "--", "marker": "s"},
    {"color": "#0072B2", "linestyle": "-.", "marker": "^"},
    {"color": "#D55E00", "linestyle": "-", "marker": "D"},
)


def demo_figure(plan: Plan, runs: Sequence[Run]) -> Figure:
    """Two rows of panels, one column per attack: accuracy above, dissimilarity below.

    A line is the mean over seeds of the mean over rules; its band goes from the lowest to the
    highest seed.
    """
    width = 2.4 * len(plan.attacks) + 1
    figure = Figure(figsize=(width, 6.2), layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(2, len(plan.attacks), sharex=True, sharey="row", squeeze=False)
    for column, attack in enumerate(plan.attacks):
        for strategy, look in zip(plan.strategies, LOOKS, strict=False):
            chosen = [r for r in runs if (r.cell.attack, r.cell.strategy) == (attack, strategy)]
            _line(grid[0, column], chosen, [r.curve for r in chosen], strategy, look)
            _line(grid[1, column], chosen, [r.dissimilarity for r in chosen], strategy, look)
        grid[0, column].set_title(attack_title(attack))
        grid[1, column].set_xlabel("step")
    grid[0, 0].set_ylabel("test accuracy (%)")
    grid[1, 0].set_ylabel("dissimilarity of\nhonest updates")
    grid[1, 0].set_yscale("log")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(
        f"{plan.dataset}: {plan.byzantine} of {plan.workers} workers Byzantine, "
        f"label mixes from Dir({plan.alpha:g});\n"
        f"mean over {_and(plan.aggregators)} and {len(plan.seeds)} seeds, band from the lowest to "
        "the highest seed"
    )
    return figure


def _line(
    axes: Axes,
    runs: Sequence[Run],
    curves: Sequence[Sequence[float]],
    strategy: str,
    look: dict[str, Any],
) -> None:
    rows = by_seed([r.cell.seed for r in runs], curves)
    steps = runs[0].steps
    label = "- (rule alone)" if strategy == "-" else strategy
    axes.plot(steps, rows.mean(0), label=label, linewidth=1.8, markersize=4, markevery=3, **look)
    axes.fill_between(steps, rows.min(0), rows.max(0), color=look["color"], alpha=0.15, linewidth=0)
    axes.grid(color="0.9", linewidth=0.6)


def by_seed(seeds: Sequence[int], curves: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """One row per seed: the mean of that seed's curves.

    >>> by_seed([1, 1, 2], [[0.0], [2.0], [3.0]])
    array([[1.],
           [3.]])
    """
    values, owners = np.asarray(curves, dtype=np.float64), np.asarray(seeds)
    return np.stack([values[owners == seed].mean(axis=0) for seed in dict.fromkeys(seeds)])


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)
