"""The numbers of the demonstration: means over seeds, worst cases, ranks, and what they say."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from wola.cli.demo.plan import Plan, Run

MEAN, WORST = "mean", "worst"


@dataclass(frozen=True)
class Score:
    """Accuracy in percent: the mean over seeds, and the standard deviation (n - 1) over seeds."""

    mean: float
    sd: float


@dataclass(frozen=True)
class Board:
    """A table of scores: one row per strategy, one column per attack, then mean and worst case."""

    title: str
    columns: tuple[str, ...]
    rows: dict[str, dict[str, Score]]

    def ranks(self, column: str) -> dict[str, int]:
        """The place of each strategy in a column; equal to the printed digit shares a place.

        >>> rows = {"a": {"sf": Score(70.04, 0)}, "b": {"sf": Score(69.96, 0)}}
        >>> Board("", ("sf",), rows).ranks("sf")
        {'a': 1, 'b': 1}
        """
        shown = {name: round(row[column].mean, 1) for name, row in self.rows.items()}
        order = sorted(set(shown.values()), reverse=True)
        return {name: order.index(value) + 1 for name, value in shown.items()}


def score(runs: Iterable[Run]) -> Score:
    """The score of some runs: averaged within each seed first, then over the seeds."""
    by_seed: dict[int, list[float]] = {}
    for one in runs:
        by_seed.setdefault(one.cell.seed, []).append(one.accuracy)
    means = [fmean(values) for values in by_seed.values()]
    return Score(fmean(means), stdev(means) if len(means) > 1 else 0.0)


def boards(plan: Plan, runs: Sequence[Run]) -> list[Board]:
    """One board per rule, and last the one over all rules."""
    single = [_board(name, plan, runs, (name,)) for name in plan.aggregators]
    return [*single, _board("all rules", plan, runs, plan.aggregators)]


def worst_runs(
    plan: Plan, runs: Sequence[Run], strategy: str, aggregators: Iterable[str]
) -> list[Run]:
    """The runs of a strategy under the attack that hurts it most, chosen for each rule."""
    chosen = []
    for aggregator in aggregators:
        by_attack = [
            _of(runs, strategy=strategy, aggregator=aggregator, attack=attack)
            for attack in plan.attacks
        ]
        chosen += min(by_attack, key=lambda some: score(some).mean)
    return chosen


def mean_dissimilarity(runs: Sequence[Run], strategy: str) -> float:
    """The dissimilarity of the honest momenta over all runs of a strategy."""
    return fmean(fmean(one.dissimilarity) for one in _of(runs, strategy=strategy))


def reading(plan: Plan, runs: Sequence[Run]) -> str:
    """What one sees, in two plain sentences made from the numbers."""
    rows = boards(plan, runs)[-1].rows
    best = max(rows, key=lambda name: rows[name][MEAN].mean)
    first, last = plan.strategies[0], plan.strategies[-1]
    apart = {name: mean_dissimilarity(runs, name) for name in (first, last)}
    ratio = max(apart.values()) / min(apart.values())
    change = "smaller" if apart[last] < apart[first] else "larger"
    return (
        f"With {plan.byzantine} of {plan.workers} workers lying, {best} keeps the most accuracy: "
        f"{rows[best][MEAN].mean:.1f} % over all attacks and rules, {rows[best][WORST].mean:.1f} % "
        f"under the worst attack; a rule alone ('-') keeps {rows[first][MEAN].mean:.1f} % and "
        f"{rows[first][WORST].mean:.1f} %. Under {last} the dissimilarity of honest updates is "
        f"{ratio:.1f} times {change} than under {first!r} ({apart[last]:.3g} against "
        f"{apart[first]:.3g}): the less honest workers differ, the less room is left to lie in."
    )


def _board(title: str, plan: Plan, runs: Sequence[Run], aggregators: tuple[str, ...]) -> Board:
    here = [one for one in runs if one.cell.aggregator in aggregators]
    rows = {}
    for strategy in plan.strategies:
        row = {a: score(_of(here, strategy=strategy, attack=a)) for a in plan.attacks}
        row[MEAN] = score(_of(here, strategy=strategy))
        row[WORST] = score(worst_runs(plan, here, strategy, aggregators))
        rows[strategy] = row
    return Board(title, (*plan.attacks, MEAN, WORST), rows)


def _of(runs: Iterable[Run], **wanted: str) -> list[Run]:
    return [one for one in runs if wanted.items() <= vars(one.cell).items()]
