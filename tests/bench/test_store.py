import pickle
import shutil
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from time import sleep

import polars as pl
import pytest

from tests.bench.made_up import files, put, trained
from wola.bench.claims import Owner
from wola.bench.coincidence import representative
from wola.bench.failures import LOG_END
from wola.bench.marker import StoreError
from wola.bench.store import Store
from wola.ground.files import WriteError
from wola.ground.sealed import DamagedFile, sealed
from wola.training import Scenario, simulate


def test_a_run_comes_back_as_it_was_written(store: Store) -> None:
    result = trained(strategy="NNM", aggregator="multi-krum")
    key = store.key(result.scenario)
    assert store.state(key) == "missing"
    store.write(key, result)
    assert store.state(key) == "done"
    assert store.scenario(key) == result.scenario
    assert store.summary(key)["digest"] == result.digest()
    assert store.metrics(key).drop("key").equals(result.frame())
    assert set(store.metrics(key)["key"]) == {key}
    assert store.damage(key) is None
    assert list(store.keys()) == [key]


def test_one_glob_reads_the_metrics_of_all_runs(store: Store) -> None:
    for seed in (1, 2):
        result = trained(seed=seed)
        store.write(store.key(result.scenario), result)
    table = pl.read_parquet(store.path / "runs" / "*" / "*" / "metrics.parquet")
    assert len(table) == 6
    assert table["key"].n_unique() == 2


def test_a_coinciding_scenario_is_kept_as_its_representative(store: Store) -> None:
    scenario = Scenario.paper("iris", strategy="BKT", steps=2, batch=8)
    key = store.key(scenario)
    with pytest.raises(ValueError, match="allowed for this result"):
        store.write(key, simulate(scenario))
    store.write(key, simulate(representative(scenario)))
    assert store.scenario(key) == representative(scenario)
    assert store.summary(key)["strategy"] == "-"
    assert store.damage(key) is None


def test_a_key_that_is_not_the_results_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="key = 'ab'; allowed for this result"):
        store.write("ab", trained())


def test_who_writes_second_changes_nothing(store: Store) -> None:
    key = put(store, Scenario(), accuracy=1.0)
    put(store, Scenario(), accuracy=2.0)
    assert store.summary(key)["accuracy"] == 1.0
    assert list((store.path / "drafts").iterdir()) == []


def test_a_half_copied_run_is_not_done_and_gives_way(store: Store) -> None:
    key = put(store, Scenario())
    (store.folder(key) / "summary.json").unlink()
    assert store.state(key) == "missing"
    assert list(store.keys()) == []
    put(store, Scenario())
    assert store.state(key) == "done"
    assert len(list((store.path / "corrupt").iterdir())) == 1


def test_a_store_of_another_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    key = put(store, Scenario())
    (store.path / "store.json").write_bytes(sealed({"store": 0}))
    before = files(store.path)
    with pytest.raises(StoreError, match=r"laid out by another version .*; allowed: another"):
        Store.open(store.path)
    assert files(store.path) == before
    assert store.is_done(key)


def test_a_damaged_marker_is_named(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text("[]")
    with pytest.raises(StoreError, match=r"store\.json is damaged"):
        Store.open(tmp_path)


def test_a_folder_with_other_files_does_not_become_a_store(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StoreError, match="holds other files"):
        Store.open(tmp_path)
    with pytest.raises(StoreError, match="is a file"):
        Store.open(tmp_path / "thesis.tex")
    with pytest.raises(StoreError, match="is no store"):
        Store.open(tmp_path / "none", create=False)
    assert files(tmp_path) == {"thesis.tex"}


def test_failures_are_counted_and_the_end_of_the_log_is_kept(store: Store) -> None:
    key = store.key(Scenario())
    for word in ("first", "second"):
        store.fail(key, Scenario(), "x" * LOG_END + word)
    assert store.state(key) == "failed"
    assert store.failed() == [key]
    failure = store.failure(key)
    assert failure is not None
    assert failure["tries"] == 2
    assert failure["log"].endswith("second")
    assert len(failure["log"]) == LOG_END
    put(store, Scenario())
    assert store.failed() == []
    assert store.failure(key) is None


def test_a_damaged_failure_counts_as_none_and_is_named(store: Store) -> None:
    (store.path / "failed").mkdir()
    (store.path / "failed" / "ab.json").write_text("{}")
    with pytest.warns(DamagedFile, match=r"ab\.json is damaged"):
        assert store.failure("ab") is None
    with pytest.warns(DamagedFile, match=r"ab\.json is damaged"):
        assert store.state("ab") == "missing"


def test_a_claimed_run_is_running_and_a_done_one_cannot_be_claimed(store: Store) -> None:
    key = store.key(Scenario())
    owner = Owner.here()
    claim = store.claim(key, owner)
    assert claim is not None
    with claim:
        assert store.state(key) == "running"
        assert store.running() == {key: owner}
        assert store.claim(key) is None
        put(store, Scenario())
    assert store.running() == {}
    assert store.claim(key) is None


def test_a_run_finished_while_it_was_claimed_is_given_back(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False, True])
    monkeypatch.setattr(Store, "is_done", lambda self, key: next(answers))
    assert store.claim("ab" * 32) is None
    assert list((store.path / "claims").iterdir()) == []


def test_a_removed_run_is_missing(store: Store) -> None:
    key = put(store, Scenario())
    store.remove(key)
    store.remove(key)
    assert store.state(key) == "missing"
    assert files(store.path) == {"store.json"}


def test_a_store_travels_to_other_processes(store: Store) -> None:
    assert pickle.loads(pickle.dumps(store)) == store


def opened_in_turn(root: Path, gate: Path, name: str, times: int) -> None:
    """Opens fresh stores, each at the moment at which seven others open it too, and uses them."""
    for number in range(times):
        (gate / f"{number}.{name}").touch()
        while len(list(gate.glob(f"{number}.*"))) < 8:
            sleep(0.001)
        store = Store.open(root / str(number))
        (store.path / "claims").mkdir(exist_ok=True)
        (store.path / "claims" / name).touch()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_eight_processes_may_open_a_fresh_store_at_one_moment(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    context = get_context("fork")
    processes = [
        context.Process(target=opened_in_turn, args=(tmp_path, gate, str(number), 20))
        for number in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        process.kill()
    assert [process.exitcode for process in processes] == [0] * 8


def test_a_store_that_somebody_makes_while_we_look_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Path.iterdir

    def late(path: Path) -> Iterator[Path]:
        monkeypatch.setattr(Path, "iterdir", look)
        put(Store.open(path), Scenario())
        return look(path)

    (tmp_path / "store").mkdir()
    monkeypatch.setattr(Path, "iterdir", late)
    assert len(list(Store.open(tmp_path / "store").keys())) == 1


def test_a_store_that_has_vanished_is_not_made_anew_by_writing(store: Store) -> None:
    key = put(store, Scenario())
    shutil.rmtree(store.path)
    for work in (
        lambda: put(store, Scenario()),
        lambda: store.fail(key, Scenario(), "log"),
        lambda: store.claim(key),
    ):
        with pytest.raises(WriteError, match="the store has vanished"):
            work()
    assert not store.path.exists()
