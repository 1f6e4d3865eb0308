"""The figure of which attack breaks which rule, and which strategy: a map with the worst marked."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from wola.ground.names import counted
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.maps import (
    SEQUENTIAL,
    colour_bar,
    names_along,
    number_map,
    write_counts,
    write_numbers,
)
from wola.report.figures.panels import caption, panel_grid, panel_title
from wola.report.figures.selection import (
    CannotDraw,
    attacked,
    described,
    hardest,
    places,
    runs_with,
)
from wola.report.figures.strategy_styles import line_styles, strategy_labels
from wola.report.names import parts_in_order
from wola.report.runs import Runs
from wola.report.scores import scores
from wola.report.short_names import short_names

MatrixRows = Literal["aggregator", "strategy"]

_WORST = "#D00000"


class NumberGrid(NamedTuple):
    """Numbers by row and column, nan where runs are missing, with the runs there and expected."""

    numbers: NDArray[np.float64]
    runs: NDArray[np.int64]
    expected: NDArray[np.int64]


def matrix_cases(runs: Runs) -> list[dict[str, Any]]:
    """Rules and strategies against attacks, for every dataset and setting at its hardest place.

    There is nothing to compare where there is one attack, or one row.
    """
    found = []
    for place in places(runs):
        at = {**place, **hardest(runs_with(runs, **place))}
        table = runs_with(runs, **at).table
        if table["attack"].n_unique() > 1:
            rows = [r for r in ("aggregator", "strategy") if table[r].n_unique() > 1]
            found += [{**at, "rows": r} for r in rows]
    return found


def matrix_figure(
    runs: Runs,
    *,
    dataset: str,
    setting: str = "",
    alpha: float,
    byzantine: int,
    rows: MatrixRows = "aggregator",
    style: FigureStyle = SCREEN,
) -> Figure:
    """Accuracy over training by attack (columns) and rule or strategy (rows), the worst marked.

    Rules have a panel per strategy, a cell the mean over seeds; strategies have one panel, a cell
    the mean over aggregators and seeds. A cell that lacks a run has no number and says how many
    there are. In each row the attack with the lowest accuracy, as printed, has a frame.
    """
    at = {"alpha": alpha, "byzantine": byzantine}
    here = attacked(runs_with(runs, dataset=dataset, setting=setting))
    runs_with(here, **at)
    by = ("aggregator", "attack") if rows == "aggregator" else ("attack",)
    cells = scores(here, by=by).filter(**at)
    if not cells["complete"].any():
        raise CannotDraw("no cell has all its runs")
    attacks, strategies = parts_in_order(cells["attack"]), list(line_styles(cells["strategy"]))
    labels, attack_names = strategy_labels(here), short_names(attacks)
    if rows == "aggregator":
        row_names: Mapping[str, str] = short_names(parts_in_order(cells["aggregator"]))
        tables = {labels[name]: cells.filter(strategy=name) for name in strategies}
    else:
        row_names = {name: labels[name] for name in strategies}
        tables = {"": cells}
    longest = max(map(len, row_names.values()))
    panel = (0.44 * len(attacks) + 0.5, 0.26 * len(row_names) + 0.62)
    wide = 4 if rows == "aggregator" else 1
    across = min(wide, style.across(len(tables), panel[0]), len(tables))
    figure, panels = panel_grid(
        style,
        -(-len(tables) // across),
        across,
        panel=panel,
        least=max(6.0, panel[0] + 0.08 * longest),
        sharex=True,
        sharey=True,
    )
    for axes, (title, table) in zip(panels.flat, tables.items(), strict=False):
        grid = grid_of(table, rows, list(row_names), "attack", attacks)
        draw_matrix(axes, grid, style)
        panel_title(axes, title, style)
    for axes in panels.flat[len(tables) :]:
        axes.set_axis_off()
    panels[0, 0].set_yticks(range(len(row_names)), list(row_names.values()))
    for axes in panels.flat:
        axes.tick_params(labelsize=style.small)
    for column in panels.T:
        lowest = [axes for axes in column if axes.axison][-1]
        names_along(lowest, list(attack_names.values()), style)
        lowest.tick_params(labelbottom=True)
    colour_bar(figure, panels[0, 0].get_images()[0], panels.flat, style, label="accuracy (%)")
    over = (
        ""
        if rows == "aggregator"
        else f"{counted(here.table['aggregator'].n_unique(), 'rule')} and "
    )
    lacking = int((~cells["complete"]).sum())
    caption(
        figure,
        style,
        f"{described(dataset, setting)}, alpha = {alpha:g}, f = {byzantine} of "
        f"{here.table['workers'][0]} workers: accuracy over training by attack, mean of {over}"
        f"{counted(here.table['seed'].n_unique(), 'seed')}",
        [
            "framed: the worst attack of the row",
            f"{lacking} of {len(cells)} cells lack runs and have no number" if lacking else "",
        ],
    )
    return figure


def grid_of(
    cells: pl.DataFrame, row: str, rows: Sequence[str], column: str, columns: Sequence[str]
) -> NumberGrid:
    """The cells of a table from `scores` by the values of two of its axes."""
    shape = (len(rows), len(columns))
    grid = NumberGrid(np.full(shape, np.nan), np.zeros(shape, np.int64), np.zeros(shape, np.int64))
    for cell in cells.iter_rows(named=True):
        place = (rows.index(cell[row]), columns.index(cell[column]))
        grid.runs[place], grid.expected[place] = cell["runs"], cell["expected"]
        if cell["complete"]:
            grid.numbers[place] = cell["mean"]
    return grid


def draw_matrix(axes: Axes, grid: NumberGrid, style: FigureStyle, *, digits: int = 1) -> None:
    """Draws a grid of percentages with its numbers, and frames the lowest of each row."""
    number_map(axes, grid.numbers, colours=SEQUENTIAL, limits=(0.0, 100.0))
    worst = worst_cells(grid.numbers, digits)
    write_numbers(axes, grid.numbers, form=f".{digits}f", size=style.number, bold=worst)
    write_counts(axes, grid.runs, grid.expected, size=style.number)
    for row, column in zip(*np.nonzero(worst), strict=True):
        frame: dict[str, Any] = {"fill": False, "edgecolor": _WORST, "linewidth": 1.8 * style.scale}
        axes.add_patch(Rectangle((column - 0.46, row - 0.44), 0.92, 0.88, **frame))


def worst_cells(numbers: NDArray[np.float64], digits: int = 1) -> NDArray[np.bool_]:
    """Which cells are the lowest of their row, as printed; a row of less than two numbers has none.

    >>> worst_cells(np.asarray([[3.02, 2.04, 1.96], [5.0, np.nan, np.nan]]))
    array([[False,  True,  True],
           [False, False, False]])
    """
    printed = np.vectorize(lambda number: round(number, digits), otypes=[float])(numbers)
    known = ~np.isnan(printed)
    lowest = np.where(known, printed, np.inf).min(1, keepdims=True)
    found: NDArray[np.bool_] = known & (printed == lowest) & (known.sum(1, keepdims=True) > 1)
    return found
