"""The figure of the three classes' gradients on iris: how far they point apart."""

from typing import Any

from matplotlib.figure import Figure
from polars.exceptions import PolarsError

from wola.ground.sealed import Damaged
from wola.ground.tables import read_sealed_table
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.panels import GRID, caption, few_ticks, panel_grid, share_legend
from wola.report.figures.selection import CannotDraw
from wola.report.runs import Runs

_LINES = (
    {"color": "#0072B2", "linestyle": "-", "marker": "s"},
    {"color": "#009E73", "linestyle": (0, (6, 2, 1, 2)), "marker": "^"},
    {"color": "#D55E00", "linestyle": (0, (5, 2)), "marker": "D"},
)
_ALL: dict[str, Any] = {"color": "#000000", "linestyle": "-", "marker": "o"}
_LABELS = ("cosine of gradients", "training loss", "test accuracy (%)")
_WIDTH = 2.8


def iris_cases(runs: Runs) -> list[dict[str, Any]]:
    """One case, if a store holds the numbers."""
    return [{}] if any(_files(runs)) else []


def iris_figure(runs: Runs, *, style: FigureStyle = SCREEN) -> Figure:
    """Cosines of the gradients of every two classes, training loss and test accuracy, by step.

    Each has a panel and an axis of its own. A cosine below zero is an angle of more than a right
    one: the classes pull the model apart. After the WoLA paper's figure on iris.
    """
    files = _files(runs)
    if not files:
        raise CannotDraw("no store holds figures/iris.parquet; `wola bench paper/iris` writes it")
    try:
        table = read_sealed_table(files[0])
        steps = table["step"].to_list()
        loss, accuracy = table["loss"].to_list(), table["accuracy"].to_list()
    except (OSError, PolarsError, Damaged) as error:
        told = str(error).splitlines()[0]
        raise CannotDraw(f"{files[0]} cannot be read: {told}") from error
    stacked = style.across(3, _WIDTH) < 3
    shape, height = ((3, 1), 1.6) if stacked else ((1, 3), 2.4)
    figure, panels = panel_grid(style, *shape, panel=(_WIDTH, height), sharex=True)
    cosine, below, right = panels.flat
    marks = {
        "markevery": max(1, len(steps) // 6),
        "markersize": 4.5 * style.scale,
        "linewidth": 1.6 * style.scale,
    }
    names = [name for name in table.columns if name.startswith("cosine_")]
    for place, name in enumerate(names):
        label = " and ".join(name.removeprefix("cosine_").split("_"))
        cosine.plot(steps, table[name], label=label, **marks, **_LINES[place % len(_LINES)])
    cosine.axhline(0, color="black", linewidth=0.8 * style.scale)
    below.plot(steps, loss, **marks, **_ALL)
    right.plot(steps, accuracy, **marks, **_ALL)
    for axes, label in zip(panels.flat, _LABELS, strict=True):
        axes.grid(**GRID)
        axes.set_ylabel(label)
        axes.margins(x=0.03)
    for axes in panels[-1]:
        axes.set_xlabel("step")
    few_ticks(panels.flat, style)
    share_legend(figure, (cosine,), style)
    caption(
        figure, style, "iris: gradients of the three classes while one network learns all of them"
    )
    return figure


def _files(runs: Runs) -> list[Any]:
    paths = (store.path / "figures" / "iris.parquet" for store in runs.stores)
    return [path for path in paths if path.is_file()]
