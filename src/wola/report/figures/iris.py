"""The figure of the three classes' gradients on iris: how far they point apart."""

from typing import Any

from matplotlib.figure import Figure
from polars.exceptions import PolarsError

from wola.ground.sealed import Damaged
from wola.ground.tables import read_sealed_table
from wola.report.figures.panels import caption, panel_grid, share_legend
from wola.report.figures.selection import CannotDraw
from wola.report.runs import Runs

_LINES = (
    {"color": "#0072B2", "linestyle": "-", "marker": "s"},
    {"color": "#009E73", "linestyle": (0, (6, 2, 1, 2)), "marker": "^"},
    {"color": "#D55E00", "linestyle": (0, (5, 2)), "marker": "D"},
)
_LOSS: dict[str, Any] = {"color": "#000000", "linestyle": "-", "marker": "o"}
_ACCURACY: dict[str, Any] = {"color": "#7F7F7F", "linestyle": (0, (5, 2)), "marker": "v"}


def iris_cases(runs: Runs) -> list[dict[str, Any]]:
    """One case, if a store holds the numbers."""
    return [{}] if any(_files(runs)) else []


def iris_figure(runs: Runs) -> Figure:
    """Cosines of the gradients of every two classes above, loss and test accuracy below.

    A cosine below zero is an angle of more than a right one: the classes pull the model apart.
    After the WoLA paper's figure on iris.
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
    figure, panels = panel_grid(2, 1, panel=(6.0, 2.2), sharex=True)
    marks = {"markevery": max(1, len(steps) // 8), "markersize": 5, "linewidth": 1.6}
    cosines = [name for name in table.columns if name.startswith("cosine_")]
    above, below = panels[0, 0], panels[1, 0]
    for place, name in enumerate(cosines):
        label = " and ".join(name.removeprefix("cosine_").split("_"))
        above.plot(steps, table[name], label=label, **marks, **_LINES[place % len(_LINES)])
    above.axhline(0, color="black", linewidth=0.8)
    above.set_ylim(-1.08, 1.08)
    above.set_ylabel("cosine of the\nclasses' gradients")
    below.plot(steps, loss, label="training loss (left)", **marks, **_LOSS)
    below.set_ylabel("training loss")
    below.set_ylim(bottom=0)
    below.set_xlabel("step")
    right = below.twinx()
    right.plot(steps, accuracy, label="test accuracy (right)", **marks, **_ACCURACY)
    right.set_ylabel("test accuracy (%)")
    right.set_ylim(0, 105)
    for axes in (above, below):
        axes.grid(color="0.9", linewidth=0.6)
    share_legend(figure, (above, below, right), columns=3)
    caption(figure, "iris: gradients of the three classes while one network learns all of them")
    return figure


def _files(runs: Runs) -> list[Any]:
    paths = (store.path / "figures" / "iris.parquet" for store in runs.stores)
    return [path for path in paths if path.is_file()]
