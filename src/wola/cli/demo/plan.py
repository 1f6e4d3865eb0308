"""The runs of the demonstration: every strategy, rule, attack and seed once."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from statistics import fmean

from wola.training import Scenario, simulate

TRIMMED_MEAN, MULTI_KRUM = "trimmed-mean", "multi-krum"


@dataclass(frozen=True)
class Cell:
    """One run of the plan, by what tells it from the others."""

    strategy: str
    aggregator: str
    attack: str
    seed: int


@dataclass(frozen=True)
class Run:
    """What a run has shown: `accuracy` averaged over training in percent, and two curves.

    ``curve`` is the accuracy at each of ``steps``; ``dissimilarity`` that of the honest momenta,
    averaged over the steps since the evaluation before. ``digest`` stands for the run's bits.
    """

    cell: Cell
    accuracy: float
    steps: tuple[int, ...]
    curve: tuple[float, ...]
    dissimilarity: tuple[float, ...]
    digest: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All runs of the demonstration: 17 workers, 6 of them Byzantine, label mixes of Dir(0.3).

    >>> len(list(Plan().cells()))
    120
    """

    strategies: tuple[str, ...] = ("-", "NNM", "WoLA", "WoLA+NNM")
    aggregators: tuple[str, ...] = (TRIMMED_MEAN, MULTI_KRUM)
    attacks: tuple[str, ...] = ("alie", "foe", "lf", "mimic", "sf")
    seeds: tuple[int, ...] = (1, 2, 3)
    dataset: str = "digits"
    workers: int = 17
    byzantine: int = 6
    alpha: float = 0.3
    steps: int = 150

    def cells(self) -> Iterator[Cell]:
        """The runs in their order."""
        for attack, aggregator, seed, strategy in product(
            self.attacks, self.aggregators, self.seeds, self.strategies
        ):
            yield Cell(strategy, aggregator, attack, seed)

    def scenario(self, cell: Cell) -> Scenario:
        """The scenario of one run.

        >>> Plan().scenario(Cell("WoLA", "multi-krum", "sf", 2)).loss
        'wola'
        """
        return Scenario.paper(
            self.dataset,
            strategy=cell.strategy,
            workers=self.workers,
            byzantine=self.byzantine,
            alpha=self.alpha,
            steps=self.steps,
            aggregator=cell.aggregator,
            attack=cell.attack,
            seed=cell.seed,
        )


def run(plan: Plan, cell: Cell) -> Run:
    """Runs one scenario of the plan.

    >>> run(Plan(steps=20), Cell("-", "trimmed-mean", "sf", 1)).steps
    (10, 20)
    """
    result = simulate(plan.scenario(cell))
    steps = tuple(evaluation.step for evaluation in result.evaluations)
    apart = [record.dissimilarity_momenta for record in result.steps]
    return Run(
        cell=cell,
        accuracy=result.accuracy,
        steps=steps,
        curve=tuple(evaluation.accuracy for evaluation in result.evaluations),
        dissimilarity=tuple(
            fmean(apart[start:end]) for start, end in zip((0, *steps), steps, strict=False)
        ),
        digest=result.digest(),
    )
