from pathlib import Path

import polars as pl
import pytest

from benchmarks import beyond
from benchmarks.beyond_tables import PAPER
from benchmarks.resumable import PLACE, TABLE, ResumableTable, key_of, place_of

GRID = """
[base]
dataset = "digits"
alpha = 0.3
byzantine = 6
seed = 1

[axes]
aggregator = ["{aggregator}"]
attack = ["alie", "sf", "beyond", "worst-of"]
strategy = {strategies}
"""
ACCURACIES = {**dict.fromkeys(PAPER, 40.0), "NNM": 60.0, "WoLA-shift": 55.0}


def accuracy(strategy: str, aggregator: str, attack: str) -> float:
    level = 90.0 if aggregator == "soft-set-hull" else ACCURACIES.get(strategy, 80.0)
    return level - {"alie": 0, "sf": 4, "beyond": 30, "worst-of": 12}[attack]


@pytest.fixture
def columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Grids whose runs have numbers that are easy to follow."""
    monkeypatch.setattr(beyond, "EARLIER", tmp_path / "none.parquet")
    folder = tmp_path / "beyond"
    folder.mkdir()
    strategies = [*PAPER, "WoLA-shift", "WoLA-shift+angle"]
    plain = GRID.format(aggregator="trimmed-mean", strategies=strategies)
    (folder / "01.toml").write_text(plain)
    hull = GRID.format(aggregator="soft-set-hull", strategies=["WoLA-shift"])
    (folder / "02.toml").write_text(hull)
    rows = []
    for scenario in ResumableTable(folder).scenarios():
        reached = accuracy(str(scenario.strategy), scenario.aggregator, scenario.attack)
        rows.append(
            {
                "key": key_of(scenario),
                **place_of(scenario, (*PLACE, "lr")),
                "accuracy": reached,
                "final_accuracy": reached - (40 if scenario.strategy == "WoLA-shift+angle" else 0),
                "worst_class": 0.0,
                "byzantine_share": 0.0,
                "ending": "finished",
                "curve": [reached / 2, reached],
            }
        )
    # Buckets of one worker are no mixing: BKT coincides with none here.
    pl.DataFrame(rows).unique("key").write_parquet(folder / TABLE)
    return folder


def test_the_page_says_where_the_new_strategies_stand(columns: Path) -> None:
    assert beyond.main(["--columns", str(columns), "--report"]) == 0
    page = columns.with_suffix(".md").read_text()
    # Means of alie and sf, 2 below the level: 58 is the best of the paper's eight.
    assert "| NNM | 58.0 |" in page
    assert "Seeds for each column that this rests on: 1." in page
    assert "| WoLA-shift, soft-set-hull | **88.0** |" in page
    shift, angle, hull = page.split("against the best of the paper's eight")[1:4]
    assert (
        "mean accuracy over training: above in 0 of 1 columns, least -5.0 points at 0.3/6" in shift
    )
    assert "more than half a point below at 0.3/6" in shift
    assert "mean accuracy over training: above in 1 of 1 columns, least +20.0 points" in angle
    assert "mean final accuracy: above in 0 of 1 columns, least -20.0 points at 0.3/6" in angle
    assert "below" not in hull.split("These are means")[0]
    # With one rule for each, the best rule changes nothing.
    assert page.count("least +30.0 points at 0.3/6") == 6


def test_the_page_has_the_attacks_made_for_the_strategies_and_how_much_is_done(
    columns: Path,
) -> None:
    made = pl.read_parquet(columns / TABLE)
    beyond.main(["--columns", str(columns), "--report"])
    page = columns.with_suffix(".md").read_text()
    assert "| WoLA-shift, soft-set-hull | - | 60.0 (60.0) | - | - | - | - |" in page
    assert "44 of the 44 scenarios of the grids have a run." in page
    made.filter(pl.col("attack") != "beyond").write_parquet(columns / TABLE)
    beyond.main(["--columns", str(columns), "--report"])
    page = columns.with_suffix(".md").read_text()
    assert "| WoLA-shift, soft-set-hull | - | - | - | - | - | - |" in page
    assert "33 of the 44 scenarios" in page


def test_the_figure_shows_runs_once_all_its_strategies_have_them(columns: Path) -> None:
    beyond.main(["--columns", str(columns), "--report"])
    empty = columns.with_suffix(".png").read_bytes()
    assert empty.startswith(b"\x89PNG")
    made = pl.read_parquet(columns / TABLE)
    there = made.with_columns(byzantine=pl.lit(8, dtype=pl.Int64))
    there.filter(pl.col("strategy") != "WoLA+NNM").write_parquet(columns / TABLE)
    beyond.main(["--columns", str(columns), "--report"])
    assert columns.with_suffix(".png").read_bytes() == empty
    there.write_parquet(columns / TABLE)
    beyond.main(["--columns", str(columns), "--report"])
    assert columns.with_suffix(".png").read_bytes() != empty
