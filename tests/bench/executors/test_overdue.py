"""Processes that say nothing or never end, and stores that vanish: no grid waits for ever."""

import pytest

from tests.bench.small import iris, iris_grid
from wola.bench.events import Failed
from wola.bench.executors.local import AwakeClock, LocalExecutor
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.ground import WriteError

STOPS = iris(model="tests.bench.faulty:stops_for_good")
HANGS = iris(model="tests.bench.faulty:hangs")
LOSES = iris(model="tests.bench.faulty:loses_the_store")


def test_a_process_that_is_stopped_for_good_costs_its_run_alone(tmp_path):
    store = Store.open(tmp_path / "store", stale_after=10.0, beat=0.2)
    report = run_grid([STOPS, *iris_grid(1)], store, executor=LocalExecutor(processes=1))
    (failed,) = report.failed
    assert failed.scenario == STOPS
    assert "about to stop" in failed.log
    assert "the process was silent for more than 10 seconds, and was stopped" in failed.log
    assert store.failure(failed.key)["log"] == failed.log
    assert len(report.done) == 1
    assert store.running() == {}


def test_a_run_over_its_time_limit_is_taken_down_and_recorded(tmp_path):
    store = Store.open(tmp_path / "store")
    executor = LocalExecutor(processes=1, run_minutes=0.05)
    (failed,) = run_grid([HANGS], store, executor=executor).failed
    assert failed.scenario == HANGS
    assert "more than 0.05 minutes, its time limit" in failed.log
    assert store.failure(failed.key)["log"] == failed.log
    assert store.state(failed.key) == "failed"


def test_a_store_that_vanishes_is_an_error_and_is_not_made_anew(tmp_path, monkeypatch):
    store, heard = Store.open(tmp_path / "store"), []
    monkeypatch.setenv("WOLA_TEST_STORE", str(store.path))
    with pytest.raises(WriteError, match="the store has vanished"):
        run_grid([LOSES, *iris_grid(2)], store, executor=LocalExecutor(1), listener=heard.append)
    assert not store.path.exists()
    assert not any(isinstance(event, Failed) for event in heard)


def test_a_grid_whose_results_vanish_after_the_last_run_is_an_error(tmp_path):
    class Careless:
        def run(self, tasks, store, listener):
            LocalExecutor(processes=1).run(tasks, store, listener)
            for task in tasks:
                store.remove(task.key)

    store = Store.open(tmp_path / "store")
    with pytest.raises(WriteError, match="2 runs vanished"):
        run_grid(iris_grid(2), store, executor=Careless())


def test_time_in_which_this_process_was_stopped_does_not_count():
    clock = AwakeClock(iter([0.0, 0.5, 3600.0, 3600.5]).__next__)
    assert [clock.tick(), clock.tick(), clock.tick()] == [0.5, 2.5, 3.0]


@pytest.mark.parametrize("minutes", [0, -1.0, float("nan")])
def test_a_time_limit_must_be_a_positive_number(minutes):
    with pytest.raises(ValueError, match=r"run_minutes = .*; allowed: a finite number > 0"):
        LocalExecutor(run_minutes=minutes)
