import shutil
from pathlib import Path

import polars as pl
import pytest

from benchmarks.resumable import TABLE, ResumableTable, go_on, key_of
from wola.bench.grid import Grid

GRID = """
[base]
dataset = "iris"
workers = 5
byzantine = 1
steps = 4
batch = 4
evaluate_every = 2

[axes]
aggregator = ["median", "mean"]
attack = ["sf"]
strategy = ["-", "restricted"]

[strategies."restricted"]
loss = "fedrs(alpha=0.2)"
"""
PLACE = ("aggregator", "attack", "strategy", "lr")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a grid whose four runs are done, and their store beside it."""
    folder = tmp_path_factory.mktemp("resumable") / "study"
    folder.mkdir()
    (folder / "01.toml").write_text(GRID)
    assert go_on(ResumableTable(folder, PLACE, curves=True), folder.parent / "store", 1) == 0
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "study"))


def test_what_the_table_has_is_not_run_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = pl.read_parquet(folder / TABLE)
    assert len(made) == 4
    assert made["accuracy"].is_between(0, 100).all()
    assert go_on(ResumableTable(folder, PLACE, curves=True), folder.parent / "other", 1) == 0
    assert capsys.readouterr().out == "01.toml: 0 to do\n"
    assert pl.read_parquet(folder / TABLE).equals(made)


def test_what_an_earlier_table_has_is_not_run_either_and_is_answered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    earlier = (folder / TABLE).rename(folder / "earlier.parquet")
    table = ResumableTable(folder, PLACE, earlier=(earlier,))
    assert go_on(table, folder.parent / "other", 1) == 0
    assert capsys.readouterr().out == "01.toml: 0 to do\n"
    assert not table.path.exists()
    assert len(table.answered()) == 4


def test_answers_stand_under_the_names_of_their_scenarios(folder: Path) -> None:
    table = ResumableTable(folder, PLACE, curves=True)
    answers, made = table.answered(), pl.read_parquet(table.path)
    assert set(answers["strategy"]) == {"-", "FedRS(alpha=0.2)"}
    for scenario in Grid.from_toml(folder / "01.toml").scenarios():
        (run,) = made.filter(key=key_of(scenario)).iter_rows(named=True)
        name = "-" if scenario.loss == "cross-entropy" else "FedRS(alpha=0.2)"
        (row,) = answers.filter(aggregator=scenario.aggregator, strategy=name).iter_rows(named=True)
        assert (row["accuracy"], row["lr"]) == (run["accuracy"], scenario.lr)
        assert len(run["curve"]) == 2
        assert run["curve"][-1] == pytest.approx(run["final_accuracy"])


def test_what_has_no_run_is_asked_for_without_numbers(folder: Path) -> None:
    pl.read_parquet(folder / TABLE).head(3).write_parquet(folder / TABLE)
    table = ResumableTable(folder, PLACE)
    assert len(table.asked()) == 4
    assert table.asked()["ending"].null_count() == 1
    assert len(table.answered()) == 3
    (folder / TABLE).unlink()
    assert table.asked()["ending"].null_count() == 4


def test_runs_of_a_store_that_was_left_are_added_at_the_next_start(
    folder: Path, finished: Path
) -> None:
    made = pl.read_parquet(folder / TABLE)
    (folder / TABLE).unlink()
    go_on(ResumableTable(folder, PLACE, curves=True), finished.parent / "store", 1)
    assert pl.read_parquet(folder / TABLE).equals(made)
