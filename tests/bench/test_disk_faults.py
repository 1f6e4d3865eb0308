"""Every writer on a disk that fails: an error says so, nothing is left, the old file stays."""

import errno
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.bench.damage import COINCIDING, FAILED, SCENARIO, prepared
from tests.bench.made_up import put
from wola.bench.claims import Owner, claim
from wola.bench.coincidence import representative
from wola.bench.exchange import export_runs, import_runs
from wola.bench.iris import keep_iris
from wola.bench.notes import announce
from wola.bench.store import Store
from wola.ground import WriteError
from wola.training import Checkpoint, RunFolder, Scenario, simulate


@contextmanager
def small_files() -> Iterator[None]:
    """Inside, the system itself refuses to write more than eight bytes to a file."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def failing_fsync() -> Iterator[None]:
    """Inside, nothing can be forced to disk."""

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        yield


@contextmanager
def full_at_the_rename() -> Iterator[None]:
    """Inside, the disk is full when a file is to get its name."""

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", fail)
        patch.setattr(os, "rename", fail)
        yield


def _store(folder: Path) -> Store:
    return Store(folder / "store")


RESULT = simulate(SCENARIO)
WRITERS: dict[str, Callable[[Path], object]] = {
    "a new store": lambda f: Store.open(f / "new"),
    "a run": lambda f: put(_store(f), Scenario(seed=5)),
    "a failure": lambda f: _store(f).fail(FAILED.key(), FAILED, "again"),
    "coincidences": lambda f: _store(f).note_coincidences(
        [(s, representative(s)) for s in [COINCIDING.changed(seed=9)]]
    ),
    "strategies": lambda f: _store(f).note_strategies({"Quick": {"lr": 0.9}}),
    "an announcement": lambda f: announce(f / "store", "grid", ["ab"]),
    "iris": lambda f: keep_iris(_store(f)),
    "a checkpoint": lambda f: Checkpoint(f / "checkpoint.pt").save(SCENARIO, {}),
    "a run folder": lambda f: RunFolder(f / "run").keep(RESULT),
    "an export": lambda f: export_runs(_store(f), list(_store(f).keys()), f / "runs.zip"),
    "an import": lambda f: import_runs(f / "runs.zip", _store(f)),
    "a claim": lambda f: claim(f / "store" / "claims", "ab" * 32, Owner.here()),
}
#: What is not forced to disk, or is no file that gets its name later.
UNSYNCED = ("a run", "a claim", "an import")


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files below a folder with their content."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    prepared(folder)
    (folder / "checkpoint.pt").write_bytes(b"old")
    return folder


@pytest.mark.parametrize("fault", [small_files, failing_fsync, full_at_the_rename])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_failing_disk_is_told_and_leaves_all_as_it_was(
    whole: Path, tmp_path: Path, writer: str, fault: Callable[[], object]
) -> None:
    spared = {failing_fsync: UNSYNCED, full_at_the_rename: ("a claim",)}.get(fault, ())
    if writer in spared:
        pytest.skip(f"{writer} does not do that")
    folder = tmp_path / "folder"
    shutil.copytree(whole, folder)
    if writer == "an import":
        with suppress(FileNotFoundError):
            shutil.rmtree(folder / "store" / "runs")
    before = snapshot(folder)
    with pytest.raises(WriteError, match="cannot write"), fault():
        WRITERS[writer](folder)
    assert snapshot(folder) == before
    WRITERS[writer](folder)


def test_an_index_that_cannot_be_written_keeps_nobody_from_reading(
    whole: Path, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    shutil.copytree(whole / "store", store.path)
    put(store, Scenario(seed=6))
    before = snapshot(tmp_path)
    with small_files():
        rows = len(store.frame())
    assert rows == len(list(store.keys()))
    assert snapshot(tmp_path) == before
