"""The speed to reach, and what was measured against it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.tables import PRODUCT, READ, Cell, markdown_table, significant

TORCH, NUMPY = "ByzFL torch", "ByzFL NumPy"


@dataclass(frozen=True)
class Goal:
    """A work at n workers: at least so many times as fast as ByzFL, at most so many references."""

    works: tuple[str, ...]
    workers: tuple[int, ...]
    byzfl: float
    reference: str | None = None
    multiple: float = float("inf")
    least_d: int = 431_080

    def met_by(self, cell: Cell) -> bool:
        """Whether the goal speaks of this cell."""
        return cell.work in self.works and cell.n in self.workers and cell.d >= self.least_d


ALL = (17, 50, 100)
GOALS = (
    Goal(("median", "trimmed-mean"), (17,), 80, READ, 2.0),
    Goal(("median", "trimmed-mean"), (50, 100), 25),
    Goal(("nnm+multi-krum", "nnm+geometric-median"), ALL, 25, PRODUCT, 2.5),
    Goal(("nnm+median", "nnm+trimmed-mean"), ALL, 18),
    Goal(("multi-krum",), ALL, 7),
    Goal(("geometric-median",), ALL, 6),
    Goal(("alie",), ALL, 10),
    Goal(("optimal-alie",), ALL, 100),
)


def goal_table(cells: Sequence[Cell], goals: Iterable[Goal] = GOALS) -> str:
    """Each goal beside what was measured, on both of ByzFL's paths."""
    head = ["work", "n", "d", "goal", TORCH, NUMPY, "reached"]
    rows = [
        [
            cell.work,
            str(cell.n),
            f"{cell.d:,}",
            f"{goal.byzfl:g}x ByzFL",
            *[_times(cell.ratio(path)) for path in (TORCH, NUMPY)],
            verdict(cell, goal),
        ]
        for goal in goals
        for cell in cells
        if goal.met_by(cell)
    ]
    return markdown_table(head, rows) if rows else "None of the goals' sizes was measured."


def reference_table(cells: Sequence[Cell], goals: Iterable[Goal] = GOALS) -> str:
    """The goals that speak of a read pass or a matrix product."""
    rows = [
        [
            cell.work,
            str(cell.n),
            f"{cell.d:,}",
            f"at most {goal.multiple:g}x the {goal.reference}",
            f"{significant(cell.multiple(goal.reference))}x",
            "yes" if cell.multiple(goal.reference) <= goal.multiple else "no",
        ]
        for goal in goals
        for cell in cells
        if goal.reference and goal.met_by(cell)
    ]
    head = ["work", "n", "d", "goal", "measured", "reached"]
    return markdown_table(head, rows) if rows else "None of the goals' sizes was measured."


def verdict(cell: Cell, goal: Goal) -> str:
    """Whether the goal is reached against ByzFL's torch path, and against its NumPy path."""
    ratios = {path: cell.ratio(path) for path in (TORCH, NUMPY)}
    known = {path: ratio >= goal.byzfl for path, ratio in ratios.items() if ratio is not None}
    if not known:
        return "not measured"
    if all(known.values()):
        return "yes"
    if not any(known.values()):
        return "no"
    return f"on {next(path for path, reached in known.items() if reached)} only"


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{significant(ratio)}x"
