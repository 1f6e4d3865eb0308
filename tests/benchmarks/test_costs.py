import json
from time import perf_counter

import pytest

from benchmarks import costs
from benchmarks.costs import SHAPES, completed, measured, record, rules
from wola.bench.costs import RecordedCosts
from wola.training import AGGREGATORS, MIXINGS, Scenario, evaluate, metrics, simulate


@pytest.fixture
def few_rules(monkeypatch):
    """Two rules and two attacks, so that a measurement takes a second."""
    monkeypatch.setattr(costs, "rules", lambda: [("none", "median"), ("nnm", "krum")])
    monkeypatch.setattr(costs, "ATTACKS", {"alie": None, "lf": None})
    for module in (metrics, evaluate):
        monkeypatch.setattr(module, "perf_counter", perf_counter)


def test_a_measurement_is_a_table_that_the_package_reads(few_rules):
    table = RecordedCosts(**json.loads(json.dumps(record(["iris"]))))

    made = table.of(Scenario.paper("iris", aggregator="median"))

    assert min(made.worker, made.rule, made.test) > 0
    assert min(made.start, made.attack) >= 0
    assert list(table.datasets["iris"]["rules"]) == ["none median", "nnm krum"]
    assert list(table.datasets["iris"]["attacks"]) == ["none", "alie", "lf"]


def test_a_large_test_set_is_measured_in_part(few_rules, monkeypatch):
    asked = []
    monkeypatch.setattr(
        costs.Shape,
        "random",
        lambda self, name, *, tests, real=costs.Shape.random: (
            asked.append(tests) or real(self, name, tests=tests)
        ),
    )

    measured("purchase100", SHAPES["purchase100"])

    assert asked == [512, 100]


def test_the_network_measured_is_the_papers_for_the_dataset(few_rules, monkeypatch):
    trained = set()

    def watched(scenario, *, dataset):
        result = simulate(scenario, dataset=dataset)
        trained.add(sum(value.numel() for value in result.state.values()))
        return result

    monkeypatch.setattr(costs, "simulate", watched)

    measured("purchase100", SHAPES["purchase100"])

    assert trained == {1_297_252}


def test_a_table_is_completed_with_what_it_lacks_and_nothing_else(few_rules):
    table = record(["iris"])
    costs_of_iris = table["datasets"]["iris"]
    costs_of_iris["rules"] = {"none median": 7.0}
    costs_of_iris["attacks"] = {"alie": 0.0}

    made = completed(table)["datasets"]["iris"]

    assert made["rules"]["none median"] == 7.0
    assert 0 < made["rules"]["nnm krum"] < 7
    assert list(made["attacks"]) == ["none", "alie", "lf"]
    assert made["attacks"]["alie"] == 0.0
    assert made["worker"] == costs_of_iris["worker"]


def test_a_table_of_another_machine_is_not_completed():
    with pytest.raises(SystemExit, match="the table is of a slide rule; this is one core of"):
        completed({"machine": "a slide rule", "datasets": {}})


def test_every_rule_of_the_library_is_measured():
    assert {mixing for mixing, _ in rules()} == {"none", *MIXINGS}
    alone = {name for name, rule in AGGREGATORS.items() if not rule.needs}
    assert {aggregator for _, aggregator in rules()} == alone
