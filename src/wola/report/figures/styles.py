"""How strategies and workers look in figures: told apart by every kind of sight, and in grey."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from wola.report.names import in_order
from wola.report.runs import Runs, values
from wola.report.short_names import short_strategies
from wola.training import STRATEGIES

Style = dict[str, Any]

# Colours of Okabe and Ito, without their yellow, which is too faint for a line on white. Line
# styles and markers say the same as the colours, for prints in grey.
_NAMED: dict[str, Style] = {
    "-": {"color": "#000000", "linestyle": (0, (1, 1.5)), "marker": "o"},
    "BKT": {"color": "#7F7F7F", "linestyle": (0, (1, 3)), "marker": "v"},
    "NNM": {"color": "#009E73", "linestyle": (0, (6, 2, 1, 2)), "marker": "^"},
    "FoundFL": {"color": "#CC79A7", "linestyle": (0, (3, 2, 1, 2, 1, 2)), "marker": "P"},
    "WoLA": {"color": "#D55E00", "linestyle": (0, (10, 1.5)), "marker": "D"},
    "WoLA+NNM": {"color": "#0072B2", "linestyle": "-", "marker": "s"},
    "WoLA-dagger": {"color": "#E69F00", "linestyle": (0, (5, 2)), "marker": "d"},
    "WoLA-dagger+NNM": {"color": "#56B4E9", "linestyle": (0, (2.5, 1)), "marker": "X"},
}
_OTHERS: tuple[Style, ...] = (
    {"color": "#332288", "linestyle": (0, (8, 1)), "marker": "*"},
    {"color": "#882255", "linestyle": (0, (2, 1)), "marker": "<"},
    {"color": "#999933", "linestyle": (0, (8, 1, 1, 1)), "marker": ">"},
    {"color": "#44AA99", "linestyle": (0, (4, 1, 4, 3)), "marker": "p"},
    {"color": "#661100", "linestyle": (0, (1, 1, 4, 1)), "marker": "h"},
)

#: From dark to light as the number grows, in colour and in grey.
SEQUENTIAL = "cividis"

#: From white, which is nothing, to dark; workers that are honest, and workers that are not.
FROM_NOTHING, OF_BYZANTINE = "Blues", "Oranges"

#: Zero is white. Grey loses the sign: a figure that uses it writes the sign as well.
DIVERGING = "PuOr"

_SIGNS = {"-": "- (rule alone)"}


def line_styles(strategies: Iterable[str]) -> dict[str, Style]:
    """Colour, line style and marker of each strategy, in the order of a legend.

    The paper's strategies look the same in every figure; others take what is left, by alphabet.

    >>> list(line_styles(["mine", "WoLA", "-"]))
    ['-', 'WoLA', 'mine']
    >>> line_styles(["WoLA"])["WoLA"]["color"]
    '#D55E00'
    """
    names = in_order(strategies, STRATEGIES)
    others = [name for name in names if name not in _NAMED]
    spare = {name: _OTHERS[place % len(_OTHERS)] for place, name in enumerate(others)}
    return {name: _NAMED.get(name) or spare[name] for name in names}


def strategy_labels(runs: Runs) -> dict[str, str]:
    """The strategies of some runs as a legend writes them, short and all different.

    >>> from wola.report.runs import read_runs
    >>> strategy_labels(read_runs())
    {}
    """
    short = short_strategies(values(runs, "strategy"), runs.strategies)
    return {name: _SIGNS.get(text, text.replace("-dagger", "†")) for name, text in short.items()}


def write_numbers(axes: Axes, numbers: NDArray[np.float64], *, form: str, size: float) -> None:
    """Writes the numbers of a heat map into its cells, light on dark and dark on light."""
    image = axes.get_images()[0]
    for (row, column), number in np.ndenumerate(numbers):
        if np.isnan(number):
            continue
        red, green, blue, _ = image.to_rgba(np.asarray(number))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        colour = "white" if dark else "black"
        text = format(number, form).replace("-", "\N{MINUS SIGN}")
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)
