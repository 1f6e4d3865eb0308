import json
import os
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import polars as pl
import pytest

from tests.bench.made_up import put, trained
from wola.bench.coincidence import representative
from wola.bench.index import SCHEMA, DamagedRun
from wola.bench.store import Store
from wola.ground.sealed import DamagedFile, sealed
from wola.ground.tables import sealed_table
from wola.training import Scenario
from wola.training.scenario import record_key


def test_a_row_has_all_fields_the_strategy_and_the_numbers(store: Store) -> None:
    scenario = Scenario.paper("digits", strategy="WoLA", seed=4)
    key = put(store, scenario, accuracy=None)
    (row,) = store.frame().iter_rows(named=True)
    assert {name: row[name] for name in Scenario.model_fields} == scenario.model_dump()
    assert (row["key"], row["run"], row["strategy"]) == (key, key, "WoLA")
    assert (row["accuracy"], row["cosine"], row["steps_taken"]) == (None, 0.5, 150)
    assert row["seconds"] == 0.75


def test_a_trained_run_has_the_scores_of_its_classes_and_the_weight_of_its_liars(
    store: Store,
) -> None:
    result = trained(aggregator="krum", byzantine=4)
    store.write(store.key(result.scenario), result)
    (row,) = store.frame().iter_rows(named=True)
    known = [a for a in result.summary()["class_accuracies"] if a is not None]
    assert row["worst_class"] == pytest.approx(min(known), rel=1e-12)
    assert row["balanced_accuracy"] == pytest.approx(fmean(known), rel=1e-12)
    assert 0 < row["macro_f1"] <= 100
    weights = [record.weights for record in result.steps]
    shares = [sum(each[13:]) for each in weights if each is not None]
    assert row["byzantine_share"] == pytest.approx(100 * fmean(shares), rel=1e-6)


def test_the_share_of_liars_is_one_of_all_weight_whatever_the_weights_sum_to() -> None:
    result = trained(aggregator="krum", byzantine=4)
    weights = (*[0.5] * 12, 0.0, -1.0, 0.0, 0.0, 1.0), tuple([0.0] * 17)
    steps = [replace(result.steps[0], weights=each) for each in weights]
    assert replace(result, steps=tuple(steps)).byzantine_share == pytest.approx(25.0)
    silent = [replace(step, weights=(0.0,) * 17) for step in steps]
    assert replace(result, steps=tuple(silent)).byzantine_share is None


@pytest.mark.parametrize("fields", [{"aggregator": "median"}, {"byzantine": 0, "attack": "none"}])
def test_a_run_without_weights_or_liars_has_no_share(fields: dict[str, object]) -> None:
    assert trained(**{"aggregator": "krum", **fields}).summary()["byzantine_share"] is None


def test_an_empty_store_has_an_empty_table_with_all_columns(store: Store) -> None:
    assert store.frame().schema == pl.Schema(SCHEMA)
    assert len(store.frame(coinciding=True)) == 0


def test_runs_added_changed_and_removed_are_seen_without_asking(store: Store) -> None:
    first, second = (put(store, Scenario(seed=seed)) for seed in (1, 2))
    assert set(store.frame()["key"]) == {first, second}
    store.remove(first)
    third = put(store, Scenario(seed=3))
    assert set(store.frame()["key"]) == {second, third}
    store.remove(second)
    put(store, Scenario(seed=2), accuracy=75.0)
    assert store.frame().filter(pl.col("key") == second)["accuracy"].item() == 75.0


def test_known_runs_are_read_from_the_index_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, Scenario())
    before = store.frame()
    monkeypatch.setattr(json, "loads", None)
    assert store.frame().equals(before)


def test_a_refresh_reads_the_folders_again(store: Store) -> None:
    key = put(store, Scenario())
    store.frame()
    path = store.folder(key) / "summary.json"
    stamp = path.stat()
    path.write_bytes(sealed({**store.summary(key), "accuracy": 10.0}))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert store.frame()["accuracy"].item() == 50.0
    assert store.frame(refresh=True)["accuracy"].item() == 10.0


@pytest.mark.parametrize("content", [b"", b"rubbish"])
def test_a_damaged_index_is_made_anew(store: Store, content: bytes) -> None:
    put(store, Scenario())
    before = store.frame()
    (store.path / "index.parquet").write_bytes(content)
    with pytest.warns(DamagedFile, match=r"index\.parquet is damaged.* made anew"):
        assert store.frame().equals(before)
    assert len(pl.read_parquet(store.path / "index.parquet")) == 1


def test_an_index_with_other_columns_is_made_anew(store: Store) -> None:
    put(store, Scenario())
    other = sealed_table(pl.DataFrame({"key": ["x"]}))
    (store.path / "index.parquet").write_bytes(other)
    assert len(store.frame()) == 1


def test_a_store_that_may_not_be_written_to_is_read(store: Store) -> None:
    put(store, Scenario())
    (store.path / "index.parquet").mkdir()
    assert len(store.frame()) == 1


def test_a_run_that_cannot_be_read_is_left_out_with_a_warning(store: Store) -> None:
    good, bad = (put(store, Scenario(seed=seed)) for seed in (1, 2))
    (store.folder(bad) / "summary.json").write_text("{")
    with pytest.warns(DamagedRun, match=f"{bad} is left out"):
        assert store.frame()["key"].to_list() == [good]


def test_a_run_of_another_version_is_never_mixed_in(store: Store) -> None:
    key = put(store, Scenario())
    record = {**store.record(key), "semantics": "old"}
    folder = store.folder(record_key(record))
    folder.parent.mkdir(exist_ok=True)
    store.folder(key).rename(folder)
    (folder / "scenario.json").write_text(json.dumps(record))
    assert len(store.frame()) == 0
    assert store.other_versions() == {"old": 1}


def test_a_run_without_a_summary_is_no_row(store: Store) -> None:
    key = put(store, Scenario())
    (store.folder(key) / "summary.json").unlink()
    (store.path / "runs" / ".hidden").mkdir()
    assert len(store.frame()) == 0


def test_coinciding_rows_show_the_run_that_answers_them(store: Store) -> None:
    grid = [Scenario.paper("digits", strategy=name) for name in ("-", "BKT", "NNM")]
    for _ in range(2):
        store.note_coincidences([(scenario, representative(scenario)) for scenario in grid])
    assert len(list((store.path / "coincidences").iterdir())) == 1
    run = put(store, grid[0], accuracy=33.0)
    table = store.frame(coinciding=True)
    assert len(store.frame()) == 1
    assert set(table["strategy"]) == {"-", "BKT"}
    (row,) = table.filter(pl.col("strategy") == "BKT").iter_rows(named=True)
    assert (row["key"], row["run"]) == (grid[1].key(), run)
    assert (row["mixing"], row["accuracy"]) == ("bucketing", 33.0)


def test_an_unreadable_note_of_coinciding_runs_does_no_harm(store: Store, tmp_path: Path) -> None:
    put(store, Scenario())
    (store.path / "coincidences").mkdir()
    (store.path / "coincidences" / "x.json").write_text("[")
    with pytest.warns(DamagedFile, match=r"x\.json is left out"):
        assert len(store.frame(coinciding=True)) == 1
