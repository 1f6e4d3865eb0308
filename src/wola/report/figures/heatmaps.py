"""The heat maps of batch size against momentum: WoLA, NNM, and the difference."""

from typing import Any

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wola.ground.names import counted
from wola.report.figures.panels import NOTE, SMALL, caption, panel_grid
from wola.report.figures.selection import (
    CannotDraw,
    attacked,
    described,
    is_sweep,
    runs_with,
)
from wola.report.figures.styles import DIVERGING, SEQUENTIAL, strategy_labels, write_numbers
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
) -> Figure:
    """Accuracy over training by batch size and momentum, a row per alpha.

    The two strategies of a row share their scale of colours, the differences that of the figure.
    `rest` is the setting apart from batch and momentum. A cell is the mean over seeds; one that
    lacks a seed is hatched and says how many there are. After the WoLA paper's heat maps.
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
    width = 0.5 * len(betas) + 0.9
    figure, panels = panel_grid(
        len(alphas), 3, panel=(max(2.3, width), 0.36 * len(batches) + 0.75), least=8.0
    )
    for row, alpha in enumerate(alphas):
        both = np.concatenate([maps[alpha, name][0].ravel() for name in pair])
        low, high = (np.nanmin(both), np.nanmax(both)) if not np.isnan(both).all() else (0, 100)
        drawn = [*(maps[alpha, name][0] for name in pair), differences[alpha]]
        for column, numbers in enumerate(drawn):
            axes, last = panels[row, column], column == 2
            limits = (-reach, reach) if last else (low, high)
            axes.set_facecolor("0.85")
            image = axes.imshow(
                numbers,
                cmap=DIVERGING if last else SEQUENTIAL,
                vmin=limits[0],
                vmax=limits[1],
                aspect="auto",
            )
            write_numbers(axes, numbers, form="+.1f" if last else ".1f", size=SMALL)
            if not last:
                _write_counts(axes, maps[alpha, pair[column]][1], len(seeds))
            axes.set_xticks(range(len(betas)), [f"{beta:g}" for beta in betas])
            axes.set_yticks(range(len(batches)), [str(batch) for batch in batches])
            if row == 0:
                names = [labels[name] for name in pair]
                axes.set_title([*names, " \N{MINUS SIGN} ".join(names)][column], fontsize=NOTE + 1)
            if row == len(alphas) - 1:
                axes.set_xlabel("momentum")
            if column:
                bar = figure.colorbar(image, ax=axes, pad=0.03)
                bar.set_label("points" if last else "accuracy (%)", fontsize=SMALL)
                bar.ax.tick_params(labelsize=SMALL)
        panels[row, 0].set_ylabel(f"alpha = {alpha:g}\nbatch size")
    lacking = sum(int((counts < len(seeds)).sum()) for _, counts in maps.values())
    attack_name, rule_name = short_names([attack])[attack], short_names([aggregator])[aggregator]
    cells = sum(counts.size for _, counts in maps.values())
    caption(
        figure,
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


def _write_counts(axes: Any, counts: NDArray[np.int64], seeds: int) -> None:
    for (row, column), count in np.ndenumerate(counts):
        if count < seeds:
            text = f"{count}/{seeds}"
            axes.text(column, row, text, ha="center", va="center", fontsize=SMALL, style="italic")
