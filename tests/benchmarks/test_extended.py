from pathlib import Path

import polars as pl
import pytest

from benchmarks import extended
from benchmarks.resumable import TABLE

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
attack = ["sf", "foe"]
strategy = ["-", "WoLA"]
"""


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    folder = tmp_path / "extended"
    folder.mkdir()
    (folder / "01.toml").write_text(GRID)
    return folder


def given(columns: Path) -> list[str]:
    return ["--columns", str(columns), "--store", str(columns.parent / "store"), "--processes", "1"]


def test_the_page_has_a_row_for_each_rule_and_the_worst_attack_of_it(columns: Path) -> None:
    extended.main(given(columns))
    extended.main([*given(columns), "--report"])
    page = columns.with_suffix(".md").read_text()
    table = pl.read_parquet(columns / TABLE)
    worst = table.filter(aggregator="mean", strategy="WoLA")["accuracy"].min()
    (row,) = [line for line in page.splitlines() if line.startswith("| mean, WoLA |")]
    assert row.replace("*", "").endswith(f"| {worst:.1f} |")
    both = table.pivot("strategy", values="accuracy", index=["aggregator", "attack"])
    better = (both["WoLA"] > both["-"]).sum()
    assert f"better in {better} of 4 cells" in page
