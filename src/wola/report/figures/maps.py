"""Maps of numbers as colours: their colours, the numbers in their cells, and the scale beside."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from wola.report.figure_style import FigureStyle
from wola.report.figures.panels import panel_width

#: From dark to light as the number grows, in colour and in grey.
SEQUENTIAL = "cividis"

#: From white, which is nothing, to dark; workers that are honest, and workers that are not.
FROM_NOTHING, OF_BYZANTINE = "Blues", "Oranges"

#: Zero is white. Grey loses the sign: a figure that uses it writes the sign as well.
DIVERGING = "PuOr"

# Colour of cells that have no number.
_EMPTY = "0.85"


def number_map(
    axes: Axes, numbers: NDArray[np.float64], *, colours: str, limits: tuple[float, float]
) -> AxesImage:
    """Draws numbers as colours, from the first limit to the second; grey where there is none."""
    axes.set_facecolor(_EMPTY)
    low, high = limits
    return axes.imshow(numbers, cmap=colours, vmin=low, vmax=high, aspect="auto")


def number_text(number: float, form: str) -> str:
    """A number as a cell shows it, with a true minus; what rounds to zero has no sign.

    >>> number_text(-0.04, "+.1f"), number_text(0.04, "+.1f"), number_text(2.0, "+.1f")
    ('0.0', '0.0', '+2.0')
    """
    text = format(number, form)
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "\N{MINUS SIGN}")


def write_numbers(
    axes: Axes,
    numbers: NDArray[np.float64],
    *,
    form: str,
    size: float,
    bold: NDArray[np.bool_] | None = None,
) -> None:
    """Writes the numbers of a map into its cells, light on dark and dark on light."""
    image = axes.get_images()[0]
    for (row, column), number in np.ndenumerate(numbers):
        if np.isnan(number):
            continue
        red, green, blue, _ = image.to_rgba(np.asarray(number))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        look: dict[str, Any] = {"color": "white" if dark else "black", "fontsize": size}
        if bold is not None and bold[row, column]:
            look["fontweight"] = "bold"
        axes.text(column, row, number_text(number, form), ha="center", va="center", **look)


def write_counts(
    axes: Axes, counts: NDArray[np.int64], expected: NDArray[np.int64], *, size: float
) -> None:
    """Writes into the cells that lack runs how many of how many there are."""
    for (row, column), count in np.ndenumerate(counts):
        if count < expected[row, column]:
            text = f"{count}/{expected[row, column]}"
            axes.text(column, row, text, ha="center", va="center", fontsize=size, style="italic")


def colour_bar(
    figure: Figure,
    image: AxesImage,
    panels: Iterable[Axes],
    style: FigureStyle,
    *,
    label: str,
    extend: str = "neither",
) -> None:
    """The scale of an image's colours: beside its panels, or below them in a narrow figure."""
    place: dict[str, Any] = {"location": "right", "pad": 0.015}
    if style.narrow:
        place = {"location": "bottom", "pad": 0.02}
    bar = figure.colorbar(image, ax=list(panels), extend=extend, aspect=30, **place)
    bar.set_label(label, fontsize=style.small)
    bar.ax.tick_params(labelsize=style.small, length=2.5 * style.scale)
    bar.outline.set_linewidth(0.8 * style.scale)


def names_along(axes: Axes, names: list[str], style: FigureStyle) -> None:
    """Names below the columns of a map, turned if they are too long to stand side by side."""
    # Most of a panel's width is its own; the rest is for names beside it.
    room = 0.75 * panel_width(axes) / len(names)
    turned = 0.65 * max(map(len, names)) * style.small / 72 > room
    ends: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(range(len(names)), names, fontsize=style.small, **(ends if turned else {}))
