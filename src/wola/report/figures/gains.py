"""The box plots of accuracy gains over the best strategy without WoLA, by f."""

from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from wola.ground.names import counted
from wola.report.figures.panels import NOTE, caption, panel_grid
from wola.report.figures.selection import CannotDraw, attacked, places, seeds_of
from wola.report.figures.styles import Style, line_styles, strategy_labels
from wola.report.runs import Runs
from wola.report.scores import Summary, gains, scores
from wola.report.short_names import short_names

_SUMMARIES = {"global": "mean over attacks and aggregators", "worst": "worst attack"}

# Boxes in grey: the hatching tells the strategies apart.
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")

_POINTS = ("o", "^", "s", "D", "v", "P", "X", "*")


def gains_cases(runs: Runs) -> list[dict[str, Any]]:
    """Global and worst case for every setting."""
    settings = sorted({place["setting"] for place in places(runs)})
    return [{"setting": s, "summary": summary} for s in settings for summary in _SUMMARIES]


def gains_figure(runs: Runs, *, setting: str = "", summary: Summary = "global") -> Figure:
    """Gains in points of accuracy, a group of boxes per f, a box per strategy with WoLA.

    A box is over datasets and values of alpha: from the first to the third quartile, the line at
    the median, the whiskers to the farthest gain within 1.5 times the box. Every gain is a point
    as well, as a box of few says little. After the WoLA paper's figure of accuracy gains.
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
    figure, panels = panel_grid(1, 1, panel=(max(6.5, 0.5 * len(counts) * len(styles)), 3.4))
    axes = panels[0, 0]
    step = 0.8 / len(styles)
    for rank, (strategy, style) in enumerate(styles.items()):
        for group, f in enumerate(counts):
            cell = known.filter(strategy=strategy, byzantine=f)
            if len(cell):
                x = group + (rank - (len(styles) - 1) / 2) * step
                _box(axes, x, cell, step, _face(style, rank))
                _points(axes, x, cell, step, alphas)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xticks(range(len(counts)), [f"f = {f}" for f in counts])
    axes.set_xlim(-0.5, len(counts) - 0.5)
    for border in range(1, len(counts)):
        axes.axvline(border - 0.5, color="0.8", linewidth=0.8)
    axes.set_ylabel("gain in accuracy (points)")
    boxes = [
        Patch(edgecolor="black", label=labels[name], **_face(style, rank))
        for rank, (name, style) in enumerate(styles.items())
    ]
    shapes = [
        Line2D([], [], label=f"alpha = {alpha:g}", **_shape(place))
        for place, alpha in enumerate(alphas)
    ]
    figure.legend(
        handles=[*boxes, *shapes],
        loc="outside lower center",
        ncols=4,
        frameon=False,
        fontsize=NOTE,
        handleheight=1.4,
    )
    lacking = len(found) - len(known)
    datasets = ", ".join(short_names(known["dataset"].unique().sort()).values())
    caption(
        figure,
        f"Gain over the best strategy without WoLA ({_SUMMARIES[summary]}): {datasets}",
        [
            setting,
            f"a box is of {_sizes(known)}, each from means of {seeds_of(here.table)}",
            f"left out as incomplete: {lacking} of {len(found)} gains" if lacking else "",
        ],
    )
    return figure


def _face(style: Style, rank: int) -> dict[str, Any]:
    return {"facecolor": style["color"], "alpha": 0.55, "hatch": _HATCHES[rank % len(_HATCHES)]}


def _shape(place: int) -> dict[str, Any]:
    outline = {"markerfacecolor": "white", "markeredgecolor": "black", "linestyle": "none"}
    return {**outline, "markersize": 4.5, "marker": _POINTS[place % len(_POINTS)]}


def _box(axes: Axes, x: float, cell: pl.DataFrame, step: float, face: dict[str, Any]) -> None:
    drawn = axes.boxplot(
        cell["gain"].to_list(),
        positions=[x],
        widths=0.8 * step,
        patch_artist=True,
        showfliers=False,
        manage_ticks=False,
        medianprops={"color": "black", "linewidth": 2},
    )
    drawn["boxes"][0].set(**face)


def _points(axes: Axes, x: float, cell: pl.DataFrame, step: float, alphas: list[float]) -> None:
    for place, alpha in enumerate(alphas):
        points = cell.filter(alpha=alpha)["gain"].to_list()
        shift = (place - (len(alphas) - 1) / 2) * 0.18 * step
        axes.plot([x + shift] * len(points), points, **_shape(place))


def _sizes(known: pl.DataFrame) -> str:
    """How many gains the boxes have."""
    sizes = known.group_by("byzantine", "strategy").len()["len"].to_list()
    if min(sizes) == max(sizes):
        return counted(sizes[0], "gain")
    return f"{min(sizes)} to {max(sizes)} gains"
