"""Every writer on a disk that fails: an error says so, nothing is left, the old file stays."""

import shutil
from pathlib import Path

import pytest

from tests.bench.damage import prepared
from tests.bench.made_up import put
from tests.bench.writers import FAULTS, WRITERS, can_meet, small_files, snapshot
from wola.bench.store import Store
from wola.ground import WriteError
from wola.training import Scenario

CASES = [(writer, fault) for writer in WRITERS for fault in FAULTS if can_meet(writer, fault)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    prepared(folder)
    (folder / "checkpoint.pt").write_bytes(b"old")
    return folder


@pytest.mark.parametrize(("writer", "fault"), CASES)
def test_a_failing_disk_is_told_and_leaves_all_as_it_was(
    whole: Path, tmp_path: Path, writer: str, fault: str
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(whole, folder)
    if writer == "an import":
        shutil.rmtree(folder / "store" / "runs")
    before = snapshot(folder)
    with pytest.raises(WriteError, match="cannot write"), FAULTS[fault]():
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
