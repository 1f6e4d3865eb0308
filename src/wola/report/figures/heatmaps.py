"""The heat maps of batch size against momentum: WoLA, NNM, and the difference."""

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wola.ground.names import counted
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.maps import (
    DIVERGING,
    SEQUENTIAL,
    colour_bar,
    number_map,
    write_counts,
    write_numbers,
)
from wola.report.figures.panels import caption, panel_grid, panel_title
from wola.report.figures.selection import (
    CannotDraw,
    attacked,
    described,
    is_sweep,
    runs_with,
)
from wola.report.figures.strategy_styles import strategy_labels
from wola.report.runs import Runs, values
from wola.report.settings import SWEPT
from wola.report.short_names import short_names

_PAIR = ("WoLA", "NNM")
_PLACE = ("dataset", "rest", "byzantine", "attack", "aggregator")


def heatmaps_cases(runs: Runs) -> list[dict[str, Any]]:
    """Every place where batch and momentum were varied, for WoLA and NNM."""
    table = attacked(runs).table.filter(pl.col("strategy").is_in(_PAIR))
    return [
        dict(zip(_PLACE, place, strict=True))
        for place, found in sorted(table.group_by(_PLACE), key=lambda item: item[0])
        if is_sweep(found.select(SWEPT).unique().iter_rows()) and found["strategy"].n_unique() == 2
    ]


def heatmaps_figure(
    runs: Runs,
    *,
    dataset: str,
    rest: str = "",
    byzantine: int,
    attack: str,
    aggregator: str,
    pair: tuple[str, str] = _PAIR,
    style: FigureStyle = SCREEN,
) -> Figure:
    """Accuracy over training by batch size and momentum, a row per alpha.

    All accuracies share one scale of colours, and all differences another. `rest` is the setting
    apart from batch and momentum. A cell is the mean over seeds; one that lacks a seed has no
    colour and says how many there are. After the WoLA paper's heat maps.
    """
    at = {"dataset": dataset, "byzantine": byzantine, "attack": attack, "aggregator": aggregator}
    here = runs_with(runs_with(runs, **at).where(strategy=pair), rest=rest)
    labels = strategy_labels(here)
    alphas, seeds = sorted(values(here, "alpha"), reverse=True), values(here, "seed")
    batches, betas = sorted(values(here, "batch"), reverse=True), values(here, "beta")
    axes_of = {"batch": batches, "beta": betas}
    maps = {
        (alpha, name): _map(here.table.filter(alpha=alpha, strategy=name), axes_of, len(seeds))
        for alpha in alphas
        for name in pair
    }
    differences = {a: maps[a, pair[0]][0] - maps[a, pair[1]][0] for a in alphas}
    known = np.concatenate([d[~np.isnan(d)] for d in differences.values()])
    if not len(known):
        raise CannotDraw(
            f"no batch and momentum has all {counted(len(seeds), 'seed')} for {' and '.join(pair)}"
        )
    reach = max(float(np.abs(known).max()), 0.1)
    accuracies = np.concatenate([numbers.ravel() for numbers, _ in maps.values()])
    limits = (float(np.nanmin(accuracies)), float(np.nanmax(accuracies)))
    # Three maps side by side in a column leave room for whole numbers alone.
    form = ".0f" if style.narrow else ".1f"
    expected = np.full((len(batches), len(betas)), len(seeds))
    panel = (max(2.1, 0.5 * len(betas) + 0.4), 0.34 * len(batches) + 0.45)
    options: dict[str, Any] = {"panel": panel, "sharex": True, "sharey": True, "least": 7.5}
    figure, panels = panel_grid(style, len(alphas), 3, **options)
    for row, alpha in enumerate(alphas):
        for column, name in enumerate(pair):
            numbers, counts = maps[alpha, name]
            number_map(panels[row, column], numbers, colours=SEQUENTIAL, limits=limits)
            write_numbers(panels[row, column], numbers, form=form, size=style.number)
            write_counts(panels[row, column], counts, expected, size=style.number)
        axes, numbers = panels[row, 2], differences[alpha]
        number_map(axes, numbers, colours=DIVERGING, limits=(-reach, reach))
        write_numbers(axes, numbers, form=f"+{form}", size=style.number)
        panels[row, 0].set_yticks(range(len(batches)), [str(batch) for batch in batches])
        panels[row, 0].set_ylabel(f"alpha = {alpha:g}\nbatch size")
    names = [labels[name] for name in pair]
    for axes, name in zip(panels[0], [*names, " \N{MINUS SIGN} ".join(names)], strict=True):
        panel_title(axes, name, style)
    for axes in panels[-1]:
        axes.set_xticks(range(len(betas)), [f"{beta:g}" for beta in betas])
        axes.set_xlabel("momentum")
    for axes in panels.flat:
        axes.tick_params(labelsize=style.small)
    first, last = panels[0, 0].get_images()[0], panels[0, 2].get_images()[0]
    colour_bar(figure, first, panels[:, :2].flat, style, label="accuracy (%)")
    colour_bar(figure, last, panels[:, 2], style, label="points")
    lacking = sum(int((counts < len(seeds)).sum()) for _, counts in maps.values())
    attack_name, rule_name = short_names([attack])[attack], short_names([aggregator])[aggregator]
    cells = sum(counts.size for _, counts in maps.values())
    caption(
        figure,
        style,
        f"{described(dataset, rest)} under {attack_name} with {rule_name}, "
        f"f = {byzantine} of {here.table['workers'][0]} workers: mean of "
        f"{counted(len(seeds), 'seed')}",
        [f"{lacking} of {cells} cells lack runs and have no colour" if lacking else ""],
    )
    return figure


def _map(
    table: pl.DataFrame, axes: dict[str, list[Any]], seeds: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Means over seeds by batch and momentum, nan where one is missing, and how many there are."""
    shape = (len(axes["batch"]), len(axes["beta"]))
    means, counts = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
    known = table.drop_nulls("accuracy").group_by(SWEPT)
    for batch, beta, mean, count in known.agg(
        pl.col("accuracy").mean(), count=pl.col("seed").n_unique()
    ).iter_rows():
        place = (axes["batch"].index(batch), axes["beta"].index(beta))
        counts[place] = count
        if count == seeds:
            means[place] = mean
    return means, counts
