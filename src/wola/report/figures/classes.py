"""The figure of accuracy by class under attack: whom a strategy forgets."""

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from wola.ground.names import counted
from wola.report.figures.panels import NOTE, SMALL, caption, panel_grid
from wola.report.figures.selection import (
    described,
    hardest,
    places,
    runs_with,
    summaries_of,
    whole,
)
from wola.report.figures.styles import SEQUENTIAL, line_styles, strategy_labels, write_numbers
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names

_MOST_WRITTEN = 20


def by_place(runs: Runs) -> list[dict[str, Any]]:
    """A case for every dataset and setting, at its hardest place."""
    return [{**place, **hardest(runs_with(runs, **place))} for place in places(runs)]


def classes_figure(
    runs: Runs, *, dataset: str, setting: str = "", alpha: float, byzantine: int
) -> Figure:
    """Accuracy of each class at the end of training, by strategy, a panel per attack.

    A number is the mean over aggregators and seeds. A class without test samples has no number.
    """
    here = runs_with(runs, dataset=dataset, setting=setting)
    place = {"alpha": alpha, "byzantine": byzantine}
    runs_with(here, **place)
    table, notes = whole(here, by=("attack",), **place)
    by_run = summaries_of(here, table, "class_accuracies")
    names = [str(n) for n in summaries_of(here, table[:1], "classes")[table["run"][0]]]
    columns, strategies = parts_in_order(table["attack"]), list(line_styles(table["strategy"]))
    shown, labels = short_names(columns), strategy_labels(here)
    few = len(names) <= _MOST_WRITTEN
    width = 0.33 * len(names) + 0.9 if few else 4.5
    across = min(len(columns), 2 if few else 1)
    down = -(-len(columns) // across)
    figure, panels = panel_grid(
        down, across, panel=(max(3.0, width), 0.24 * len(strategies) + 0.8), least=7.0
    )
    for number, axes in enumerate(panels.flat):
        if number >= len(columns):
            axes.set_axis_off()
            continue
        attack = columns[number]
        numbers = np.stack(
            [
                _means(table.filter(strategy=strategy, attack=attack), by_run, len(names))
                for strategy in strategies
            ]
        )
        axes.imshow(numbers, cmap=SEQUENTIAL, vmin=0, vmax=100, aspect="auto")
        axes.set_facecolor("0.85")
        if few:
            write_numbers(axes, numbers, form=".0f", size=7)
            turned = max(len(name) for name in names) > 2
            ends = {"rotation": 40, "ha": "right"} if turned else {}
            axes.set_xticks(range(len(names)), names, fontsize=SMALL, **ends)
        axes.set_yticks(range(len(strategies)), [labels[s] for s in strategies], fontsize=SMALL)
        axes.set_title(shown[attack], fontsize=NOTE + 1)
        if number >= len(columns) - across:
            axes.set_xlabel("class")
    figure.colorbar(
        panels[0, 0].get_images()[0],
        ax=list(panels.flat),
        label="accuracy of the class (%)",
        pad=0.01,
    )
    rules = counted(table["aggregator"].n_unique(), "aggregator")
    caption(
        figure,
        f"{described(dataset, setting)}, alpha = {alpha:g}, f = {byzantine} of "
        f"{table['workers'][0]} workers: accuracy by class at the end, mean of {rules} and "
        f"{counted(table['seed'].n_unique(), 'seed')}",
        notes,
    )
    return figure


def _means(table: pl.DataFrame, by_run: dict[str, Any], classes: int) -> Any:
    """The mean over runs of each class (C,); nan where there are no runs, or no samples."""
    rows = [by_run[run] for run in table["run"]]
    if not rows:
        return np.full(classes, np.nan)
    return np.asarray(rows, dtype=np.float64).mean(0)
