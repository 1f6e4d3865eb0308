"""The figure of label counts: which worker holds how many samples of each class."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from wola.ground.names import worker_names
from wola.report.figures.panels import NOTE, SMALL, caption, panel_grid
from wola.report.figures.selection import (
    CannotDraw,
    attacked,
    described,
    places,
    runs_with,
    summaries_of,
    usual_f,
)
from wola.report.figures.styles import FROM_NOTHING, write_numbers
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
    runs: Runs, *, dataset: str, setting: str = "", byzantine: int, seed: int
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
    width = max(2.6, 0.33 * len(names) + 0.9) if few else 3.6
    figure, panels = panel_grid(1, len(maps), panel=(width, 0.21 * workers + 0.9), sharey=True)
    for column, (alpha, numbers) in enumerate(maps.items()):
        axes = panels[0, column]
        axes.imshow(numbers, cmap=FROM_NOTHING, vmin=0, vmax=highest, aspect="auto")
        if few:
            write_numbers(axes, numbers, form=".0f", size=7)
            turned = max(len(name) for name in names) > 2
            ends = {"rotation": 40, "ha": "right"} if turned else {}
            axes.set_xticks(range(len(names)), names, fontsize=SMALL, **ends)
        axes.axhline(workers - byzantine - 0.5, color="black", linewidth=2)
        axes.set_title(f"alpha = {alpha:g}", fontsize=NOTE + 1)
        axes.set_xlabel("class")
    panels[0, 0].set_yticks(
        range(workers), worker_names(workers, workers - byzantine), fontsize=SMALL
    )
    panels[0, 0].set_ylabel("worker (B: Byzantine)")
    figure.colorbar(panels[0, 0].get_images()[0], ax=list(panels.flat), label="samples", pad=0.02)
    caption(
        figure,
        f"{described(dataset, setting)}: samples per worker and class, f = {byzantine} of "
        f"{workers} workers, seed {seed}",
    )
    return figure
