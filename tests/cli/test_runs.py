import json
from pathlib import Path

import polars as pl
import pytest

from tests.bench.made_up import put, trained
from tests.cli.conftest import Wola
from wola.bench.store import Store
from wola.training import Scenario


@pytest.fixture
def store(wola: Wola) -> Store:
    return Store.open("store")


def test_runs_are_listed_a_line_each(wola: Wola, store: Store) -> None:
    keys = [put(store, Scenario(seed=seed)) for seed in (1, 2)]
    shown = wola("runs", "ls")
    assert shown.exit_code == 0
    assert all(key[:10] in shown.output for key in keys)
    assert "2 runs" in shown.output


def test_a_list_can_be_narrowed_by_any_field(wola: Wola, store: Store) -> None:
    for name in ("-", "WoLA", "NNM"):
        for alpha in (1.0, 0.3):
            put(store, Scenario.paper(strategy=name, alpha=alpha))
    words = ("--strategy", "wola", "--strategy", "NNM", "--alpha", "0.30")
    shown = wola("runs", "ls", *words)
    assert "2 runs" in shown.output
    assert "WoLA" in shown.output
    assert "0 runs" in wola("runs", "ls", "--dataset", "mnist").output


def test_a_wrong_value_is_answered_with_what_is_allowed(wola: Wola, store: Store) -> None:
    shown = wola("runs", "ls", "--strategy", "WOLLA")
    assert shown.exit_code == 2
    assert "did you mean" in shown.output


def test_failed_and_running_runs_are_listed_apart(wola: Wola, store: Store) -> None:
    key = store.key(Scenario())
    store.fail(key, Scenario(), "Traceback\nMemoryError: no")
    assert "MemoryError: no" in wola("runs", "ls", "--failed").output
    assert "0 runs" in wola("runs", "ls", "--failed", "--dataset", "mnist").output
    claim = store.claim(key)
    assert claim is not None
    with claim:
        assert f"process {claim.owner.pid}" in wola("runs", "ls", "--running").output


def test_a_run_is_shown_with_its_scenario_and_its_place(wola: Wola, store: Store) -> None:
    result = trained()
    store.record([result.scenario.with_strategy("BKT")])
    key = store.key(result.scenario)
    store.write(key, result)
    shown = wola("runs", "show", key[:6])
    assert shown.exit_code == 0
    assert 'dataset = "iris"' in shown.output
    assert "answers as well: BKT, trimmed-mean, alie" in shown.output
    assert str(store.folder(key)) in shown.output


def test_a_failed_run_is_shown_with_its_log(wola: Wola, store: Store) -> None:
    key = store.key(Scenario())
    store.fail(key, Scenario(), "what happened")
    assert "what happened" in wola("runs", "show", key).output


@pytest.mark.parametrize("beginning", ["xyz", ""])
def test_a_key_must_begin_like_one_run(wola: Wola, store: Store, beginning: str) -> None:
    for seed in (1, 2):
        put(store, Scenario(seed=seed))
    shown = wola("runs", "show", beginning)
    assert shown.exit_code == 2
    assert "run" in shown.output


def test_two_runs_are_compared_field_by_field(wola: Wola, store: Store) -> None:
    keys = [put(store, Scenario(seed=seed), accuracy=10.0 * seed) for seed in (1, 2)]
    shown = wola("runs", "diff", *keys)
    assert "seed" in shown.output
    assert "20" in shown.output
    assert "dataset" not in shown.output
    assert "not the same bits" in shown.output
    assert "not the same" not in wola("runs", "diff", keys[0], keys[0]).output


def test_a_failed_run_cannot_be_compared(wola: Wola, store: Store) -> None:
    key = put(store, Scenario(seed=1))
    failed = store.key(Scenario(seed=2))
    store.fail(failed, Scenario(seed=2), "")
    assert wola("runs", "diff", key, failed).exit_code == 2


def test_runs_are_deleted_by_key_or_by_field(wola: Wola, store: Store) -> None:
    keys = [put(store, Scenario(seed=seed)) for seed in (1, 2, 3)]
    assert "1 deleted" in wola("runs", "rm", keys[0][:12], "--yes").output
    assert "1 deleted" in wola("runs", "rm", "--seed", 2, "-y").output
    assert list(store.keys()) == [keys[2]]


def test_failures_are_forgotten_on_demand(wola: Wola, store: Store) -> None:
    store.fail(store.key(Scenario()), Scenario(), "")
    assert "1 deleted" in wola("runs", "rm", "--failed", "--yes").output
    assert store.failed() == []
    assert "0 deleted" in wola("runs", "rm", "--failed").output


def test_nothing_is_deleted_unasked(wola: Wola, store: Store) -> None:
    put(store, Scenario())
    assert wola("runs", "rm").exit_code == 2
    assert wola("runs", "rm", "--seed", 1).exit_code == 1
    assert len(list(store.keys())) == 1


def test_tidying_says_which_runs_are_damaged(wola: Wola, store: Store) -> None:
    key = put(store, Scenario())
    (store.folder(key) / "metrics.parquet").write_bytes(b"")
    shown = wola("runs", "gc")
    assert shown.exit_code == 0
    assert f"{key[:10]} is damaged and was set aside" in shown.output
    assert "1 damaged runs" in shown.output
    assert "1 runs set aside before" in wola("runs", "gc", "--corrupt").output


def test_a_table_is_exported_in_three_formats(wola: Wola, store: Store) -> None:
    grid = [Scenario.paper(strategy=name) for name in ("-", "BKT", "NNM")]
    store.record(grid)
    for scenario in grid:
        put(store, scenario)
    whole = store.frame()
    assert wola("runs", "export", "out/runs.parquet").exit_code == 0
    assert pl.read_parquet("out/runs.parquet").equals(whole)
    assert wola("runs", "export", "runs.csv", "--strategy", "NNM").exit_code == 0
    assert pl.read_csv("runs.csv")["strategy"].to_list() == ["NNM"]
    assert "3 rows" in wola("runs", "export", "runs.json", "--shared").output
    assert {row["strategy"] for row in json.loads(Path("runs.json").read_text())} == {
        "-",
        "BKT",
        "NNM",
    }


def test_an_unknown_format_is_refused(wola: Wola, store: Store) -> None:
    shown = wola("runs", "export", "runs.xlsx")
    assert shown.exit_code == 2
    assert ".csv, .parquet, .json" in shown.output


def test_a_file_that_cannot_be_written_is_named(wola: Wola, store: Store) -> None:
    Path("runs.csv").mkdir()
    shown = wola("runs", "export", "runs.csv")
    assert shown.exit_code == 1
    assert "runs.csv" in shown.output


def test_a_folder_that_is_no_store_is_refused(wola: Wola) -> None:
    shown = wola("runs", "ls", "--store", "none")
    assert shown.exit_code == 2
    assert "none is no store" in shown.output
    assert not Path("none").exists()
