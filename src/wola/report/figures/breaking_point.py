"""The figure of accuracy against the number of attackers: where each strategy breaks."""

from math import nan
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from wola.ground.names import counted
from wola.report.figures.panels import NOTE, caption, panel_grid, share_legend
from wola.report.figures.selection import (
    CannotDraw,
    attacked,
    described,
    left_out,
    places,
    runs_with,
)
from wola.report.figures.styles import line_styles, strategy_labels
from wola.report.runs import Runs
from wola.report.scores import Summary, scores, seed_values

_ROWS: dict[Summary, str] = {
    "global": "accuracy (%),\nmean over attacks",
    "worst": "accuracy (%),\nworst attack",
}


def breaking_point_cases(runs: Runs) -> list[dict[str, Any]]:
    """A case for every dataset and setting."""
    return places(runs)


def breaking_point_figure(runs: Runs, *, dataset: str, setting: str = "") -> Figure:
    """Accuracy against f > 0 for each strategy, a column per alpha: mean over attacks, and worst.

    A line is the mean over seeds of the accuracy averaged over training, attacks and aggregators
    (of the worst attack per aggregator in the lower row), its band from the lowest to the highest
    seed. A single f has no line to draw.
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
    figure, panels = panel_grid(
        2, len(alphas), panel=(2.9, 2.3), sharex=True, sharey="row", least=6.5
    )
    styles = line_styles(known["strategy"])
    place = ["alpha", "byzantine", "strategy"]
    for row, summary in enumerate(_ROWS):
        values = seed_values(here, summary=summary).join(known, on=place, how="semi")
        for column, alpha in enumerate(alphas):
            axes = panels[row, column]
            axes.grid(color="0.9", linewidth=0.6)
            for rank, (strategy, style) in enumerate(styles.items()):
                mean, low, high = _band(values.filter(alpha=alpha, strategy=strategy), counts)
                shown = {"label": labels[strategy], "zorder": 3 + rank, **style}
                axes.plot(counts, mean, linewidth=1.6, markersize=5.5, **shown)
                axes.fill_between(counts, low, high, color=style["color"], alpha=0.12, linewidth=0)
    for column, alpha in enumerate(alphas):
        panels[0, column].set_title(f"alpha = {alpha:g}", fontsize=NOTE + 1)
        panels[1, column].set_xlabel("Byzantine workers f")
        panels[1, column].set_xticks(counts.to_list())
    for row, label in enumerate(_ROWS.values()):
        panels[row, 0].set_ylabel(label)
    share_legend(figure, panels.flat)
    seeds = here.table["seed"].n_unique()
    spread = ", band from the lowest to the highest" if seeds > 1 else ""
    caption(
        figure,
        f"{described(dataset, setting)}, {here.table['workers'][0]} workers: accuracy over "
        f"training against f, mean of {counted(seeds, 'seed')}{spread}",
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
