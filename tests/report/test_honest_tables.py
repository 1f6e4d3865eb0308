"""From stores with missing, failed and duplicate runs to tables that say so."""

from itertools import product
from pathlib import Path

import pytest

from tests.report.made_up import put
from wola.bench.store import Store
from wola.report.paper_tables import make_tables
from wola.report.runs import read_runs
from wola.training import Scenario

RULES, ATTACKS, SEEDS = ("median", "trimmed-mean"), ("alie", "sf"), (1, 2)


def grid(strategy: str) -> list[Scenario]:
    return [
        Scenario.paper(
            "iris", strategy=strategy, aggregator=rule, attack=attack, seed=seed, byzantine=4
        )
        for rule, attack, seed in product(RULES, ATTACKS, SEEDS)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Eight runs of "-" at 50 %; of NNM one has failed, of WoLA one is missing."""
    made = Store.open(tmp_path / "store")
    for scenario in grid("-"):
        put(made, scenario, accuracy=50.0)
    for scenario in grid("NNM")[1:]:
        put(made, scenario, accuracy=60.0)
    lost = grid("NNM")[0]
    made.fail(made.key(lost), lost, "MemoryError")
    for scenario in grid("WoLA")[1:]:
        put(made, scenario, accuracy=70.0)
    return made


def cells(*stores: Store, partial: bool = False) -> dict[str, str]:
    (table,) = make_tables(read_runs(*stores), ["accuracy"], partial=partial)
    return {name: row[0].text for name, row in table.blocks[0].rows.items()}


def test_failed_and_missing_runs_are_counted_and_never_averaged_over(store: Store) -> None:
    assert cells(store) == {"-": "50.0 (0.0)", "NNM": "7/8", "WoLA": "7/8"}


def test_partial_means_are_marked(store: Store) -> None:
    shown = cells(store, partial=True)
    assert shown["NNM"] == "60.0 (0.0) [7/8]"


def test_duplicate_runs_count_once_and_are_told(store: Store, tmp_path: Path) -> None:
    twin = Store.open(tmp_path / "twin")
    for scenario in grid("-"):
        put(twin, scenario, accuracy=50.0)
    runs = read_runs(store, twin)
    assert cells(store, twin) == cells(store)
    assert any(note.startswith("8 runs left out") for note in runs.notes)


def test_a_second_store_fills_the_gaps_of_the_first(store: Store, tmp_path: Path) -> None:
    other = Store.open(tmp_path / "other")
    put(other, grid("NNM")[0], accuracy=60.0)
    put(other, grid("WoLA")[0], accuracy=70.0)
    assert cells(store, other) == {"-": "50.0 (0.0)", "NNM": "60.0 (0.0)", "WoLA": "70.0 (0.0)"}


def test_a_run_that_ended_before_its_first_test_is_missing_and_told(store: Store) -> None:
    put(store, grid("WoLA")[0], accuracy=None)
    (table,) = make_tables(read_runs(store), ["accuracy"])
    assert table.blocks[0].rows["WoLA"][0].text == "7/8"
    assert (
        "1 run has no accuracy (ended before the first test), and counts as missing" in table.notes
    )


def test_gains_need_every_strategy_they_are_over(store: Store) -> None:
    (table,) = make_tables(read_runs(store), ["gain"])
    assert table.blocks[0].rows["WoLA"][0].text == "22/24"
    assert table.reading == "No gain has all its runs yet."
