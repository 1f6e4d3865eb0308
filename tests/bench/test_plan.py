import pytest

from tests.bench.small import iris, iris_grid, run_here
from wola.bench.plan import Costs, Estimate, computing_workers, make_plan, measured, seconds_of
from wola.bench.presets import quick
from wola.data import DataError
from wola.training import Scenario

COSTS = Costs(start=1.0, worker=0.01, rule=0.5, attack=0.25, test=2.0)


def test_a_plan_counts_and_writes_nothing(store, tmp_path):
    run_here(iris_grid(2), store)
    twins = [iris(strategy=name, byzantine=8) for name in ("-", "BKT")]
    store.fail(store.key(twins[0]), twins[0], "no")
    before = sorted(tmp_path.rglob("*"))

    plan = make_plan([*iris_grid(3), *twins], store, measure=lambda scenario: COSTS)

    assert (plan.scenarios, plan.runs, plan.done, plan.left, plan.failed) == (5, 4, 2, 2, 1)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_time_is_that_of_what_is_left(store):
    run_here(iris_grid(1), store)

    plan = make_plan(iris_grid(3), store, measure=lambda scenario: COSTS)

    assert plan.seconds == pytest.approx(2 * seconds_of(iris(), COSTS))


def test_each_distinct_cost_is_measured_and_no_more(store):
    asked = []

    def measure(scenario):
        asked.append(scenario)
        return COSTS

    make_plan(quick().scenarios(), store, measure=measure)

    rules = {(s.mixing, s.aggregator) for s in map(_stands_for, quick().scenarios())}
    assert {(s.mixing, s.aggregator) for s in asked} == rules
    assert {s.attack for s in asked} == {"alie", "foe", "lf", "mimic", "sf"}
    assert len(asked) <= len(rules) + 5


def _stands_for(scenario):
    from wola.bench.same import representative

    return representative(scenario)


def test_costs_add_up_over_classes():
    def measure(scenario):
        rule = {"median": 1.0, "krum": 5.0}[scenario.aggregator]
        attack = {"alie": 0.1, "foe": 0.2, "sf": 0.3}[scenario.attack]
        return Costs(start=0.0, worker=0.0, rule=rule, attack=attack, test=0.0)

    estimate = Estimate(measure, budget=100.0)
    known = [("median", "alie"), ("krum", "foe"), ("median", "sf")]
    estimate.study([iris(aggregator=rule, attack=attack) for rule, attack in known])

    assert estimate.seconds(iris(aggregator="krum", attack="sf")) == pytest.approx(6 * 5.3)


def test_after_the_budget_only_networks_are_measured():
    times = iter(range(0, 1000, 10))
    estimate = Estimate(lambda scenario: COSTS, budget=5.0, clock=lambda: next(times))

    estimate.study([*(iris(aggregator=name) for name in ("median", "krum")), iris(batch=4)])

    assert estimate.measurements == 2
    assert estimate.seconds(iris(aggregator="krum")) == estimate.seconds(iris(aggregator="median"))


def test_missing_data_is_said_and_its_runs_are_not_counted(store):
    def measure(scenario):
        if scenario.dataset == "purchase100":
            raise DataError("could not be had")
        return COSTS

    scenarios = [iris(), *(Scenario.paper("purchase100", seed=seed) for seed in (1, 2))]
    plan = make_plan(scenarios, store, measure=measure)

    assert plan.missing == ("purchase100: could not be had (2 runs not counted)",)
    assert plan.seconds == pytest.approx(seconds_of(iris(), COSTS))


def test_label_attackers_compute_and_others_do_not():
    assert computing_workers(iris(workers=10, byzantine=4, attack="lf")) == 10
    assert computing_workers(iris(workers=10, byzantine=4, attack="sf")) == 6
    assert computing_workers(iris(workers=10, byzantine=4, attack="sf", participants=5)) == 3


def test_a_measurement_has_no_cost_below_zero():
    costs = measured(iris(steps=500))

    assert min(costs.start, costs.worker, costs.rule, costs.attack, costs.test) >= 0
    assert costs.worker > 0
