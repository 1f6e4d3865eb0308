"""The grids that are known by name: each result of the paper, and two for a small machine."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from wola.bench.grid import Grid, GridError
from wola.bench.iris import keep_iris
from wola.bench.store import Store
from wola.ground.names import nearest
from wola.training import PAPER_STRATEGIES

_DATASETS = ("mnist", "fashion-mnist", "cifar10", "purchase100")
_SKEWS = (3.0, 1.0, 0.3)
# The last two as the paper's authors have them: ten smoothed steps, and the first power.
_RULES = (
    "median",
    "trimmed-mean",
    "geometric-median(iterations=10, nu=0.1)",
    "multi-krum(power=1)",
)
_SEEDS = (1, 2, 3)

_DEFENCES: dict[str, Any] = {
    "strategy": tuple(PAPER_STRATEGIES),
    "aggregator": _RULES,
    "attack": ("alie", "foe", "lf", "mimic", "sf"),
}


def accuracy() -> Grid:
    """Every dataset, skew, f, strategy, aggregator, attack and seed of the paper: 23,040 runs."""
    axes = {"dataset": _DATASETS, "alpha": _SKEWS, "byzantine": (2, 4, 6, 8), **_DEFENCES}
    return Grid({}, {**axes, "seed": _SEEDS})


def mean() -> Grid:
    """No attackers and the plain mean, with WoLA and without: what the loss alone does."""
    axes = {"dataset": _DATASETS, "alpha": _SKEWS, "strategy": ("WoLA", "-"), "seed": _SEEDS}
    return Grid({"byzantine": 0, "aggregator": "mean", "attack": "none"}, axes)


def curves() -> Grid:
    """Accuracy and dissimilarity as training goes, tested every fifth step.

    The paper does not say how often it tests for this figure.
    """
    base = {"dataset": "fashion-mnist", "alpha": 0.3, "byzantine": 6, "evaluate_every": 5}
    return Grid(base, {**_DEFENCES, "attack": ("alie", "lf"), "seed": _SEEDS})


def heatmap() -> Grid:
    """Batch size against momentum, WoLA against NNM.

    The paper names batches of 128 and 256 and momenta of 0.9 and 0.99, with smaller and larger
    ones beside them; the others here are chosen around these.
    """
    base = {"byzantine": 5, "attack": "alie", "aggregator": "trimmed-mean"}
    axes = {
        "dataset": ("fashion-mnist", "cifar10"),
        "alpha": _SKEWS,
        "batch": (32, 64, 128, 256, 512),
        "beta": (0.0, 0.5, 0.9, 0.99),
        "strategy": ("WoLA", "NNM"),
        "seed": _SEEDS,
    }
    return Grid(base, axes)


def quick() -> Grid:
    """Digits, strong skew, six attackers: all strategies, aggregators and attacks, one seed."""
    return Grid({"dataset": "digits", "alpha": 0.3, "byzantine": 6, "seed": 1}, _DEFENCES)


def digits() -> Grid:
    """The whole grid of the paper's accuracy, on digits: 5,760 runs."""
    axes = {k: v for k, v in accuracy().axes.items() if k != "dataset"}
    return Grid({"dataset": "digits"}, axes)


#: Grids by name. Accuracy and dissimilarity are measured in the same runs.
PRESETS: Mapping[str, Callable[[], Grid]] = MappingProxyType(
    {
        "paper/accuracy": accuracy,
        "paper/dissimilarity": accuracy,
        "paper/mean": mean,
        "paper/curves": curves,
        "paper/heatmap": heatmap,
        "quick": quick,
        "digits": digits,
    }
)

#: Results that are no federation's: what writes each into a store, and says where.
FIGURES: Mapping[str, Callable[[Store], Path]] = MappingProxyType({"paper/iris": keep_iris})


def preset(name: str) -> Grid:
    """The grid of a name.

    >>> len(preset("quick").scenarios())
    160
    """
    try:
        return PRESETS[nearest(name, PRESETS)]()
    except ValueError as error:
        raise GridError(f"grid = {name!r}; {error}") from None
