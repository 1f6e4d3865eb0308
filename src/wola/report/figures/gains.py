"""The figure of accuracy gains over the best strategy without WoLA: dots, and boxes of many."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from wola.ground.names import counted
from wola.report.figure_style import SCREEN, FigureStyle
from wola.report.figures.panels import GRID, caption, legend_below, panel_grid
from wola.report.figures.selection import CannotDraw, attacked, places, seeds_of
from wola.report.figures.strategy_styles import LineStyle, line_styles, strategy_labels
from wola.report.runs import Runs
from wola.report.scores import Summary, gains, scores
from wola.report.short_names import short_names

_SUMMARIES = {"global": "mean over attacks and aggregators", "worst": "worst attack"}

# Boxes in grey: the hatching tells the strategies apart.
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")

# Quartiles of fewer numbers say less than the numbers.
_FEWEST_OF_A_BOX = 5

_POINTS = ("o", "^", "s", "D", "v", "P", "X", "*")


def gains_cases(runs: Runs) -> list[dict[str, Any]]:
    """Global and worst case for every setting."""
    settings = sorted({place["setting"] for place in places(runs)})
    return [{"setting": s, "summary": summary} for s in settings for summary in _SUMMARIES]


def gains_figure(
    runs: Runs,
    *,
    setting: str = "",
    summary: Summary = "global",
    style: FigureStyle = SCREEN,
) -> Figure:
    """Gains in points of accuracy, a group per f, in it each strategy with WoLA.

    A gain is a dot, its shape that of its alpha. Five gains or more of a strategy, over datasets
    and values of alpha, have a box around them: from the first to the third quartile, the line at
    the median, the whiskers to the farthest gain within 1.5 times the box. Fewer have none, as
    quartiles of so few say nothing: a thin line joins those of a dataset. After the WoLA paper's
    figure of accuracy gains.
    """
    here = attacked(runs).where(setting=[setting])
    found = gains(scores(here, summary=summary))
    if found.is_empty():
        raise CannotDraw("needs runs with WoLA and without it, of the same dataset, alpha and f")
    known = found.drop_nulls("gain")
    if known.is_empty():
        raise CannotDraw(f"all {len(found)} gains lack runs, of the strategy or of those beside it")
    styles, labels = line_styles(known["strategy"]), strategy_labels(here)
    counts = known["byzantine"].unique().sort().to_list()
    alphas = known["alpha"].unique().sort(descending=True).to_list()
    wide = max(6.5, 0.5 * len(counts) * len(styles))
    figure, panels = panel_grid(style, 1, 1, panel=(wide, 3.2), shaped=True)
    axes = panels[0, 0]
    step = 0.8 / len(styles)
    for rank, (strategy, look) in enumerate(styles.items()):
        for group, f in enumerate(counts):
            cell = known.filter(strategy=strategy, byzantine=f)
            x = group + (rank - (len(styles) - 1) / 2) * step
            if len(cell) >= _FEWEST_OF_A_BOX:
                _box(axes, x, cell, step, _face(look, rank), style)
            _dots(axes, x, cell, step, alphas, look["color"], style)
    axes.axhline(0, color="black", linewidth=0.8 * style.scale)
    axes.grid(axis="y", **GRID)
    axes.set_axisbelow(True)
    axes.set_xticks(range(len(counts)), [f"f = {f}" for f in counts])
    axes.set_xlim(-0.5, len(counts) - 0.5)
    for border in range(1, len(counts)):
        axes.axvline(border - 0.5, color="0.8", linewidth=0.8 * style.scale)
    axes.set_ylabel("gain in accuracy (points)")
    sizes = known.group_by("byzantine", "strategy").len()["len"].to_list()
    legend_below(figure, _handles(styles, labels, alphas, style, boxes=_boxed(sizes)), style)
    lacking = len(found) - len(known)
    datasets = ", ".join(short_names(known["dataset"].unique().sort()).values())
    caption(
        figure,
        style,
        f"Gain over the best strategy without WoLA ({_SUMMARIES[summary]}): {datasets}",
        [
            setting,
            f"{_described(sizes)}, from means of {seeds_of(here.table)}; strategies from left to "
            "right as in the legend",
            f"left out as incomplete: {lacking} of {len(found)} gains" if lacking else "",
        ],
    )
    return figure


def _handles(
    styles: dict[str, LineStyle],
    labels: dict[str, str],
    alphas: list[float],
    style: FigureStyle,
    *,
    boxes: bool,
) -> dict[str, Any]:
    """What a legend shows beside each strategy and each alpha."""
    made: dict[str, Any] = {}
    for rank, (name, look) in enumerate(styles.items()):
        face = _face(look, rank) if boxes else {"facecolor": look["color"]}
        made[labels[name]] = Patch(edgecolor="black", linewidth=0.8 * style.scale, **face)
    for place, alpha in enumerate(alphas):
        made[f"alpha = {alpha:g}"] = Line2D([], [], **_shape(place, "white", style))
    return made


def _face(look: LineStyle, rank: int) -> dict[str, Any]:
    return {"facecolor": look["color"], "alpha": 0.55, "hatch": _HATCHES[rank % len(_HATCHES)]}


def _shape(place: int, colour: str, style: FigureStyle) -> dict[str, Any]:
    outline = {"markerfacecolor": colour, "markeredgecolor": "black", "linestyle": "none"}
    sizes = {"markersize": 5 * style.scale, "markeredgewidth": 0.8 * style.scale}
    return {**outline, **sizes, "marker": _POINTS[place % len(_POINTS)]}


def _box(
    axes: Axes, x: float, cell: pl.DataFrame, step: float, face: dict[str, Any], style: FigureStyle
) -> None:
    thin = {"linewidth": 0.8 * style.scale}
    drawn = axes.boxplot(
        cell["gain"].to_list(),
        positions=[x],
        widths=0.8 * step,
        patch_artist=True,
        showfliers=False,
        manage_ticks=False,
        boxprops=thin,
        whiskerprops=thin,
        capprops=thin,
        medianprops={"color": "black", "linewidth": 2 * style.scale},
    )
    drawn["boxes"][0].set(**face)


def _dots(
    axes: Axes,
    x: float,
    cell: pl.DataFrame,
    step: float,
    alphas: list[float],
    colour: str,
    style: FigureStyle,
) -> None:
    """The gains as dots, white on a box, else of the strategy's colour; alphas side by side."""
    boxed = len(cell) >= _FEWEST_OF_A_BOX
    apart = (0.18 if boxed else 0.25) * step
    shifted = {a: x + (i - (len(alphas) - 1) / 2) * apart for i, a in enumerate(alphas)}
    if not boxed:
        for _, own in cell.sort("alpha", descending=True).group_by("dataset", maintain_order=True):
            joined = [shifted[alpha] for alpha in own["alpha"]]
            axes.plot(joined, own["gain"].to_list(), color=colour, linewidth=style.scale)
    for place, alpha in enumerate(alphas):
        gained = cell.filter(alpha=alpha)["gain"].to_list()
        filled = _shape(place, "white" if boxed else colour, style)
        axes.plot([shifted[alpha]] * len(gained), gained, **filled)


def _boxed(sizes: list[int]) -> bool:
    return max(sizes) >= _FEWEST_OF_A_BOX


def _described(sizes: list[int]) -> str:
    """What dots and boxes are of, in words, from the number of gains of each strategy and f.

    >>> _described([3, 3]), _described([3, 6])
    ('a dot is a gain', 'a dot is a gain, a box of 6 gains')
    """
    boxes = [size for size in sizes if size >= _FEWEST_OF_A_BOX]
    return "a dot is a gain" + (f", a box of {_between(boxes)}" if boxes else "")


def _between(sizes: list[int]) -> str:
    """How many gains there are, from the fewest to the most."""
    fewest = f"{min(sizes)} to " if min(sizes) < max(sizes) else ""
    return fewest + counted(max(sizes), "gain")
