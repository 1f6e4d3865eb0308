"""Panels for figures: a grid of them, a title on top, and one legend below."""

import textwrap
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from wola.report.figure_style import FigureStyle

#: Colour and width of grid lines.
GRID: dict[str, Any] = {"color": "0.9", "linewidth": 0.6}

# Inches beside and below the panels, for the names of axes.
_MARGIN = (0.6, 0.4)

# Inches that the name of an axis needs, turned.
_LOWEST = 1.8

_HANDLE = 3.0


def panel_grid(
    style: FigureStyle,
    rows: int,
    columns: int,
    *,
    panel: tuple[float, float],
    least: float = 5.5,
    shaped: bool = False,
    **options: Any,
) -> tuple[Figure, NDArray[Any]]:
    """A figure and its panels (rows, columns), each `panel` inches wide and high on a screen.

    A figure as wide as it needs is at least `least` inches wide, so that its title has room. In
    one of a given width panels are as wide as they can be, and `shaped` ones as much lower as they
    are narrower; maps keep their height, as their rows carry text.

    >>> from wola.report.figure_style import Paper
    >>> figure, panels = panel_grid(Paper(), 1, 2, panel=(2.0, 2.0))
    >>> panels.shape, float(figure.get_figwidth())
    ((1, 2), 3.3)
    """
    beside, below = (margin * style.scale for margin in _MARGIN)
    wide, high = (side * style.scale for side in panel)
    width = style.width or max(least * style.scale, columns * wide + beside)
    if shaped:
        high *= min(1.0, max(0.65, (width - beside) / columns / wide))
    height = style.height or max(_LOWEST * style.scale, rows * high + below)
    figure = Figure(figsize=(width, height), dpi=style.dots)
    pad = 0.04 * style.scale
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=pad, h_pad=pad, wspace=0.02))
    FigureCanvasAgg(figure)
    panels = np.asarray(figure.subplots(rows, columns, squeeze=False, **options))
    for axes in panels.flat:
        _sized(axes, style)
    return figure, panels


def _sized(axes: Axes, style: FigureStyle) -> None:
    """Sets the sizes of what a panel writes and draws, whatever the settings of matplotlib."""
    axes.tick_params(
        labelsize=style.note, length=3 * style.scale, width=0.8 * style.scale, pad=2.5 * style.scale
    )
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_fontsize(style.font)
    for spine in axes.spines.values():
        spine.set_linewidth(0.8 * style.scale)
    axes.xaxis.labelpad = axes.yaxis.labelpad = 2.5 * style.scale


def few_ticks(panels: Iterable[Axes], style: FigureStyle) -> None:
    """As many steps along the x axis as have room side by side."""
    for axes in panels:
        room = max(2, min(int(panel_width(axes) / (0.6 * style.scale)), 8))
        places = MaxNLocator(room, steps=[1, 2, 5, 10], integer=True, min_n_ticks=1)
        axes.xaxis.set_major_locator(places)


def panel_width(axes: Axes) -> float:
    """The inches that a panel and the names of its axes have between its neighbours."""
    place, figure = axes.get_subplotspec(), axes.get_figure(root=True)
    assert place is not None
    assert figure is not None
    return figure.get_figwidth() / place.get_gridspec().ncols


def panel_title(axes: Axes, text: str, style: FigureStyle) -> None:
    """Writes what a panel is about above it."""
    axes.set_title(text, fontsize=style.font, pad=4 * style.scale)


def caption(figure: Figure, style: FigureStyle, title: str, notes: Iterable[str] = ()) -> None:
    """Writes the title, and below it what the reader must know, wrapped to the width.

    A figure without title keeps the text as its label, from which its caption can be made.
    """
    told = [text for text in (title, *notes) if text]
    figure.set_label("\n".join(told))
    if not style.titled:
        return
    signs = int(figure.get_figwidth() * 72 / (0.53 * style.title))
    lines = [line for text in told for line in _even_lines(text, signs)]
    figure.suptitle("\n".join(lines), fontsize=style.title)
    if style.height is None:
        _grow(figure, 1.25 * style.title / 72 * len(lines))


def _even_lines(text: str, longest: int) -> list[str]:
    """As few lines as fit, none much shorter than the others.

    >>> _even_lines("a line that is too long", 20)
    ['a line that', 'is too long']
    """
    count = len(textwrap.wrap(text, longest))
    widths = range(len(text) // max(count, 1), longest)
    tries = (textwrap.wrap(text, width) for width in widths if width)
    return next((lines for lines in tries if len(lines) <= count), textwrap.wrap(text, longest))


def share_legend(figure: Figure, panels: Iterable[Axes], style: FigureStyle) -> None:
    """One legend below all panels, with each label once."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    legend_below(figure, found, style)


def legend_below(figure: Figure, handles: dict[str, Any], style: FigureStyle) -> None:
    """A legend below all panels, in as many columns as there is room for."""
    if not handles:
        return
    # A letter is about 0.6 times as wide as it is high.
    entry = (_HANDLE + 2 + 0.6 * max(map(len, handles))) * style.note / 72
    fitting = max(1, int(figure.get_figwidth() / entry))
    rows = -(-len(handles) // fitting)
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=-(-len(handles) // rows),
        frameon=False,
        fontsize=style.note,
        handlelength=_HANDLE,
        handleheight=1.2,
        columnspacing=1.2,
        labelspacing=0.35,
        borderaxespad=0.2,
    )
    if style.height is None:
        _grow(figure, rows * style.line + 0.05 * style.scale)


def _grow(figure: Figure, inches: float) -> None:
    """Makes room that the panels need not give."""
    figure.set_figheight(figure.get_figheight() + inches)
