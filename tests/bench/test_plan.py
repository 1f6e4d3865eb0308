import socket

import pytest

from tests.bench.made_up import put
from tests.bench.small import iris, iris_grid, run_here
from wola.bench.costs import RecordedCosts, seconds_of
from wola.bench.plan import EXAMPLES, learnt_in, make_plan
from wola.bench.presets import accuracy
from wola.training import Scenario

TABLE = RecordedCosts.shipped()


def test_a_plan_counts_and_writes_nothing(store, tmp_path):
    run_here(iris_grid(2), store)
    twins = [iris(strategy=name, byzantine=8) for name in ("-", "BKT")]
    store.fail(store.key(twins[0]), twins[0], "no")
    before = sorted(tmp_path.rglob("*"))

    plan = make_plan([*iris_grid(3), *twins], store)

    assert (plan.scenarios, plan.runs, plan.done, plan.left, plan.failed) == (5, 4, 2, 2, 1)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_plan_needs_no_data_and_no_network(store, monkeypatch):
    def refuse(*given, **more):
        raise AssertionError("a plan must not reach out")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr("wola.training.content._loaded", refuse)
    monkeypatch.setattr("wola.data.load", refuse)
    scenarios = accuracy().cut(alpha=0.3, byzantine=6, seed=1).scenarios()

    plan = make_plan(scenarios, store)

    assert plan.scenarios == 640
    assert plan.seconds > 3600


def test_without_runs_the_time_is_that_of_the_table(store):
    plan = make_plan(iris_grid(3), store)

    assert plan.seconds == pytest.approx(3 * seconds_of(iris(), TABLE.of(iris())))
    assert (plan.learnt, plan.examples, plan.machine) == (0, 0, TABLE.machine)


def test_the_time_is_learnt_from_like_runs_in_the_store(store):
    run_here(iris_grid(1), store)
    run_here([iris(seed=7, alpha=1.0)], store)
    learnt = learnt_in(store, store.keys())

    plan = make_plan(iris_grid(3), store)

    expected = seconds_of(iris(), learnt.of(iris(), TABLE.of(iris())))
    assert plan.seconds == pytest.approx(2 * expected)
    assert (plan.learnt, plan.examples) == (2, 2)


def test_what_the_store_cannot_tell_comes_from_the_table(store):
    run_here(iris_grid(1), store)

    plan = make_plan([*iris_grid(2), Scenario.paper("purchase100")], store)

    assert (plan.left, plan.learnt) == (2, 1)


def test_runs_whose_times_cannot_be_read_are_left_out(store):
    put(store, iris())  # Its summary has the times of two phases alone.
    run_here([iris(seed=2)], store)
    (store.folder(store.key(iris(seed=2))) / "scenario.json").write_text("{half")

    assert learnt_in(store, store.keys()).runs == 0
    assert make_plan(iris_grid(3), store).examples == 0


def test_of_a_large_store_a_part_is_read(store, monkeypatch):
    read = []
    monkeypatch.setattr(type(store), "keys", lambda self: (f"{n:064x}" for n in range(20_000)))
    monkeypatch.setattr(type(store), "scenario", lambda self, key: read.append(key) or iris())

    make_plan(iris_grid(1), store)

    assert len(read) == EXAMPLES // 2
    assert int(read[-1], 16) > 19_000
