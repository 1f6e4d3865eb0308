"""The figure of accuracy by class under attack: whom a strategy forgets."""

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from wola.ground.names import counted
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.maps import (
    SEQUENTIAL,
    colour_bar,
    names_along,
    number_map,
    write_numbers,
)
from wola.report.figures.panels import caption, panel_grid, panel_title
from wola.report.figures.selection import (
    described,
    hardest,
    places,
    runs_with,
    summaries_of,
    whole,
)
from wola.report.figures.strategy_styles import line_styles, strategy_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names

_MOST_WRITTEN = 20


def by_place(runs: Runs) -> list[dict[str, Any]]:
    """A case for every dataset and setting, at its hardest place."""
    return [{**place, **hardest(runs_with(runs, **place))} for place in places(runs)]


def classes_figure(
    runs: Runs,
    *,
    dataset: str,
    setting: str = "",
    alpha: float,
    byzantine: int,
    style: FigureStyle = SCREEN,
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
    width = max(3.0, 0.33 * len(names) + 0.9) if few else 4.5
    across = min(style.across(len(columns), width), 2 if few else 1)
    if style.height is not None:
        across = -(-len(columns) // 2)
    panel = (width, 0.24 * len(strategies) + 0.5)
    options: dict[str, Any] = {"sharex": True, "sharey": True, "least": 7.0}
    down = -(-len(columns) // across)
    figure, panels = panel_grid(style, down, across, panel=panel, **options)
    for axes, attack in zip(panels.flat, columns, strict=False):
        numbers = np.stack(
            [
                _means(table.filter(strategy=strategy, attack=attack), by_run, len(names))
                for strategy in strategies
            ]
        )
        number_map(axes, numbers, colours=SEQUENTIAL, limits=(0.0, 100.0))
        if few:
            write_numbers(axes, numbers, form=".0f", size=style.number)
        panel_title(axes, shown[attack], style)
    for axes in panels.flat[len(columns) :]:
        axes.set_axis_off()
    panels[0, 0].set_yticks(range(len(strategies)), [labels[s] for s in strategies])
    for axes in panels.flat:
        axes.tick_params(labelsize=style.small)
    for column in panels.T:
        lowest = [axes for axes in column if axes.axison][-1]
        lowest.set_xlabel("class")
        lowest.tick_params(labelbottom=True)
        if few:
            names_along(lowest, names, style)
    colour_bar(
        figure,
        panels[0, 0].get_images()[0],
        panels.flat,
        style,
        label="accuracy (%)",
    )
    rules = counted(table["aggregator"].n_unique(), "aggregator")
    caption(
        figure,
        style,
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
