"""The figure of accuracy and dissimilarity over training, for each aggregator."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from wola.ground.names import counted
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.panels import (
    GRID,
    caption,
    few_ticks,
    panel_grid,
    panel_title,
    share_legend,
)
from wola.report.figures.selection import (
    described,
    hardest,
    places,
    runs_with,
    steps_of,
    whole,
)
from wola.report.figures.strategy_styles import LineStyle, line_styles, strategy_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names

#: How much of its colour a band over seeds has.
BAND = 0.14

_METRICS = {
    "accuracy": "test accuracy (%)",
    "dissimilarity_momenta": "dissimilarity of\nhonest momenta",
}
_PANEL = (2.5, 2.1)


def by_attack(runs: Runs) -> list[dict[str, Any]]:
    """A case for every dataset, setting and attack, at its hardest place."""
    return [
        {**place, **hardest(runs_with(here, attack=attack)), "attack": attack}
        for place in places(runs)
        for here in [runs_with(runs, **place)]
        for attack in parts_in_order(here.table.filter(pl.col("byzantine") > 0)["attack"])
    ]


def training_figure(
    runs: Runs,
    *,
    dataset: str,
    setting: str = "",
    alpha: float,
    byzantine: int,
    attack: str,
    style: FigureStyle = SCREEN,
) -> Figure:
    """Test accuracy and the honest workers' dissimilarity by step, for each strategy and rule.

    A line is the mean over seeds, at the steps that all of them have, and its band reaches from
    the lowest seed to the highest; one seed is a line alone. The dissimilarity is that of the
    momenta, which is what the rule sees. Rules stand side by side where there is room, else one
    below the other. Strategies with the same runs share a line. After the WoLA paper's figure of
    training under ALIE and LF.
    """
    here = runs_with(runs, dataset=dataset, setting=setting)
    place = {"alpha": alpha, "byzantine": byzantine, "attack": attack}
    runs_with(here, **place)
    table, notes = whole(here, by=("aggregator", "attack"), **place)
    steps = steps_of(here, table, list(_METRICS))
    rules, labels = parts_in_order(table["aggregator"]), shared_labels(here, table)
    shown = {**short_names(rules), **short_names([attack])}
    turned = style.across(len(rules), _PANEL[0]) < len(rules)
    shape = (len(rules), len(_METRICS)) if turned else (len(_METRICS), len(rules))
    share = "col" if turned else "row"
    figure, drawn = panel_grid(
        style, *shape, panel=_PANEL, sharex=True, sharey=share, least=6.5, shaped=True
    )
    # A row per metric and a column per rule, wherever they stand.
    panels = drawn.T if turned else drawn
    styles = line_styles(table["strategy"])
    for row, metric in enumerate(_METRICS):
        for column, rule in enumerate(rules):
            lines = steps.filter(aggregator=rule)
            for rank, (strategy, label) in enumerate(labels.items()):
                found = seed_band(lines.filter(strategy=strategy), metric)
                line(panels[row, column], found, styles[strategy], style, label=label, rank=rank)
    if (steps["dissimilarity_momenta"] > 0).any():
        panels[1, 0].set_yscale("log")
        panels[1, 0].yaxis.set_minor_locator(NullLocator())
    few_ticks(panels.flat, style)
    name_rows_and_columns(
        drawn,
        rows=[shown[rule] for rule in rules] if turned else list(_METRICS.values()),
        columns=list(_METRICS.values()) if turned else [shown[rule] for rule in rules],
        style=style,
    )
    share_legend(figure, panels.flat, style)
    caption(
        figure,
        style,
        f"{described(dataset, setting)} under {shown[attack]}, alpha = {alpha:g}, f = {byzantine} "
        f"of {table['workers'][0]} workers: {mean_and_band(table['seed'].n_unique())}",
        [*notes, ended_early(table)],
    )
    return figure


def name_rows_and_columns(
    panels: NDArray[Any], *, rows: list[str], columns: list[str], style: FigureStyle
) -> None:
    """Writes what rows are about on the left, what columns are about on top, and steps below."""
    for axes, text in zip(panels[0], columns, strict=True):
        panel_title(axes, text, style)
    for axes, text in zip(panels[:, 0], rows, strict=True):
        axes.set_ylabel(text)
    for axes in panels[-1]:
        axes.set_xlabel("step")


def mean_and_band(seeds: int) -> str:
    """What a line and its band are, in words.

    >>> mean_and_band(1), mean_and_band(3)
    ('1 seed', 'mean of 3 seeds, band from the lowest to the highest')
    """
    return "1 seed" if seeds == 1 else f"mean of {seeds} seeds, band from the lowest to the highest"


def seed_band(steps: pl.DataFrame, name: str) -> pl.DataFrame:
    """By step the `mean`, `low` and `high` of the runs, at the steps where each has the number.

    >>> steps = pl.DataFrame({"run": ["a", "b", "a"], "step": [1, 1, 2], "loss": [3.0, 5.0, 1.0]})
    >>> seed_band(steps, "loss").rows()
    [(1, 4.0, 3.0, 5.0)]
    """
    value = pl.col(name)
    found = (
        steps.drop_nulls(name)
        .group_by("step")
        .agg(mean=value.mean(), low=value.min(), high=value.max(), count=pl.len())
    )
    return found.filter(count=steps["run"].n_unique()).sort("step").drop("count")


def line(
    axes: Axes,
    found: pl.DataFrame,
    look: LineStyle,
    style: FigureStyle,
    *,
    label: str,
    rank: int = 0,
) -> None:
    """Draws a mean with five markers or so, which lines of other ranks have elsewhere, and a band.

    Where the runs nowhere differ, as one run does not, there is no band.
    """
    axes.grid(**GRID)
    if found.is_empty():
        return
    x = found["step"].to_list()
    every = max(1, len(x) // 5)
    marks = slice(rank * every // 8, None, every)
    sizes: dict[str, Any] = {"linewidth": 1.5 * style.scale, "markersize": 4.5 * style.scale}
    axes.plot(x, found["mean"].to_list(), label=label, markevery=marks, **sizes, **look)
    if (found["high"] > found["low"]).any():
        low, high = found["low"].to_list(), found["high"].to_list()
        axes.fill_between(x, low, high, color=look["color"], alpha=BAND, linewidth=0)


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
