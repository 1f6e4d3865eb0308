"""The figure of the weights that each worker received over training: who was listened to."""

from typing import Any

import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wola.ground.names import counted, worker_names
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.maps import colour_bar
from wola.report.figures.panels import caption, few_ticks, panel_grid
from wola.report.figures.selection import CannotDraw, described, runs_with, steps_of, whole
from wola.report.figures.training import shared_labels
from wola.report.figures.weight_maps import draw_weights
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.short_names import short_names

_WIDTH = 1.2


def weights_figure(
    runs: Runs,
    *,
    dataset: str,
    setting: str = "",
    alpha: float,
    byzantine: int,
    attack: str,
    style: FigureStyle = SCREEN,
) -> Figure:
    r"""The weight :math:`w_i` of each worker's update by step, for each aggregator and strategy.

    The update that the model takes is :math:`\sum_i w_i u_i`, mixing before the aggregator
    included. Honest workers stand above the line, Byzantine ones below it and in another colour;
    white is no weight at all, the darkest three times 1 / n or more. A weight is the mean over
    seeds. Workers of different seeds hold different data, so in each seed they are put in the order
    of the weight they received over all steps, the most first; of a single seed they stand in
    their own order. Above each panel stands the share of the weight that went to Byzantine workers
    over all steps, with the lowest and the highest seed; equal weights give f / n. Rules that weigh
    single coordinates have no such weights and are not shown.
    """
    place = {"alpha": alpha, "byzantine": byzantine, "attack": attack}
    here = runs_with(runs, dataset=dataset, setting=setting)
    ran = runs_with(here, **place).table
    found, notes = whole(here, by=("aggregator", "attack"), **place)
    steps = steps_of(here, found, ["weights"]).drop_nulls("weights")
    table = found.join(steps, on="run", how="semi")
    rule_names = short_names(parts_in_order(ran["aggregator"]))
    if table.is_empty():
        all_rules = ", ".join(rule_names.values())
        raise CannotDraw(
            f"the rules of these runs ({all_rules}) give no weight to a worker as a whole"
        )
    labels = shared_labels(here, table)
    rules = {rule: rule_names[rule] for rule in parts_in_order(table["aggregator"])}
    # What there is more of goes from left to right.
    short = {name: label.split(" (")[0] for name, label in labels.items()}
    across, down = ("strategy", short), ("aggregator", rules)
    if len(labels) < len(rules):
        across, down = ("aggregator", rules), ("strategy", labels)
    workers, seeds = int(table["workers"][0]), table["seed"].n_unique()
    columns = style.across(len(across[1]), _WIDTH)
    lines = -(-len(across[1]) // columns)
    figure, panels = panel_grid(
        style,
        lines * len(down[1]),
        columns,
        panel=(_WIDTH, 0.07 * workers + 0.5),
        sharex=True,
        sharey=True,
        least=7.5,
    )
    for number, (row, row_name) in enumerate(down[1].items()):
        block = panels[number * lines : (number + 1) * lines]
        for axes, (column, name) in zip(block.flat, across[1].items(), strict=False):
            own = {down[0]: row, across[0]: column}
            drawn = steps.filter(**own)
            told = (
                _why_empty(ran.filter(**own), found.filter(**own))
                if drawn.is_empty()
                else draw_weights(axes, drawn, byzantine, style)
            )
            title = f"{name}\n{told}" if number == 0 or lines > 1 else told
            axes.set_title(title, fontsize=style.small, pad=3 * style.scale)
        for axes in block[:, 0]:
            axes.set_ylabel(f"{row_name}\nworker", fontsize=style.note)
        for axes in block.flat[len(across[1]) :]:
            axes.set_axis_off()
    _name_axes(panels, workers, byzantine, style)
    honest, others = next(axes for axes in panels.flat if axes.get_images()).get_images()
    for image, name in ((others, "weight, Byzantine"), (honest, "weight, honest")):
        colour_bar(figure, image, panels.flat, style, label=name, extend="max")
    told = f"mean of {seeds} seeds" if seeds > 1 else f"seed {table['seed'][0]}"
    caption(
        figure,
        style,
        f"Who was listened to: {described(dataset, setting)} under "
        f"{short_names([attack])[attack]}, alpha = {alpha:g}, f = {byzantine} of "
        f"{counted(workers, 'worker')}, {told}",
        [
            "above each panel: the Byzantine workers' share of the weight"
            f"{' (lowest to highest seed)' if seeds > 1 else ''}; equal weights give them "
            f"{100 * byzantine / workers:.0f} %",
            "the workers of each seed from most to least weight" if seeds > 1 else "",
            *notes,
        ],
    )
    return figure


def _why_empty(ran: pl.DataFrame, whole_ones: pl.DataFrame) -> str:
    if ran.is_empty():
        return "no run"
    return "left out" if whole_ones.is_empty() else "no weights"


def _name_axes(panels: NDArray[Any], workers: int, byzantine: int, style: FigureStyle) -> None:
    """Names the first worker of each kind and the last one on the left, and the steps below."""
    ticks = sorted({0, workers - byzantine, workers - 1})
    names = worker_names(workers, workers - byzantine)
    for axes in panels.flat:
        axes.tick_params(labelsize=style.small)
    panels[0, 0].set_yticks(ticks, [names[tick] for tick in ticks])
    few_ticks(panels.flat, style)
    for column in panels.T:
        lowest = [axes for axes in column if axes.axison][-1]
        lowest.set_xlabel("step", fontsize=style.note)
        lowest.tick_params(labelbottom=True)
