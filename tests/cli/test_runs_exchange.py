"""`wola runs export` and `wola runs import`."""

import json
from pathlib import Path

import polars as pl
import pytest

from tests.bench.made_up import put
from tests.cli.conftest import Wola
from wola.bench.grid import Grid
from wola.bench.store import Store
from wola.training import Scenario


@pytest.fixture
def store(wola: Wola) -> Store:
    return Store.open("store")


def test_a_table_is_exported_in_three_formats(wola: Wola, store: Store) -> None:
    grid = [Scenario.paper(strategy=name) for name in ("-", "BKT", "NNM")]
    store.note_coincidences([(grid[1], grid[0])])
    for scenario in grid:
        put(store, scenario)
    whole = store.frame()
    assert wola("runs", "export", "out/runs.parquet").exit_code == 0
    assert pl.read_parquet("out/runs.parquet").equals(whole)
    assert wola("runs", "export", "runs.csv", "--strategy", "NNM").exit_code == 0
    assert pl.read_csv("runs.csv")["strategy"].to_list() == ["NNM"]
    assert "3 rows" in wola("runs", "export", "runs.json", "--coinciding").output
    assert {row["strategy"] for row in json.loads(Path("runs.json").read_text())} == {
        "-",
        "BKT",
        "NNM",
    }


@pytest.mark.parametrize(
    ("words", "allowed"),
    [
        (("runs.xlsx",), "a name that ends in .csv, .parquet, .json"),
        (("runs.zip",), "--metrics for a .zip, or a name that ends in .csv"),
        (("runs.csv", "--metrics"), "with --metrics: a name that ends in .zip"),
    ],
)
def test_an_unknown_format_is_refused(
    wola: Wola, store: Store, words: tuple[str, ...], allowed: str
) -> None:
    shown = wola("runs", "export", *words)
    assert shown.exit_code == 2
    assert allowed in shown.stderr
    assert not Path(words[0]).exists()


@pytest.mark.parametrize("words", [("runs.csv",), ("runs.zip", "--metrics")])
def test_a_file_that_cannot_be_written_is_named(
    wola: Wola, store: Store, words: tuple[str, ...]
) -> None:
    Path(words[0]).mkdir()
    shown = wola("runs", "export", *words)
    assert shown.exit_code == 1
    assert words[0] in shown.stderr


@pytest.mark.parametrize("source", ["runs.zip", "store"])
def test_whole_runs_go_from_store_to_store(wola: Wola, store: Store, source: str) -> None:
    keys = [put(store, Scenario(seed=seed)) for seed in (1, 2)]
    assert "2 runs in runs.zip" in wola("runs", "export", "runs.zip", "--metrics").output
    taken = wola("runs", "import", source, "--store", "other")
    assert taken.exit_code == 0
    assert taken.stdout == "2 new runs, 0 were there, 0 damaged; store: other\n"
    other = Store.open("other", create=False)
    assert sorted(other.keys()) == sorted(keys)
    assert other.frame().equals(store.frame())
    assert not [key for key in keys if other.damage(key)]
    again = wola("runs", "import", source, "--store", "other")
    assert again.stdout.startswith("0 new runs, 2 were there")


def test_an_export_is_cut_by_fields_and_brings_the_run_that_answers(
    wola: Wola, store: Store
) -> None:
    run = Scenario.paper(strategy="-")
    store.note_coincidences([(run.with_strategy("BKT"), run)])
    key = put(store, run)
    put(store, run.with_strategy("NNM"))
    written = wola("runs", "export", "b.zip", "--metrics", "--strategy", "BKT")
    assert written.stdout.startswith("1 run in b.zip")
    wola("runs", "import", "b.zip", "--store", "other")
    assert list(Store.open("other").keys()) == [key]
    assert set(Store.open("other").frame(coinciding=True)["strategy"]) == {"-", "BKT"}


def test_strategies_of_a_grids_own_travel_with_the_runs(wola: Wola, store: Store) -> None:
    mine = Grid(strategies={"Mine": {"loss": "wola", "mixing": "arc"}})
    store.note_strategies(mine.strategies)
    put(store, mine.scenarios()[0])
    wola("runs", "export", "runs.zip", "--metrics")
    wola("runs", "import", "runs.zip", "--store", "other")
    assert Store.open("other").frame()["strategy"].to_list() == ["Mine"]


def test_a_damaged_run_is_left_out_and_said_to_be(wola: Wola, store: Store) -> None:
    keys = [put(store, Scenario(seed=seed)) for seed in (1, 2)]
    (store.folder(keys[0]) / "metrics.parquet").write_bytes(b"other")
    taken = wola("runs", "import", "store", "--store", "other")
    assert taken.exit_code == 1
    assert f"{keys[0][:10]} is damaged and was left out: " in taken.stdout
    assert "1 new run, 0 were there, 1 damaged" in taken.stdout
    assert list(Store.open("other").keys()) == [keys[1]]


@pytest.mark.parametrize("content", [None, b"no archive", b"PK\x05\x06" + bytes(18)])
def test_what_holds_no_runs_is_refused_and_leaves_no_store_behind(
    wola: Wola, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        Path("runs.zip").write_bytes(content)
    shown = wola("runs", "import", "runs.zip", "--store", "new/other")
    assert shown.exit_code == 2
    assert shown.stderr.startswith("wola: runs.zip")
    assert shown.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"runs.zip"}


def test_a_folder_that_is_no_store_gives_no_runs(wola: Wola, store: Store, tmp_path: Path) -> None:
    put(store, Scenario())
    (tmp_path / "plain").mkdir()
    shown = wola("runs", "import", "plain")
    assert shown.exit_code == 2
    assert "plain is no store" in shown.stderr
    assert len(list(store.keys())) == 1
