import os
from pathlib import Path

import pytest

from tests.report.browser.store import keep, scenarios
from tests.report.page.test_watched_stores import files_and_times
from wola.bench.events import Evaluated
from wola.bench.notes import NoteWriter, announce
from wola.bench.store import Store
from wola.report.page.under_way import SHOWN, UnderWay, failure_reason, running_keys


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


def done(store: Store) -> set[str]:
    return set(store.keys())


def test_the_progress_is_that_of_the_grid_and_not_of_the_store(store: Store) -> None:
    wanted = scenarios()[:6]
    announce(store.path, "quick", [store.key(s) for s in wanted])
    for scenario in [*wanted[:2], *scenarios()[10:14]]:
        keep(store, scenario)
    store.fail(store.key(wanted[2]), wanted[2], "no memory")
    (grid,) = UnderWay([store]).look(done(store))["grids"]
    assert (grid["title"], grid["total"], grid["done"], grid["failed"]) == ("quick", 6, 2, 1)


def test_the_time_left_is_by_the_pace_since_the_first_look(store: Store) -> None:
    wanted = scenarios()[:12]
    keys = tuple(store.key(s) for s in wanted)
    announce(store.path, "quick", keys)
    claim = store.claim(keys[-1])
    assert claim
    watched = UnderWay([store])
    (grid,) = watched.look(done(store))["grids"]
    assert grid["left"] is None
    now = [100.0]
    pace = watched._paces[keys]
    pace.clock, pace.start = lambda: now[0], 40.0
    for scenario in wanted[:4]:
        keep(store, scenario)
    (grid,) = watched.look(done(store))["grids"]
    assert grid["left"] == pytest.approx(8 * 60 / 4)
    claim.release()
    (grid,) = watched.look(done(store))["grids"]
    assert (grid["running"], grid["left"]) == (0, None)


def test_a_grid_that_is_done_is_not_under_way(store: Store) -> None:
    wanted = scenarios()[:2]
    announce(store.path, "quick", [store.key(s) for s in wanted])
    for scenario in wanted:
        keep(store, scenario)
    assert UnderWay([store]).look(done(store))["grids"] == []


def test_what_runs_now_is_told_with_its_step_and_accuracy(store: Store) -> None:
    scenario = scenarios()[0]
    key = store.key(scenario)
    with NoteWriter(store.path, key, scenario) as note:
        assert UnderWay([store]).look(())["under_way"] == []
        claim = store.claim(key)
        assert claim
        note._written = 0.0
        note(Evaluated(key, 20, 61.5))
        assert running_keys(store) == {key}
        (now,) = UnderWay([store]).look(())["under_way"]
    assert (now["step"], now["steps"], now["accuracy"]) == (20, scenario.steps, 61.5)
    assert now["name"].startswith("iris alpha 0.3 f 2")
    claim.release()


def test_failures_come_with_their_reason_the_latest_first(store: Store) -> None:
    wanted = scenarios()[: SHOWN + 2]
    for number, scenario in enumerate(wanted):
        store.fail(store.key(scenario), scenario, f"Traceback\nValueError: number {number}\n")
        path = store.path / "failed" / f"{store.key(scenario)}.json"
        os.utime(path, (number, number))
    found = UnderWay([store]).look(())["failed"]
    assert [one["reason"] for one in found] == [
        f"ValueError: number {number}" for number in range(SHOWN + 1, 1, -1)
    ]
    assert found[0]["name"].startswith("iris")
    assert failure_reason([store], store.key(wanted[0])) == "ValueError: number 0"
    assert failure_reason([store], "0" * 64) is None


def test_a_failure_that_cannot_be_read_is_left_out(store: Store) -> None:
    (store.path / "failed").mkdir(exist_ok=True)
    (store.path / "failed" / f"{'a' * 64}.json").write_bytes(b"half of a")
    assert UnderWay([store]).look(())["failed"] == []


def test_looking_at_work_under_way_writes_nothing(store: Store) -> None:
    scenario = scenarios()[0]
    announce(store.path, "quick", [store.key(scenario)])
    store.fail(store.key(scenario), scenario, "no memory")
    claim = store.claim(store.key(scenario))
    assert claim
    before = files_and_times(store.path)
    UnderWay([store]).look(())
    assert files_and_times(store.path) == before
    claim.release()
