"""How wola's time grows with the number of workers and of coordinates, as a log-log plot."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import Tensor

from benchmarks.comparison import WARM_COLUMNS, on
from benchmarks.tables import READ, markdown_table, significant
from benchmarks.timing import interleaved, spread, timed
from benchmarks.works import skewed_updates
from wola.aggregation import GeometricMedian, MultiKrum, Rule, TrimmedMean
from wola.mixing import NNM

WORKERS = (17, 32, 64, 128, 256, 512, 1000)
WORKERS_COLUMNS = 20_000
COLUMNS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS_WORKERS = 17
#: The slope is that of the largest sizes: at small ones a call's fixed cost hides the growth.
FITTED = 3

#: For so few workers wola compiles a kernel of their own, once it pays: before the measurement.
FEW_WORKERS = 32

#: Okabe and Ito's colours, told apart by people who see fewer of them.
LOOKS = {
    "trimmed-mean": ("#0072B2", "o"),
    "multi-krum": ("#D55E00", "s"),
    "nnm+trimmed-mean": ("#009E73", "^"),
    "geometric-median": ("#CC79A7", "D"),
    READ: ("#000000", "x"),
}


@dataclass(frozen=True)
class Curve:
    """Seconds of one work at growing sizes; `over` says what grows, n or d."""

    work: str
    over: str
    sizes: list[int]
    seconds: list[float]


def works(f: int) -> dict[str, Callable[[Tensor], Tensor]]:
    """The works whose growth is shown, and one read pass."""
    rules: dict[str, Rule] = {
        "trimmed-mean": TrimmedMean(),
        "multi-krum": MultiKrum(),
        "nnm+trimmed-mean": NNM() | TrimmedMean(),
        "geometric-median": GeometricMedian(),
    }
    calls = {name: given_f(rule, f) for name, rule in rules.items()}
    return {**calls, READ: lambda updates: updates.sum()}


def given_f(rule: Rule, f: int) -> Callable[[Tensor], Tensor]:
    """The rule for f Byzantine workers, as a function of the updates."""
    return lambda updates: rule(updates, f=f)


def measure_curves(
    over: str,
    shapes: Sequence[tuple[int, int]],
    *,
    budget: float,
    rounds: int,
    warm_columns: int = WARM_COLUMNS,
) -> list[Curve]:
    """The curves of all works over updates of these shapes (n, d)."""
    points = [measure_point(n, d, budget, rounds, warm_columns) for n, d in shapes]
    sizes = [n if over == "n" else d for n, d in shapes]
    return [Curve(work, over, sizes, [point[work] for point in points]) for work in points[0]]


def measure_point(
    n: int, d: int, budget: float, rounds: int, warm_columns: int
) -> dict[str, float]:
    """Median seconds of every work on one shape."""
    f = n // 4
    updates = skewed_updates(n, f, d)
    calls = {name: on(work, updates) for name, work in works(f).items()}
    if n <= FEW_WORKERS:
        for _ in range(warm_columns // d):
            calls["trimmed-mean"]()
    first = {}
    for name, call in calls.items():
        call()
        first[name] = timed(call)[0]
    seconds = interleaved(calls, first, budget=budget, most=rounds)
    return {name: spread(values).median for name, values in seconds.items()}


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent p of seconds ~ sizes^p, by least squares on logarithms.

    >>> round(slope([10, 100, 1000], [0.2, 20.0, 2000.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def growth_table(curves: Sequence[Curve]) -> str:
    """The exponent of every curve at its largest sizes, and the time at both ends."""
    head = ["work", "grows with", "from", "to", "ms there", "exponent"]
    rows = [
        [
            curve.work,
            curve.over,
            f"{curve.sizes[0]:,}",
            f"{curve.sizes[-1]:,}",
            f"{significant(1e3 * curve.seconds[0])} to {significant(1e3 * curve.seconds[-1])}",
            f"{slope(curve.sizes[-FITTED:], curve.seconds[-FITTED:]):.2f}",
        ]
        for curve in curves
    ]
    return markdown_table(head, rows)


def draw(curves: Sequence[Curve], path: Path) -> None:
    """Two log-log panels: growth with n and with d."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
    titles = {
        "n": f"workers n, at d = {WORKERS_COLUMNS:,}",
        "d": f"coordinates d, at n = {COLUMNS_WORKERS}",
    }
    for panel, over in zip(panels, ("n", "d"), strict=True):
        for curve in (c for c in curves if c.over == over):
            colour, marker = LOOKS[curve.work]
            exponent = slope(curve.sizes[-FITTED:], curve.seconds[-FITTED:])
            panel.loglog(
                curve.sizes,
                [1e3 * s for s in curve.seconds],
                color=colour,
                marker=marker,
                linestyle="--" if curve.work == READ else "-",
                label=f"{curve.work}: exponent {exponent:.2f}",
            )
        panel.set_xlabel(titles[over])
        sizes = next(c.sizes for c in curves if c.over == over)
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
        panel.minorticks_off()
        panel.set_ylabel("CPU time in ms, one thread")
        panel.grid(visible=True, which="major", alpha=0.3)
        panel.legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=150)
    plt.close(figure)
