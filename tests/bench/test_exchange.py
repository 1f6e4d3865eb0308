"""Runs that travel between stores: whole, verified, and the same archive every time."""

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from tests.bench.made_up import files, put
from tests.bench.small import digests, iris, iris_grid, run_here
from wola.bench.exchange import FORMAT, ExchangeError, Taken, export_runs, import_runs
from wola.bench.store import Store
from wola.ground.sealed import sealed
from wola.training import Scenario


@pytest.fixture
def other(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "other")


def test_runs_go_through_a_file_into_another_store_bit_for_bit(
    store: Store, other: Store, tmp_path: Path
) -> None:
    grid = [*iris_grid(2), iris(mixing="bucketing")]
    run_here(grid, store, strategies={"Mine": {"lr": 0.75}})
    size = export_runs(store, list(store.keys()), tmp_path / "runs.zip")
    assert size == (tmp_path / "runs.zip").stat().st_size
    found = import_runs(tmp_path / "runs.zip", other)
    assert (found.new, found.there, found.damaged) == (2, 0, {})
    assert digests(grid, other) == digests(grid, store)
    assert other.frame(coinciding=True).equals(store.frame(coinciding=True))
    for key in list(store.keys()):
        assert store.metrics(key).equals(other.metrics(key))
        assert other.damage(key) is None
    again = import_runs(tmp_path / "runs.zip", other)
    assert (again.new, again.there) == (0, 2)


def test_a_store_takes_in_another_store(store: Store, other: Store) -> None:
    ours, theirs = put(store, Scenario(seed=1)), put(other, Scenario(seed=2))
    put(other, Scenario(seed=1))
    found = import_runs(other.path, store)
    assert (found.new, found.there) == (1, 1)
    assert set(store.keys()) == {ours, theirs}


def test_the_same_runs_make_the_same_archive(store: Store, tmp_path: Path) -> None:
    keys = [put(store, Scenario(seed=seed)) for seed in (1, 2)]
    for name, order in (("a.zip", keys), ("b.zip", keys[::-1])):
        export_runs(store, order, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize("name", ["scenario.json", "metrics.parquet", "summary.json"])
def test_a_damaged_run_is_named_and_left_out(
    store: Store, other: Store, tmp_path: Path, name: str
) -> None:
    good, bad = (put(store, Scenario(seed=seed)) for seed in (1, 2))
    path = store.folder(bad) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    export_runs(store, [good, bad], tmp_path / "runs.zip")
    found = import_runs(tmp_path / "runs.zip", other)
    assert found.new == 1
    assert list(found.damaged) == [bad]
    assert list(other.keys()) == [good]


def test_a_run_that_lacks_a_file_is_left_out(store: Store, other: Store, tmp_path: Path) -> None:
    key = put(store, Scenario())
    export_runs(store, [key], tmp_path / "whole.zip")
    with (
        zipfile.ZipFile(tmp_path / "whole.zip") as whole,
        zipfile.ZipFile(tmp_path / "part.zip", "w") as part,
    ):
        for name in whole.namelist():
            if not name.endswith("metrics.parquet"):
                part.writestr(name, whole.read(name))
    assert list(import_runs(tmp_path / "part.zip", other).damaged) == [key]
    assert files(other.path) == {"store.json"}


def test_names_that_lead_out_of_the_store_are_not_followed(other: Store, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        names = ("runs/../../evil/summary.json", "/etc/evil", "coincidences/../evil.json")
        listed = dict.fromkeys(names, sha256(b"{}").hexdigest())
        archive.writestr("wola-runs.json", sealed({"format": FORMAT, "files": listed}))
        for name in names:
            archive.writestr(name, "{}")
    assert import_runs(tmp_path / "evil.zip", other) == Taken(0, 0, {})
    assert not list(tmp_path.rglob("evil*.json"))
    assert files(other.path) == {"store.json"}


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_a_file_that_is_no_export_is_refused(other: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "runs.zip"
    if content is None:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("note.txt", "hello")
    else:
        path.write_bytes(content)
    with pytest.raises(ExchangeError, match=r"runs.zip is no export of runs"):
        import_runs(path, other)
    with pytest.raises(ExchangeError, match="does not exist"):
        import_runs(tmp_path / "missing.zip", other)


def test_an_export_of_another_version_is_refused(other: Store, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "runs.zip", "w") as archive:
        archive.writestr("wola-runs.json", sealed({"format": 99}))
    with pytest.raises(ExchangeError, match="another version"):
        import_runs(tmp_path / "runs.zip", other)
