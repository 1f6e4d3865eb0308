"""Every writer of files, and disks that fail it."""

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.bench.damage import COINCIDING, FAILED, SCENARIO
from tests.bench.made_up import put
from wola.bench.claims import Owner, claim
from wola.bench.coincidence import representative
from wola.bench.exchange import export_runs, import_runs
from wola.bench.iris import keep_iris
from wola.bench.notes import announce
from wola.bench.store import Store
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


FORCED, RENAMED = "a disk that cannot be forced", "a disk that is full at the rename"
FAULTS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "a file that may not grow": small_files,
    FORCED: failing_fsync,
    RENAMED: full_at_the_rename,
}


def can_meet(writer: str, fault: str) -> bool:
    """Whether a writer does what the fault is about."""
    spared = {FORCED: UNSYNCED, RENAMED: ("a claim",)}
    return writer not in spared.get(fault, ())
