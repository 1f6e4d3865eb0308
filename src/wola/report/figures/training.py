"""The figure of accuracy and dissimilarity over training, a column per aggregator."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from wola.ground.names import counted
from wola.report.figures.panels import NOTE, caption, panel_grid, share_legend
from wola.report.figures.selection import (
    described,
    hardest,
    places,
    runs_with,
    steps_of,
    whole,
)
from wola.report.figures.styles import Style, line_styles, strategy_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names

_ROWS = {
    "accuracy": "test accuracy (%)",
    "dissimilarity_momenta": "dissimilarity of\nhonest momenta",
}


def by_attack(runs: Runs) -> list[dict[str, Any]]:
    """A case for every dataset, setting and attack, at its hardest place."""
    return [
        {**place, **hardest(runs_with(here, attack=attack)), "attack": attack}
        for place in places(runs)
        for here in [runs_with(runs, **place)]
        for attack in parts_in_order(here.table.filter(pl.col("byzantine") > 0)["attack"])
    ]


def training_figure(
    runs: Runs, *, dataset: str, setting: str = "", alpha: float, byzantine: int, attack: str
) -> Figure:
    """Test accuracy above, the honest workers' dissimilarity below, by step, for each strategy.

    A line is the mean over seeds, at the steps that all of them have; the dissimilarity is that
    of the momenta, which is what the rule sees. Strategies with the same runs share a line. After
    the WoLA paper's figure of training under ALIE and LF.
    """
    here = runs_with(runs, dataset=dataset, setting=setting)
    place = {"alpha": alpha, "byzantine": byzantine, "attack": attack}
    runs_with(here, **place)
    table, notes = whole(here, by=("aggregator", "attack"), **place)
    steps = steps_of(here, table, list(_ROWS))
    rules, labels = parts_in_order(table["aggregator"]), shared_labels(here, table)
    shown = {**short_names(rules), **short_names([attack])}
    figure, panels = panel_grid(
        2, len(rules), panel=(2.5, 2.1), sharex=True, sharey="row", least=6.5
    )
    styles = line_styles(table["strategy"])
    for (row, column), axes in ((place, panels[place]) for place in _places(panels.shape)):
        lines = steps.filter(aggregator=rules[column])
        for rank, (strategy, label) in enumerate(labels.items()):
            x, y = mean_line(lines.filter(strategy=strategy), list(_ROWS)[row])
            line(axes, x, y, styles[strategy], label=label, rank=rank)
    for column, rule in enumerate(rules):
        panels[0, column].set_title(shown[rule], fontsize=NOTE + 1)
        panels[1, column].set_xlabel("step")
    for row, label in enumerate(_ROWS.values()):
        panels[row, 0].set_ylabel(label)
    if (steps["dissimilarity_momenta"] > 0).any():
        panels[1, 0].set_yscale("log")
        panels[1, 0].yaxis.set_minor_locator(NullLocator())
    share_legend(figure, panels.flat)
    caption(
        figure,
        f"{described(dataset, setting)} under {shown[attack]}, alpha = {alpha:g}, f = {byzantine} "
        f"of {table['workers'][0]} workers: mean of {counted(table['seed'].n_unique(), 'seed')}",
        [*notes, ended_early(table)],
    )
    return figure


def mean_line(steps: pl.DataFrame, name: str) -> tuple[list[int], list[float]]:
    """Steps and mean over runs, at the steps where every run has the number."""
    means = steps.drop_nulls(name).group_by("step").agg(pl.col(name).mean(), count=pl.len())
    means = means.filter(count=steps["run"].n_unique()).sort("step")
    return means["step"].to_list(), means[name].to_list()


def line(
    axes: Axes, x: list[int], y: list[float], style: Style, *, label: str, rank: int = 0
) -> None:
    """Draws a line with five markers or so, which lines of other ranks have elsewhere."""
    axes.grid(color="0.9", linewidth=0.6)
    if not x:
        return
    every = max(1, len(x) // 5)
    marks = slice(rank * every // 8, None, every)
    axes.plot(x, y, label=label, linewidth=1.5, markersize=5, markevery=marks, **style)


def shared_labels(runs: Runs, table: pl.DataFrame) -> dict[str, str]:
    """The strategies of a table to draw and their labels: one for those with the same runs."""
    labels = strategy_labels(runs)
    owners: dict[tuple[str, ...], list[str]] = {}
    for strategy in line_styles(table["strategy"]):
        found = tuple(table.filter(strategy=strategy)["run"].sort())
        owners.setdefault(found, []).append(strategy)
    # A lone sign is clear beside another name.
    return {
        names[0]: labels[names[0]]
        if len(names) == 1
        else " and ".join("-" if name == "-" else labels[name] for name in names)
        for names in owners.values()
    }


def ended_early(table: pl.DataFrame) -> str:
    """A note on lines that stop where a run of theirs ended; nothing if none did."""
    early = table.filter(pl.col("ending") != "finished")["run"].n_unique()
    if not early:
        return ""
    ended = f"{counted(early, 'run')} of {table['run'].n_unique()} ended early"
    return f"{ended}: a line stops where the first of its runs does"


def _places(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(row, column) for row in range(shape[0]) for column in range(shape[1])]
