from collections import defaultdict

import pytest

from tests.bench.small import iris
from wola.bench.costs import (
    JUDGING,
    Costs,
    LearntCosts,
    RecordedCosts,
    computing_workers,
    groups_of_equal_cost,
    seconds_of,
)
from wola.bench.presets import accuracy
from wola.training import AGGREGATORS, ATTACKS, MIXINGS, Scenario

TABLE = RecordedCosts(
    machine="a machine",
    workers=17,
    batch=128,
    datasets={
        "iris": {
            "start": 1.0,
            "worker": 2.0,
            "test": 3.0,
            "rules": {"none median": 1.0, "nnm median": 3.0, "none krum": 5.0},
            "attacks": {"alie": 0.5, "mimic": 1.5},
        },
        "digits": {
            "start": 3.0,
            "worker": 4.0,
            "test": 5.0,
            "rules": {"none median": 2.0},
            "attacks": {"alie": 2.5},
        },
    },
)
USUAL = Costs(start=1.0, worker=1.0, rule=1.0, attack=1.0, test=1.0)


def recorded(**changes):
    return TABLE.of(iris(**{"batch": 128, "aggregator": "median", **changes}))


def test_what_the_table_has_is_taken_from_it():
    assert recorded() == Costs(start=1.0, worker=2.0, rule=1.0, attack=0.5, test=3.0)
    assert recorded(mixing="nnm").rule == 3.0


def test_a_batch_local_steps_and_workers_scale():
    assert recorded(batch=64, local_steps=4).worker == 4.0
    assert recorded(workers=34).rule == 2.0
    assert recorded(workers=34).attack == 1.0


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"mixing": "arc"}, 2.0),  # the mean of all with the median
        ({"mixing": "nnm", "aggregator": "mean"}, 3.0),  # the mean of all with NNM
        ({"mixing": "arc", "aggregator": "mean"}, 3.0),  # the mean of all
    ],
)
def test_a_rule_that_the_table_does_not_have_costs_the_mean_of_its_like(changes, rule):
    assert recorded(**changes).rule == rule


def test_an_unknown_attack_costs_the_mean_of_all():
    assert recorded(attack="foe").attack == 1.0


def test_an_unknown_dataset_costs_the_mean_of_all():
    made = TABLE.of(Scenario.paper("mnist", aggregator="median"))

    assert made == Costs(start=2.0, worker=3.0, rule=1.5, attack=1.5, test=4.0)


def test_the_parameters_of_parts_do_not_matter():
    given = iris(aggregator="median").model_dump()
    given |= {"aggregator": "median(block=max(1, 2))", "mixing": "nnm(power=1)", "batch": 128}
    own = Scenario.model_construct(**given)

    assert TABLE.of(own).rule == 3.0


def test_the_shipped_table_has_the_papers_grid_and_every_part_of_the_library():
    shipped = RecordedCosts.shipped()
    grid = accuracy()

    assert set(grid.axes["dataset"]) | {"digits", "iris"} == set(shipped.datasets)
    for table in shipped.datasets.values():
        mixings, aggregators = zip(*(name.split() for name in table["rules"]), strict=True)
        assert set(mixings) == {"none", *MIXINGS}
        assert set(aggregators) <= set(AGGREGATORS)
        assert {rule.split("(")[0] for rule in grid.axes["aggregator"]} <= set(aggregators)
        assert {"none", *grid.axes["attack"]} <= set(table["attacks"]) <= {"none", *ATTACKS}
        assert min(table["worker"], table["test"], *table["rules"].values()) > 0


def test_a_convolution_costs_more_than_a_small_dense_network():
    tables = RecordedCosts.shipped().datasets

    assert 10 * tables["digits"]["worker"] < tables["mnist"]["worker"]
    assert 10 * tables["mnist"]["worker"] < tables["cifar10"]["worker"]


SECONDS = {
    "batches": 1.0,
    "gradients": 5.0,
    "step": 2.0,
    "metrics": 2.0,
    "rule": 20.0,
    "attack": 30.0,
    "evaluation": 8.0,
}


def learnt(*scenarios, steps=10):
    costs = LearntCosts()
    for scenario in scenarios:
        costs.learn(scenario, {"steps": steps, "seconds": SECONDS})
    return costs


def test_costs_are_learnt_from_the_phases_of_a_run():
    scenario = iris(workers=10, byzantine=4, attack="sf", evaluate_every=5)

    made = learnt(scenario).of(scenario, USUAL)

    assert made == Costs(start=1.0, worker=1.0 / 6, rule=2.0, attack=3.0, test=4.0)


def test_several_runs_of_a_class_count_as_their_mean():
    costs = learnt(iris(), iris(seed=2))
    costs.learn(iris(seed=3), {"steps": 10, "seconds": {**SECONDS, "rule": 50.0}})

    assert costs.runs == 3
    assert costs.of(iris(seed=4), USUAL).rule == 3.0


def test_costs_add_up_over_classes():
    costs = learnt(iris(aggregator="median", attack="alie"), iris(attack="foe"))

    made = costs.of(iris(aggregator="median", attack="foe"), USUAL)

    assert (made.rule, made.attack) == (2.0, 3.0)


def test_what_was_not_learnt_is_as_usual():
    costs = learnt(iris())

    assert costs.knows(iris(aggregator="krum"))
    assert costs.of(iris(aggregator="krum"), USUAL).rule == 1.0
    assert not costs.knows(iris(batch=4))
    assert costs.of(iris(batch=4), USUAL).worker == 1.0


def test_an_optimised_attack_costs_what_its_rule_does():
    costs = learnt(iris(attack="optimal-alie", aggregator="median"))

    assert costs.of(iris(attack="optimal-alie", aggregator="median"), USUAL).attack == 3.0
    assert costs.of(iris(attack="optimal-alie", aggregator="krum"), USUAL).attack == 1.0


def test_a_run_that_ended_before_its_first_step_teaches_nothing():
    costs = learnt(iris(), steps=0)

    assert costs.runs == 0
    assert not costs.knows(iris())


def test_scenarios_of_one_group_take_the_same_time():
    scenarios = accuracy().cut(dataset="mnist", seed=[1, 2]).scenarios()
    table = RecordedCosts.shipped()

    groups = groups_of_equal_cost(scenarios)

    assert sum(map(len, groups)) == len(scenarios)
    assert len(groups) < len(scenarios) / 5
    for group in groups[:40]:
        assert len({seconds_of(one, table.of(one)) for one in group}) == 1


def test_label_attackers_compute_and_others_do_not():
    assert computing_workers(iris(workers=10, byzantine=4, attack="lf")) == 10
    assert computing_workers(iris(workers=10, byzantine=4, attack="sf")) == 6
    assert computing_workers(iris(workers=10, byzantine=4, attack="sf", participants=5)) == 3


def test_attackers_that_know_their_own_updates_alone_compute_them():
    for attack in ("fang-trim", "fang-krum"):
        own, honest = f"{attack}(knowledge=partial)", attack
        assert computing_workers(iris(workers=10, byzantine=4, attack=own)) == 10
        assert computing_workers(iris(workers=10, byzantine=4, attack=honest)) == 6


@pytest.mark.parametrize("attack", ["optimal-alie", "tilt", "fang-krum", "worst-of", "span-search"])
def test_an_attack_that_tries_the_rule_costs_another_time_with_another_rule(attack):
    scenarios = [iris(attack=attack, aggregator=rule) for rule in ("median", "mda")]
    learnt, summary = LearntCosts(), {"steps": 1, "seconds": defaultdict(lambda: 7.0)}
    learnt.learn(scenarios[0], summary)
    assert [learnt.of(one, USUAL).attack for one in scenarios] == [7.0, 1.0]
    plain = [one.changed(attack="sf") for one in scenarios]
    learnt.learn(plain[0], summary)
    assert [learnt.of(one, USUAL).attack for one in plain] == [7.0, 7.0]


def test_the_shipped_table_knows_the_attacks_that_try_the_rule():
    judging = {name for name in ATTACKS if name.startswith(JUDGING)}
    assert judging == {
        "optimal-alie",
        "optimal-foe",
        "tilt",
        "fang-krum",
        "worst-of",
        "span-search",
        "patient",
    }
    for name, costs in RecordedCosts.shipped().datasets.items():
        assert judging <= set(costs["attacks"]), name
        assert min(costs["attacks"][attack] for attack in judging) > costs["attacks"]["sf"]
