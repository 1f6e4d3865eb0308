"""The figure of label counts: which worker holds how many samples of each class."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from wola.ground.names import worker_names
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.maps import (
    FROM_NOTHING,
    colour_bar,
    names_along,
    number_map,
    write_numbers,
)
from wola.report.figures.panels import caption, panel_grid, panel_title
from wola.report.figures.selection import (
    CannotDraw,
    attacked,
    described,
    places,
    runs_with,
    summaries_of,
    usual_f,
)
from wola.report.runs import Runs

_MOST_WRITTEN = 12


def label_counts_cases(runs: Runs) -> list[dict[str, Any]]:
    """Every dataset and setting: f as in the paper's curves, the first seed."""
    found = []
    for place in places(runs):
        table = attacked(runs_with(runs, **place)).table
        f = usual_f(table["byzantine"].unique().to_list())
        seed = table.filter(byzantine=f)["seed"].min()
        found.append({**place, "byzantine": f, "seed": seed})
    return found


def label_counts_figure(
    runs: Runs,
    *,
    dataset: str,
    setting: str = "",
    byzantine: int,
    seed: int,
    style: FigureStyle = SCREEN,
) -> Figure:
    """Samples by worker and class, a panel per alpha, for one f and one seed.

    The honest workers come first; the Byzantine ones stand below the line, with what their shards
    would be: only attacks on data use them.
    """
    here = runs_with(runs, dataset=dataset, setting=setting, byzantine=byzantine, seed=seed).table
    first = here.sort("key").unique("alpha", keep="first").sort("alpha", descending=True)
    counts = summaries_of(runs, first, "counts")
    classes = summaries_of(runs, first, "classes")
    maps = {
        row["alpha"]: np.asarray(counts[row["run"]], dtype=np.float64)
        for row in first.iter_rows(named=True)
    }
    names = [str(name) for name in classes[first["run"][0]]]
    workers = int(first["workers"][0])
    for alpha, numbers in maps.items():
        if numbers.shape != (workers, len(names)):
            raise CannotDraw(
                f"the counts at alpha = {alpha:g} are {numbers.shape}, not one per worker and class"
            )
    highest = max(float(numbers.max()) for numbers in maps.values())
    few = len(names) <= _MOST_WRITTEN
    width = max(2.6, 0.33 * len(names) + 0.5) if few else 3.6
    across = style.across(len(maps), width)
    panel = (width, 0.2 * workers + 0.5)
    figure, panels = panel_grid(
        style, -(-len(maps) // across), across, panel=panel, sharex=True, sharey=True
    )
    for axes, (alpha, numbers) in zip(panels.flat, maps.items(), strict=False):
        number_map(axes, numbers, colours=FROM_NOTHING, limits=(0.0, highest))
        if few:
            write_numbers(axes, numbers, form=".0f", size=style.number)
        axes.axhline(workers - byzantine - 0.5, color="black", linewidth=2 * style.scale)
        panel_title(axes, f"alpha = {alpha:g}", style)
    for axes in panels.flat[len(maps) :]:
        axes.set_axis_off()
    panels[0, 0].set_yticks(range(workers), worker_names(workers, workers - byzantine))
    for axes in panels.flat:
        axes.tick_params(labelsize=style.small)
    for axes in panels[:, 0]:
        axes.set_ylabel("worker (B: Byzantine)")
    for column in panels.T:
        lowest = [axes for axes in column if axes.axison][-1]
        lowest.set_xlabel("class")
        lowest.tick_params(labelbottom=True)
        if few:
            names_along(lowest, names, style)
    colour_bar(figure, panels[0, 0].get_images()[0], panels.flat, style, label="samples")
    caption(
        figure,
        style,
        f"{described(dataset, setting)}: samples per worker and class, f = {byzantine} of "
        f"{workers} workers, seed {seed}",
    )
    return figure
