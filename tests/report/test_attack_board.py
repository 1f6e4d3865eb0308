"""Boards: every number is that of the runs it is over."""

import pytest

from tests.report.made_up import put
from wola.bench.store import Store
from wola.report.attack_board import attack_boards, worst_and_mean
from wola.report.runs import Runs, read_runs
from wola.training import Scenario

ACCURACY = {
    ("-", "median", "sf"): 10.0,
    ("-", "median", "foe"): 30.0,
    ("-", "krum", "sf"): 50.0,
    ("-", "krum", "foe"): 20.0,
    ("WoLA", "median", "sf"): 60.0,
    ("WoLA", "median", "foe"): 70.0,
    ("WoLA", "krum", "sf"): 40.0,
    ("WoLA", "krum", "foe"): 80.0,
}


@pytest.fixture
def runs(tmp_path) -> Runs:
    store = Store.open(tmp_path / "store")
    for (strategy, aggregator, attack), accuracy in ACCURACY.items():
        for seed, shift in ((1, -1.0), (2, 1.0)):
            scenario = Scenario.paper(
                "iris", strategy=strategy, aggregator=aggregator, attack=attack, seed=seed
            )
            put(store, scenario, accuracy=accuracy + shift)
    return read_runs(store)


def test_there_is_a_board_per_aggregator_and_one_over_all(runs):
    assert [table.title for table in attack_boards(runs)] == [
        "iris: accuracy in %, CWMed",
        "iris: accuracy in %, Krum",
        "iris: accuracy in %, all rules",
    ]


def test_a_board_has_attacks_then_their_mean_then_the_worst(runs):
    median, _, everything = attack_boards(runs)

    assert [name for _, name in median.columns] == ["FOE", "SF", "mean", "worst"]
    assert [cell.text for cell in median.blocks[0].rows["-"]] == [
        "30.0 (1.4)",
        "10.0 (1.4)",
        "20.0 (1.4)",
        "10.0 (1.4)",
    ]
    assert [cell.text for cell in everything.blocks[0].rows["WoLA"]] == [
        "75.0 (1.4)",
        "50.0 (1.4)",
        "62.5 (1.4)",
        "50.0 (1.4)",
    ]
    assert [cell.rank for cell in everything.blocks[0].rows["WoLA"]] == [1, 1, 1, 1]


def test_the_worst_attack_is_chosen_for_each_aggregator(runs):
    assert worst_and_mean(runs) == {"-": (15.0, 27.5), "WoLA": (50.0, 62.5)}
