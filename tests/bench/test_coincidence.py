import pytest

from wola.bench.coincidence import coinciding, reasons, representative
from wola.training import STRATEGIES, Scenario, simulate


def paper(strategy: str = "-", **changes: object) -> Scenario:
    return Scenario.paper("iris", strategy=strategy, **{"steps": 6, "batch": 8, **changes})


COINCIDING = [
    (paper("BKT", byzantine=6), paper("-", byzantine=6)),
    (paper("BKT", byzantine=6, aggregator="multi-krum"), paper(aggregator="multi-krum")),
    (paper("BKT", byzantine=8), paper("-", byzantine=8, aggregator="median")),
    (paper("-", byzantine=8), paper("-", byzantine=8, aggregator="median")),
    (paper("NNM", byzantine=8), paper("NNM", byzantine=8, aggregator="median")),
    (paper("BKT", byzantine=2), paper("BKT", byzantine=2, aggregator="median")),
    (paper("BKT", byzantine=4), paper("BKT", byzantine=4, aggregator="median")),
    (paper("WoLA", byzantine=0, attack="lf"), paper("WoLA", byzantine=0, attack="none")),
    (
        paper("WoLA-dagger", byzantine=0),
        paper("WoLA-dagger", byzantine=0, attack="none", objective_attack="none"),
    ),
    (paper(mixing="bucketing+nnm"), paper(mixing="nnm")),
    (paper(partition="iid", alpha=3.0), paper(partition="iid")),
    (paper(objective_attack="worst"), paper()),
    (paper(byzantine=6, participants=5, attack="foe"), None),
]


@pytest.mark.parametrize(("scenario", "expected"), COINCIDING)
def test_coinciding_runs_are_the_same_to_the_last_bit(
    scenario: Scenario, expected: Scenario | None
) -> None:
    run = representative(scenario)
    assert run != scenario
    assert expected is None or run == expected
    assert reasons(scenario)
    one, other = simulate(scenario), simulate(run)
    assert one.digest() == other.digest()
    assert one.q.equal(other.q)


@pytest.mark.parametrize(
    "scenario",
    [
        paper("NNM", byzantine=6),
        paper("FoundFL", byzantine=8),
        paper("BKT", byzantine=2, aggregator="multi-krum"),
        paper("BKT", byzantine=8, attack="nan"),
        paper("-", byzantine=8, attack="infinite"),
        paper("WoLA-dagger"),
        paper(server="adam(beta=0.5, beta2=0.5)"),
        paper(aggregator="krum(power=1)"),
        paper(objective="shared(krum)", objective_attack="worst"),
        paper(aggregator="greco", objective_attack="worst"),
        paper(partition="tests.bench.own:ByAlpha", alpha=3.0),
    ],
)
def test_runs_that_differ_stand_for_themselves(scenario: Scenario) -> None:
    assert representative(scenario) == scenario
    assert reasons(scenario) == ()


def test_with_dropped_updates_the_trimmed_mean_is_not_the_median() -> None:
    one, other = (
        simulate(paper(byzantine=8, attack="nan", aggregator=name))
        for name in ("trimmed-mean", "median")
    )
    assert one.digest() != other.digest()


def test_a_representative_stands_for_itself() -> None:
    for name in STRATEGIES:
        for f in range(9):
            run = representative(paper(name, byzantine=f))
            assert representative(run) == run


def test_runs_are_grouped_in_the_order_they_came() -> None:
    grid = [
        paper(name, byzantine=8, aggregator=a)
        for name in ("BKT", "NNM", "-")
        for a in ("trimmed-mean", "median")
    ]
    groups = coinciding(grid)
    assert list(groups) == [grid[5], grid[3]]
    assert list(groups.values()) == [[grid[0], grid[1], grid[4], grid[5]], [grid[2], grid[3]]]
