"""The figure of accuracy against the number of attackers: where each strategy breaks."""

from math import nan
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.panels import GRID, caption, panel_grid, panel_title, share_legend
from wola.report.figures.selection import (
    CannotDraw,
    attacked,
    described,
    left_out,
    places,
    runs_with,
)
from wola.report.figures.strategy_styles import line_styles, strategy_labels
from wola.report.figures.training import BAND, mean_and_band
from wola.report.runs import Runs
from wola.report.scores import Summary, scores, seed_values

_SUMMARIES: dict[Summary, str] = {"global": "mean over attacks", "worst": "worst attack"}
_PANEL = (2.9, 2.3)


def breaking_point_cases(runs: Runs) -> list[dict[str, Any]]:
    """A case for every dataset and setting."""
    return places(runs)


def breaking_point_figure(
    runs: Runs, *, dataset: str, setting: str = "", style: FigureStyle = SCREEN
) -> Figure:
    """Accuracy against f > 0 for each strategy and alpha: mean over attacks, and worst.

    A line is the mean over seeds of the accuracy averaged over training, attacks and aggregators
    (of the worst attack per aggregator in the panels of the worst attack), its band from the
    lowest to the highest seed. A single f has no line to draw.
    """
    here = attacked(runs_with(runs, dataset=dataset, setting=setting))
    cells, labels = scores(here), strategy_labels(here)
    known = cells.filter("complete")
    if known["byzantine"].n_unique() < 2:
        note = left_out(cells, ("alpha", "byzantine"), labels)
        only = ", ".join(str(f) for f in known["byzantine"].unique())
        told = f"only f = {only} has all its runs" if only else "no f has all its runs"
        raise CannotDraw(f"needs two values of f; {told}" + (f"; {note}" if note else ""))
    alphas = known["alpha"].unique().sort(descending=True).to_list()
    counts = known["byzantine"].unique().sort()
    turned = style.across(len(alphas), _PANEL[0]) < len(alphas)
    shape = (len(alphas), len(_SUMMARIES)) if turned else (len(_SUMMARIES), len(alphas))
    figure, drawn = panel_grid(
        style, *shape, panel=_PANEL, sharex=True, sharey="row", least=6.5, shaped=True
    )
    panels = drawn.T if turned else drawn
    styles = line_styles(known["strategy"])
    place = ["alpha", "byzantine", "strategy"]
    sizes = {"linewidth": 1.6 * style.scale, "markersize": 5 * style.scale}
    for row, summary in enumerate(_SUMMARIES):
        values = seed_values(here, summary=summary).join(known, on=place, how="semi")
        for column, alpha in enumerate(alphas):
            axes = panels[row, column]
            axes.grid(**GRID)
            for rank, (strategy, look) in enumerate(styles.items()):
                mean, low, high = _band(values.filter(alpha=alpha, strategy=strategy), counts)
                axes.plot(counts, mean, label=labels[strategy], zorder=3 + rank, **sizes, **look)
                if low != high:
                    shade = {"color": look["color"], "alpha": BAND, "linewidth": 0}
                    axes.fill_between(counts, low, high, **shade)
    by_alpha = [f"alpha = {alpha:g}" for alpha in alphas]
    by_summary = list(_SUMMARIES.values())
    for axes, text in zip(drawn[0], by_summary if turned else by_alpha, strict=True):
        panel_title(axes, text, style)
    for axes, text in zip(drawn[:, 0], by_alpha if turned else by_summary, strict=True):
        axes.set_ylabel(f"{text}\naccuracy (%)")
    for axes in drawn[-1]:
        axes.set_xlabel("Byzantine workers f")
        axes.set_xticks(counts.to_list())
    share_legend(figure, panels.flat, style)
    caption(
        figure,
        style,
        f"{described(dataset, setting)}, {here.table['workers'][0]} workers: accuracy over "
        f"training against f, {mean_and_band(here.table['seed'].n_unique())}",
        [left_out(cells, ("alpha", "byzantine"), labels)],
    )
    return figure


def _band(values: pl.DataFrame, counts: pl.Series) -> tuple[list[float], list[float], list[float]]:
    """Mean, lowest and highest seed at each f; nan where it is missing, so that the line breaks."""
    value = pl.col("value")
    found = values.group_by("byzantine").agg(mean=value.mean(), low=value.min(), high=value.max())
    rows = found.join(counts.to_frame(), on="byzantine", how="right").sort("byzantine")
    mean, low, high = (rows[name].fill_null(nan).to_list() for name in ("mean", "low", "high"))
    return mean, low, high
