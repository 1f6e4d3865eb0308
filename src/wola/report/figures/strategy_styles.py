"""How strategies look in figures: told apart by every kind of sight, and in grey."""

from collections.abc import Iterable
from typing import Any

from wola.report.names import in_order
from wola.report.runs import Runs, values
from wola.report.short_names import short_strategies
from wola.training import STRATEGIES

LineStyle = dict[str, Any]

# Colours of Okabe and Ito, without their yellow, which is too faint for a line on white. Line
# styles and markers say the same as the colours, for prints in grey.
_NAMED: dict[str, LineStyle] = {
    "-": {"color": "#000000", "linestyle": (0, (1, 1.5)), "marker": "o"},
    "BKT": {"color": "#7F7F7F", "linestyle": (0, (1, 3)), "marker": "v"},
    "NNM": {"color": "#009E73", "linestyle": (0, (6, 2, 1, 2)), "marker": "^"},
    "FoundFL": {"color": "#CC79A7", "linestyle": (0, (3, 2, 1, 2, 1, 2)), "marker": "P"},
    "WoLA": {"color": "#D55E00", "linestyle": (0, (10, 1.5)), "marker": "D"},
    "WoLA+NNM": {"color": "#0072B2", "linestyle": "-", "marker": "s"},
    "WoLA-dagger": {"color": "#E69F00", "linestyle": (0, (5, 2)), "marker": "d"},
    "WoLA-dagger+NNM": {"color": "#56B4E9", "linestyle": (0, (2.5, 1)), "marker": "X"},
    "WoLA-shift": {"color": "#882255", "linestyle": (0, (2, 1)), "marker": "<"},
    "WoLA-shift+angle": {"color": "#332288", "linestyle": (0, (8, 1)), "marker": "*"},
}
_OTHERS: tuple[LineStyle, ...] = (
    {"color": "#AA4499", "linestyle": (0, (7, 3)), "marker": "H"},
    {"color": "#117733", "linestyle": (0, (3, 1, 1, 1)), "marker": "8"},
    {"color": "#999933", "linestyle": (0, (8, 1, 1, 1)), "marker": ">"},
    {"color": "#44AA99", "linestyle": (0, (4, 1, 4, 3)), "marker": "p"},
    {"color": "#661100", "linestyle": (0, (1, 1, 4, 1)), "marker": "h"},
)

_SIGNS = {"-": "- (rule alone)"}


def line_styles(strategies: Iterable[str]) -> dict[str, LineStyle]:
    """Colour, line style and marker of each strategy, in the order of a legend.

    The named strategies look the same in every figure; others take what is left, by alphabet.

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
