"""The runs of a report: each once, told apart by setting, with a note for what is out of line."""

import shutil
from pathlib import Path

import pytest

from tests.report.made_up import put
from wola.bench import representative
from wola.bench.store import Store
from wola.ground.sealed import sealed
from wola.report.runs import read_runs, values
from wola.training import Scenario


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")


def small(**changes: object) -> Scenario:
    return Scenario.paper("iris", **changes)


def test_an_empty_store_has_no_runs_and_no_notes(store: Store) -> None:
    runs = read_runs(store)
    assert (len(runs.table), len(runs.failed), runs.notes) == (0, 0, ())


def test_the_papers_setting_has_no_name_and_any_other_is_spelt_out(store: Store) -> None:
    put(store, small())
    put(store, small(batch=8, steps=3))
    assert sorted(read_runs(store).table["setting"]) == ["", "batch 8, steps 3"]


def test_every_run_has_a_strategy(store: Store) -> None:
    put(store, small(mixing="arc"))
    put(store, small(strategy="WoLA"))
    assert sorted(read_runs(store).table["strategy"]) == ["ARC", "WoLA"]


def test_a_scenario_answered_by_another_ones_run_has_a_row_and_a_note(store: Store) -> None:
    scenarios = [small(strategy=name, byzantine=6) for name in ("-", "BKT")]
    key = put(store, scenarios[0], accuracy=70.0)
    store.note_coincidences(zip(scenarios, map(representative, scenarios), strict=True))
    runs = read_runs(store)
    assert runs.table.select("strategy", "run", "accuracy").sort("strategy").rows() == [
        ("-", key, 70.0),
        ("BKT", key, 70.0),
    ]
    assert runs.notes == ("1 of 2 scenarios coincide with another, and show the result of its run",)
    assert runs.folder(key) == store.folder(key)


def test_a_failed_run_is_listed_apart_until_it_is_done(store: Store) -> None:
    scenario = small(seed=2)
    store.fail(store.key(scenario), scenario, "out of memory")
    runs = read_runs(store)
    assert runs.failed.select("strategy", "seed", "accuracy").rows() == [("-", 2, None)]
    assert (len(runs.table), runs.notes) == (0, ("1 run failed",))
    put(store, scenario)
    runs = read_runs(store)
    assert (len(runs.table), len(runs.failed), runs.notes) == (1, 0, ())


def test_a_run_in_two_stores_counts_once_and_is_said_to_be_there_twice(
    store: Store, tmp_path: Path
) -> None:
    key = put(store, small(), accuracy=70.0)
    shutil.copytree(store.path, tmp_path / "copy")
    copy = Store.open(tmp_path / "copy")
    assert read_runs(store, copy).notes == (
        "1 run left out that another takes the place of, with the same bits; of each two the first "
        "by key is shown",
    )
    summary = copy.folder(key) / "summary.json"
    summary.write_bytes(sealed({**copy.summary(key), "digest": "0" * 64}))
    runs = read_runs(store, copy)
    assert len(runs.table) == 1
    assert "1 with other bits" in runs.notes[0]


def test_a_damaged_run_is_left_out_and_named(store: Store) -> None:
    put(store, small(seed=1))
    broken = put(store, small(seed=2))
    (store.folder(broken) / "summary.json").write_text("{")
    runs = read_runs(store)
    assert len(runs.table) == 1
    assert len(runs.notes) == 1
    assert broken in runs.notes[0]


def test_runs_that_ended_early_are_counted(store: Store) -> None:
    key = put(store, small())
    summary = store.folder(key) / "summary.json"
    summary.write_bytes(sealed({**store.summary(key), "ending": "not finite"}))
    assert read_runs(store).notes == (
        "1 run ended early: tests after the end count with the last model that was finite",
    )


def test_groups_and_choices_keep_the_failed_runs(store: Store) -> None:
    put(store, small(alpha=3.0))
    lost = small(alpha=0.3)
    store.fail(store.key(lost), lost, "killed")
    runs = read_runs(store)
    assert values(runs, "alpha") == [0.3, 3.0]
    groups = runs.grouped("dataset", "alpha")
    assert [(v, len(part.table), len(part.failed)) for v, part in groups] == [
        (("iris", 0.3), 0, 1),
        (("iris", 3.0), 1, 0),
    ]
    assert len(runs.where(alpha=[3.0], seed=None).table) == 1


def test_runs_of_several_environments_are_noted(store: Store) -> None:
    machine = {"processor": "one", "torch": "2.13.0"}
    put(store, small(seed=1), environment=machine)
    put(store, small(seed=2), environment=machine)
    assert read_runs(store).notes == ()
    put(store, small(seed=3), environment={**machine, "torch": "2.14.0"})
    assert read_runs(store).notes == (
        "the runs were made in 2 environments, so bits may differ: torch 2.13.0 and 2.14.0",
    )
