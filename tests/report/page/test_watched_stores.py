import os
import shutil
from pathlib import Path

import pytest

from tests.report.browser.store import fill, keep, scenarios
from wola.bench.store import Store
from wola.report.page.watched_stores import WatchedStores


def files_and_times(folder: Path) -> dict[str, tuple[int, int]]:
    """All files and folders below a folder, with their times and sizes."""
    found = {path: path.lstat() for path in [folder, *folder.rglob("*")]}
    return {str(path): (stat.st_mtime_ns, stat.st_size) for path, stat in found.items()}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return fill(Store.open(tmp_path / "store"), scenarios()[:4])


def test_looking_writes_nothing_into_the_store(store: Store) -> None:
    scenario = scenarios()[9]
    claim = store.claim(store.key(scenario))
    assert claim
    before = files_and_times(store.path)
    with WatchedStores([store]) as watched:
        news = watched.since("")
        watched.details([row[0] for row in news["rows"]])
    assert files_and_times(store.path) == before
    assert news["running"] == 1


def test_what_was_kept_for_reading_is_taken_away(store: Store) -> None:
    with WatchedStores([store]) as watched:
        folder = Path(watched._folder.name)
        watched.since("")
        assert folder.exists()
    assert not folder.exists()
    assert len(list(store.keys())) == 4


def test_only_new_rows_are_sent(store: Store) -> None:
    with WatchedStores([store], fresh=0) as watched:
        first = watched.since("")
        assert first["whole"]
        assert len(first["rows"]) == 4
        again = watched.since(first["stamp"])
        assert (again["rows"], again["whole"], again["stamp"]) == ([], False, first["stamp"])
        key = keep(store, scenarios()[4])
        new = watched.since(first["stamp"])
        assert [row[0] for row in new["rows"]] == [key[:16]]
        assert watched.since(new["stamp"])["rows"] == []
        assert len(watched.since(first["stamp"])["rows"]) == 1


def test_a_run_that_is_gone_is_named(store: Store) -> None:
    with WatchedStores([store], fresh=0) as watched:
        stamp = watched.since("")["stamp"]
        key = next(store.keys())
        store.remove(key)
        assert watched.since(stamp)["gone"] == [key[:16]]


def test_a_failed_run_that_is_done_later_is_sent_anew(store: Store) -> None:
    scenario = scenarios()[4]
    key = store.key(scenario)
    store.fail(key, scenario, "no memory")
    with WatchedStores([store], fresh=0) as watched:
        first = watched.since("")
        assert [row[-1] for row in first["rows"] if row[0] == key[:16]] == ["failed"]
        keep(store, scenario)
        assert [row[-1] for row in watched.since(first["stamp"])["rows"]] == ["finished"]


@pytest.mark.parametrize("stamp", ["", "other.3", "NAME.99", "NAME.-1", "NAME.x", "NAME.\u0663"])
def test_a_stamp_that_is_not_known_gets_everything(store: Store, stamp: str) -> None:
    with WatchedStores([store]) as watched:
        name = watched.since("")["stamp"].split(".")[0]
        news = watched.since(stamp.replace("NAME", name))
        assert news["whole"]
        assert len(news["rows"]) == 4


def test_stores_are_not_looked_at_more_often_than_asked(store: Store) -> None:
    with WatchedStores([store], fresh=1000) as watched:
        stamp = watched.since("")["stamp"]
        keep(store, scenarios()[4])
        assert watched.since(stamp)["rows"] == []


def test_unknown_keys_have_no_details(store: Store) -> None:
    with WatchedStores([store]) as watched:
        known = watched.since("")["rows"][0][0]
        assert list(watched.details(["../../store.json", known, "0" * 16, ""])) == [known]


def test_curves_outside_the_store_are_not_read(store: Store, tmp_path: Path) -> None:
    keys = list(store.keys())
    inside, outside = store.folder(keys[0]), tmp_path / "outside"
    shutil.move(inside, outside)
    os.symlink(outside, inside)
    metrics = store.folder(keys[1]) / "metrics.parquet"
    shutil.move(metrics, tmp_path / "metrics.parquet")
    os.symlink(tmp_path / "metrics.parquet", metrics)
    with WatchedStores([store]) as watched:
        watched.since("")
        found = watched.details([key[:16] for key in keys])
    assert [set(found[key[:16]]) for key in keys[:2]] == [{"command"}, {"command"}]
    assert "accuracy" in found[keys[2][:16]]


def test_runs_of_a_store_that_begins_empty_are_seen(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    with WatchedStores([store], fresh=0) as watched:
        stamp = watched.since("")["stamp"]
        keep(store, scenarios()[0])
        assert len(watched.since(stamp)["rows"]) == 1
