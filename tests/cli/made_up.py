"""Made-up runs of a demonstration, with numbers that are easy to check by hand."""

from collections.abc import Callable

from wola.cli.demo.plan import Cell, Plan, Run

PLAN = Plan(attacks=("alie", "mimic"), seeds=(1, 2), steps=20)


def made_up(plan: Plan, accuracy: Callable[[Cell], float]) -> list[Run]:
    return [
        Run(
            cell=cell,
            accuracy=accuracy(cell),
            steps=(10, 20),
            curve=(accuracy(cell) - 5, accuracy(cell) + 5),
            dissimilarity=(1.0, 3.0) if cell.strategy in ("-", "NNM") else (0.1, 0.3),
            digest="0",
        )
        for cell in plan.cells()
    ]


def by_strategy(cell: Cell) -> float:
    """10 for the first strategy, 20 for the second, ...; Mimic takes 2, the second seed adds 1."""
    place = PLAN.strategies.index(cell.strategy) + 1
    return 10 * place - 2 * (cell.attack == "mimic") + (cell.seed - 1)
