"""The figure of accuracy without Byzantine workers: rows of alpha, columns of datasets."""

from typing import Any

import polars as pl
from matplotlib.figure import Figure

from wola.report.figures.panels import NOTE, caption, panel_grid, share_legend
from wola.report.figures.selection import CannotDraw, runs_with, seeds_of, steps_of, whole
from wola.report.figures.styles import line_styles
from wola.report.figures.training import ended_early, line, mean_line, shared_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names


def without_attackers_cases(runs: Runs) -> list[dict[str, Any]]:
    """A case for every setting and aggregator with runs of f = 0."""
    found = runs.table.filter(byzantine=0).select("setting", "aggregator").unique()
    return found.sort("setting", "aggregator").to_dicts()


def without_attackers_figure(runs: Runs, *, setting: str = "", aggregator: str = "mean") -> Figure:
    """Test accuracy by step with f = 0, for each strategy: does the loss alone cost anything?

    A line is the mean over seeds, at the steps that all of them have. After the WoLA paper's
    figure of training without Byzantine workers.
    """
    here = runs_with(runs, byzantine=0, setting=setting, aggregator=aggregator)
    found, notes = [], []
    shown = short_names(parts_in_order(here.table["dataset"]))
    for dataset in shown:
        try:
            table, note = whole(runs_with(here, dataset=dataset))
        except CannotDraw as reason:
            notes.append(f"{shown[dataset]}: {reason}")
            continue
        found.append(table)
        notes += [f"{shown[dataset]}: {text}" for text in note]
    if not found:
        raise CannotDraw("; ".join(notes))
    table = pl.concat(found)
    steps = steps_of(here, table, ["accuracy"])
    alphas = table["alpha"].unique().sort(descending=True).to_list()
    datasets = parts_in_order(table["dataset"])
    figure, panels = panel_grid(
        len(alphas), len(datasets), panel=(2.7, 1.75), sharex="col", sharey="col", least=5.5
    )
    styles = line_styles(table["strategy"])
    for column, dataset in enumerate(datasets):
        for row, alpha in enumerate(alphas):
            axes, drawn = panels[row, column], table.filter(dataset=dataset, alpha=alpha)
            if drawn.is_empty():
                axes.set_axis_off()
                continue
            for rank, (strategy, label) in enumerate(shared_labels(here, drawn).items()):
                own = steps.filter(dataset=dataset, alpha=alpha, strategy=strategy)
                line(axes, *mean_line(own, "accuracy"), styles[strategy], label=label, rank=rank)
        panels[0, column].set_title(shown[dataset], fontsize=NOTE + 1)
        panels[-1, column].set_xlabel("step")
    for row, alpha in enumerate(alphas):
        panels[row, 0].set_ylabel(f"alpha = {alpha:g}\ntest accuracy (%)")
    share_legend(figure, panels.flat)
    caption(
        figure,
        f"Without Byzantine workers (f = 0), {short_names([aggregator])[aggregator]}: mean of "
        f"{seeds_of(table)}",
        [setting, *notes, ended_early(table)],
    )
    return figure
