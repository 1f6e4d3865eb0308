"""The figure of accuracy without Byzantine workers: a panel for each dataset and alpha."""

from collections import Counter
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.panels import caption, few_ticks, panel_grid, panel_title, share_legend
from wola.report.figures.selection import CannotDraw, runs_with, seeds_of, steps_of, whole
from wola.report.figures.strategy_styles import line_styles
from wola.report.figures.training import ended_early, line, seed_band, shared_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names

_PANEL = (2.7, 2.1)
# Panels that share their axis can be narrower than others.
_NARROWEST = 1.7
_MOST_ACROSS = 4


def without_attackers_cases(runs: Runs) -> list[dict[str, Any]]:
    """A case for every setting and aggregator with runs of f = 0."""
    found = runs.table.filter(byzantine=0).select("setting", "aggregator").unique()
    return found.sort("setting", "aggregator").to_dicts()


def without_attackers_figure(
    runs: Runs, *, setting: str = "", aggregator: str = "mean", style: FigureStyle = SCREEN
) -> Figure:
    """Test accuracy by step with f = 0, for each strategy: does the loss alone cost anything?

    A line is the mean over seeds, at the steps that all of them have, and its band reaches from
    the lowest seed to the highest. The panels of a dataset share the range of their axis, which is
    that of its lines and bands. After the WoLA paper's figure of training without Byzantine
    workers.
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
    places = [
        (dataset, alpha)
        for dataset in parts_in_order(table["dataset"])
        for alpha in table.filter(dataset=dataset)["alpha"].unique().sort(descending=True)
    ]
    across = _columns(places, style)
    rows = -(-len(places) // across)
    figure, panels = panel_grid(style, rows, across, panel=_PANEL, least=5.5, shaped=True)
    styles = line_styles(table["strategy"])
    for axes, (dataset, alpha) in zip(panels.flat, places, strict=False):
        drawn = table.filter(dataset=dataset, alpha=alpha)
        for rank, (strategy, label) in enumerate(shared_labels(here, drawn).items()):
            own = steps.filter(dataset=dataset, alpha=alpha, strategy=strategy)
            band = seed_band(own, "accuracy")
            line(axes, band, styles[strategy], style, label=label, rank=rank)
        between = "\n" if style.narrow else ", "
        panel_title(axes, f"{shown[dataset]}{between}alpha = {alpha:g}", style)
    for dataset in {dataset for dataset, _ in places}:
        alike = [a for a, place in zip(panels.flat, places, strict=False) if place[0] == dataset]
        ends = [axes.get_ylim() for axes in alike]
        for axes in alike:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    for number, axes in enumerate(panels.flat):
        if number >= len(places):
            axes.remove()
        elif number + across >= len(places):
            axes.set_xlabel("step")
        if number % across and number < len(places) and places[number - 1][0] == places[number][0]:
            axes.tick_params(labelleft=False)
    for axes in panels[:, 0]:
        axes.set_ylabel("test accuracy (%)")
    drawn_panels = panels.flat[: len(places)]
    few_ticks(drawn_panels, style)
    share_legend(figure, drawn_panels, style)
    several = ", band from the lowest to the highest" * (table["seed"].n_unique() > 1)
    caption(
        figure,
        style,
        f"Without Byzantine workers (f = 0), {short_names([aggregator])[aggregator]}: mean of "
        f"{seeds_of(table)}{several}",
        [setting, *notes, ended_early(table)],
    )
    return figure


def _columns(places: list[tuple[str, float]], style: FigureStyle) -> int:
    """How many panels stand side by side: all if they are few, else those of a dataset."""
    counts = Counter(dataset for dataset, _ in places).values()
    even = len(set(counts)) == 1 and len(places) > _MOST_ACROSS
    return style.across(max(counts) if even else min(len(places), _MOST_ACROSS), _NARROWEST)
