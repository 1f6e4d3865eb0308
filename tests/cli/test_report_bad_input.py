"""What `wola report` cannot do is one line, and nothing is written."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Wola
from tests.cli.test_report import fill
from tests.report.made_up import put_record, record_of
from wola.bench.store import Store
from wola.ground.files import WriteError
from wola.ground.sealed import sealed


@pytest.fixture
def store(wola: Wola) -> Store:
    made = Store.open("store")
    fill(made)
    return made


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "nowhere is no store"),
        (("--seed", 9), "none of the 16 runs is asked for"),
        (("--strategy", "WOLLA"), "did you mean"),
        (("--tables", "acuracy"), "did you mean 'accuracy'"),
        (("--form", "pdf"), "allowed: md, csv, tex, html"),
        (("--rows", "agregator"), "--rows = 'agregator'; did you mean 'aggregator'?"),
        (("--rows", "nosuch"), "--rows = 'nosuch'; allowed: strategy, "),
        (("--columns", "alpha,bytantine"), "--columns = 'bytantine'; did you mean 'byzantine'?"),
        (("--columns", "alpha,byzantine,seed"), "allowed: one field or two"),
        (("--rows", "alpha", "--columns", "alpha"), "allowed: each field once"),
        (("--metric", "acuracy"), "--metric = 'acuracy'; did you mean 'accuracy'?"),
        (("--baseline", "WLA"), "--baseline = 'WLA'; did you mean 'WoLA'?"),
        (("--out", "file"), "--out = 'file' is a file; allowed: a folder"),
        (("--out", "file/below"), "lies below"),
        (("--against", "nowhere"), "nowhere is no store"),
    ],
)
def test_what_cannot_be_done_is_one_message(
    wola: Wola, store: Store, words: tuple[object, ...], said: str
) -> None:
    Path("file").touch()
    store.frame()
    before = snapshot()
    shown = wola("report", *words)
    assert shown.exit_code == 2
    assert said in shown.output
    assert "Traceback" not in shown.output
    assert len(shown.output.strip().splitlines()) == 1
    assert snapshot() == before


def snapshot() -> dict[str, bytes | None]:
    """All files and folders below this one."""
    return {str(p): p.read_bytes() if p.is_file() else None for p in Path().rglob("*")}


def of_another_version(store: Path) -> None:
    (store / "store.json").write_bytes(sealed({"store": 2}))


def half_written(store: Path) -> None:
    (store / "store.json").write_bytes((store / "store.json").read_bytes()[:9])


def never_finished(store: Path) -> None:
    (store / "store.json").unlink()


def emptied(store: Path) -> None:
    shutil.rmtree(store)
    store.mkdir()


def a_file(store: Path) -> None:
    shutil.rmtree(store)
    store.touch()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (of_another_version, "another version of wola"),
        (half_written, "store.json is damaged"),
        (never_finished, "is no store; allowed: a folder with a store.json"),
        (emptied, "is no store; allowed: a folder with a store.json"),
        (a_file, "is a file; allowed: a folder"),
    ],
)
def test_a_folder_that_is_no_whole_store_is_one_message_and_is_left_as_it_is(
    wola: Wola, store: Store, harm: Callable[[Path], None], said: str
) -> None:
    harm(store.path)
    before = snapshot()
    for words in (("report",), ("report", "--out", "out"), ("runs", "ls")):
        shown = wola(*words)
        assert shown.exit_code == 2
        assert said in shown.output
        assert len(shown.output.strip().splitlines()) == 1
    assert snapshot() == before


def test_runs_of_another_version_alone_are_one_message_that_counts_them(wola: Wola) -> None:
    made = Store.open("store")
    put_record(made, {**record_of(dataset="iris"), "semantics": "0"})
    shown = wola("report")
    assert shown.exit_code == 2
    assert "1 run of semantics '0' is kept and left out" in shown.output
    assert len(shown.output.strip().splitlines()) == 1


def test_foreign_files_in_a_store_are_passed_over(wola: Wola, store: Store) -> None:
    expected = wola("report").output
    (store.path / "notes.txt").write_text("mine")
    (store.path / "runs" / "notes.txt").write_text("mine")
    (store.path / "runs" / "zz" / "folder").mkdir(parents=True)
    (store.path / "runs" / "zz" / "folder" / "notes.txt").write_text("mine")
    shown = wola("report")
    assert (shown.exit_code, shown.output) == (0, expected)


def test_half_a_run_is_told_and_counts_as_missing(wola: Wola, store: Store) -> None:
    path = store.folder(next(iter(store.keys()))) / "summary.json"
    path.write_bytes(path.read_bytes()[:40])
    shown = wola("report", "--tables", "accuracy")
    assert shown.exit_code == 0
    assert "7/8" in shown.output
    assert "is left out, it cannot be read as a run" in shown.output


def test_a_store_that_may_not_be_written_to_is_read(
    wola: Wola, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *content: object) -> None:
        raise WriteError(30, "cannot write (Read-only file system)", str(path))

    monkeypatch.setattr("wola.bench.index.write_whole", refuse)
    before = snapshot()
    shown = wola("report", "--tables", "accuracy")
    assert shown.exit_code == 0
    assert "61.5 (0.7)" in shown.output
    assert snapshot() == before


def test_an_empty_store_is_one_message(wola: Wola) -> None:
    Store.open("store")
    shown = wola("report")
    assert shown.exit_code == 2
    assert "no run has been made" in shown.output
