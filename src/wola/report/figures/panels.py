"""Panels for figures: a grid of them, a caption on top, one legend, and files."""

import io
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from wola.ground.files import write_whole

#: The forms a figure can be written in.
FIGURE_FORMS = ("pdf", "svg", "png")

TITLE, NOTE, SMALL = 11, 9, 8

_DOTS_PER_INCH = 160
_UNDATED: dict[str, Any] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def panel_grid(
    rows: int, columns: int, *, panel: tuple[float, float], least: float = 5.5, **options: Any
) -> tuple[Figure, NDArray[Any]]:
    """A figure and its panels (rows, columns), each `panel` inches wide and high.

    The figure is at least `least` inches wide, so that its caption has room.

    >>> figure, panels = panel_grid(1, 2, panel=(2.0, 2.0))
    >>> panels.shape
    (1, 2)
    """
    size = (max(least, columns * panel[0] + 0.6), rows * panel[1] + 1.1)
    figure = Figure(figsize=size, layout="constrained", dpi=_DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    return figure, np.asarray(figure.subplots(rows, columns, squeeze=False, **options))


def caption(figure: Figure, title: str, notes: Iterable[str] = ()) -> None:
    """Writes the title, and below it what the reader must know, wrapped to the width."""
    width = figure.get_figwidth()
    lines = [line for text in (title, *notes) for line in _even_lines(text, int(12 * width))]
    figure.suptitle("\n".join(lines), fontsize=TITLE if width > 7 else TITLE - 1)


def _even_lines(text: str, longest: int) -> list[str]:
    """As few lines as fit, none much shorter than the others.

    >>> _even_lines("a line that is too long", 20)
    ['a line that', 'is too long']
    """
    count = len(textwrap.wrap(text, longest))
    widths = range(len(text) // max(count, 1), longest)
    tries = (textwrap.wrap(text, width) for width in widths if width)
    return next((lines for lines in tries if len(lines) <= count), textwrap.wrap(text, longest))


def share_legend(figure: Figure, panels: Iterable[Axes], *, columns: int | None = None) -> None:
    """One legend below all panels, with each label once."""
    found: dict[str, Any] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    fitting = columns or max(1, int(figure.get_figwidth() / 1.65))
    rows = -(-len(found) // fitting)
    figure.legend(
        list(found.values()),
        list(found),
        loc="outside lower center",
        ncols=-(-len(found) // rows),
        frameon=False,
        fontsize=NOTE,
        handlelength=3.2,
    )


def save(figure: Figure, folder: Path, stem: str, forms: Sequence[str]) -> list[Path]:
    """Writes a figure in some forms; the same figure gives the same bytes.

    Letters stay letters: TrueType in a PDF, text in an SVG.
    """
    for form in forms:
        if form not in FIGURE_FORMS:
            raise ValueError(f"form = {form!r}; allowed: {', '.join(FIGURE_FORMS)}")
    figure.draw_without_rendering()
    # The layout is found once, or every form would do it again.
    figure.set_layout_engine("none")
    paths = []
    with matplotlib.rc_context(_settings(stem)):
        for form in forms:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=form, metadata=_UNDATED[form], dpi=_DOTS_PER_INCH)
            write_whole(path := folder / f"{stem}.{form}", buffer.getvalue())
            paths.append(path)
    return paths


def _settings(stem: str) -> Any:
    return {"pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": stem}
