"""A user's own data and parts in a grid: content counts, and what cannot travel is refused."""

import json
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from tests.bench.small import run_here
from wola.aggregation import GramRule
from wola.bench.cleanup import clean_up
from wola.bench.events import Failed, Said
from wola.bench.executors import LocalExecutor
from wola.bench.marker import StoreError
from wola.bench.run import run_grid, tasks_of
from wola.bench.store import Store
from wola.bench.strategies import read_strategies
from wola.bench.task import perform
from wola.data import Dataset
from wola.training import Scenario
from wola.training.scenario import record_key


def blobs(path, shift=0.0):
    labels = np.repeat([0, 1, 2], [40, 30, 20])
    inputs = np.eye(3, dtype=np.float32)[labels] + np.float32(shift)
    np.savez(path, x_train=inputs, y_train=labels, x_test=inputs[::3], y_test=labels[::3])


def grid_on(path):
    fields = {"workers": 5, "byzantine": 1, "steps": 3, "evaluate_every": 3, "batch": 8}
    return [Scenario(dataset=f"npz({path})", seed=seed, **fields) for seed in (1, 2, 3)]


def test_changed_data_make_new_runs_and_the_old_ones_are_kept(store, tmp_path):
    path, said = tmp_path / "mine.npz", []
    blobs(path)
    run_here(grid_on(path), store)
    assert run_here(grid_on(path), store).done == ()
    blobs(path, shift=1.0)
    report = run_here(grid_on(path), store, listener=said.append)
    assert len(report.done) == 3
    (line,) = [event.text for event in said if isinstance(event, Said)]
    assert line == (
        f"{path} is not what it was when 3 runs were made: they are kept, and 3 new ones are to "
        "be done"
    )
    assert len(store.frame()) == 6
    assert store.frame()["content"].n_unique() == 2
    assert clean_up(store).damaged == {}


def test_a_changed_module_makes_new_runs(store, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = "from wola.attacks import FOE\nclass Mine(FOE):\n    '''Mine.'''\n"
    (tmp_path / "attack_of_a_test.py").write_text(source)
    grid = [Scenario.paper("iris", attack="attack_of_a_test:Mine(epsilon=2)", steps=2, batch=8)]
    run_here(grid, store)
    (tmp_path / "attack_of_a_test.py").write_text(source + "# better\n")
    said = []
    assert len(run_here(grid, store, listener=said.append).done) == 1
    assert any("attack_of_a_test is not what it was when 1 run" in str(event) for event in said)
    del sys.modules["attack_of_a_test"]


def test_a_fresh_process_knows_the_same_content(store, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "factor_of_a_test.py").write_text("FACTOR = 2.0\n")
    (tmp_path / "fresh_of_a_test.py").write_text(
        "from factor_of_a_test import FACTOR\nfrom wola.attacks import FOE\n"
        "class Mine(FOE):\n    '''Mine.'''\n"
    )
    grid = [Scenario.paper("iris", attack="fresh_of_a_test:Mine(epsilon=2)", steps=2, batch=8)]
    report = run_grid(grid, store, executor=LocalExecutor(1))
    assert (len(report.done), report.failed) == (1, ())
    assert set(store.record(report.done[0])["content"]) == {"factor_of_a_test", "fresh_of_a_test"}


def test_a_run_whose_data_change_after_the_grid_began_fails_and_is_not_kept(store, tmp_path):
    path = tmp_path / "mine.npz"
    blobs(path)
    (task, *_) = tasks_of(grid_on(path), store)
    blobs(path, shift=1.0)
    heard = []
    perform(task, store, tell=heard.append)
    assert isinstance(heard[-1], Failed)
    assert "have changed since the grid began" in heard[-1].log
    assert list(store.keys()) == []


def test_runs_of_another_version_are_never_called_damaged(store):
    run_here(grid := [Scenario.paper("iris", steps=2, batch=8)], store)
    (key,) = store.keys()
    record = store.record(key)
    other = {**record, "semantics": "0", "fields": {**record["fields"], "gone": 3}}
    folder = store.folder(record_key(other))
    folder.parent.mkdir(parents=True, exist_ok=True)
    store.folder(key).rename(folder)
    (folder / "scenario.json").write_text(json.dumps(other))
    assert clean_up(store).damaged == {}
    assert folder.is_dir()
    assert store.other_versions() == {"0": 1}
    assert len(run_here(grid, store).done) == 1


def test_an_object_of_this_process_alone_is_refused_with_what_to_do(store):
    @dataclass(frozen=True)
    class Local(GramRule):
        """The mean."""

        def weigh(self, space, f):
            return np.full(space.n, 1 / space.n)

    with pytest.raises(
        StoreError,
        match=r"aggregator = .*Local is defined in this process alone.*"
        r"put it into a module of its own, such as mine.py",
    ):
        run_here([Scenario(aggregator=Local())], store)
    labels = np.arange(60) % 3
    mine = Dataset.from_arrays(np.eye(3)[labels], labels, name="mine")
    with pytest.raises(StoreError, match=r"dataset.save\('mine.npz'\)"):
        run_here([Scenario(dataset=mine)], store)
    assert list(store.keys()) == []


def test_a_name_never_stands_for_two_strategies_of_one_store(store):
    grid = [Scenario.paper("iris", steps=2, batch=8)]
    run_here(grid, store, strategies={"Mine": {"lr": 0.5}})
    run_here(grid, store, strategies={"Mine": {"lr": 0.5}, "Yours": {"lr": 0.25}})
    assert set(read_strategies(store.path / "strategies")) == {"Mine", "Yours"}
    with pytest.raises(StoreError, match=r"'Mine' stands for lr = 0.5 in this store, and here for"):
        run_here(grid, store, strategies={"Mine": {"lr": 0.75}})


def test_reading_a_store_imports_nothing_that_it_names(store, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "stranger_of_a_test.py").write_text(
        "from wola.attacks import FOE\nclass Mine(FOE):\n    '''Mine.'''\n"
    )
    grid = [Scenario.paper("iris", attack="stranger_of_a_test:Mine", steps=2, batch=8)]
    run_here(grid, store)
    del sys.modules["stranger_of_a_test"]
    (tmp_path / "stranger_of_a_test.py").write_text("raise SystemExit('imported')\n")
    opened = Store.open(store.path)
    (row,) = opened.frame(refresh=True).iter_rows(named=True)
    assert row["attack"] == "stranger_of_a_test:Mine"
    assert opened.scenario(row["key"]).attack == "stranger_of_a_test:Mine"
    assert opened.damage(row["key"]) is None
    assert "stranger_of_a_test" not in sys.modules
