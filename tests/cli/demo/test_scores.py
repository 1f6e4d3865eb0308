"""The numbers of the demonstration, against sums done by hand."""

from dataclasses import replace

import pytest

from tests.cli.made_up import PLAN, by_strategy, made_up
from wola.cli.demo.plan import Cell
from wola.cli.demo.scores import (
    MEAN,
    WORST,
    Board,
    Score,
    boards,
    mean_dissimilarity,
    reading,
    score,
    worst_runs,
)

RUNS = made_up(PLAN, by_strategy)


def test_a_score_averages_within_each_seed_before_it_measures_the_spread_over_seeds():
    made = score(r for r in RUNS if r.cell.strategy == "-")

    assert made.mean == pytest.approx((10 + 8 + 11 + 9) / 4)
    assert made.sd == pytest.approx(0.5**0.5)


def test_the_spread_of_a_single_seed_is_zero():
    assert score(r for r in RUNS if r.cell.seed == 1).sd == 0


def test_there_is_a_board_per_rule_and_one_over_all_rules():
    made = boards(PLAN, RUNS)

    assert [board.title for board in made] == ["trimmed-mean", "multi-krum", "all rules"]
    assert made[0].columns == ("alie", "mimic", MEAN, WORST)
    assert list(made[0].rows) == list(PLAN.strategies)


def test_the_worst_case_takes_the_lowest_attack_of_each_rule_and_averages_over_rules():
    def accuracy(cell: Cell) -> float:
        hurt = {"trimmed-mean": "alie", "multi-krum": "mimic"}[cell.aggregator]
        return {True: 20.0, False: 80.0}[cell.attack == hurt] + 4 * (cell.aggregator[0] == "m")

    runs = made_up(PLAN, accuracy)
    *_, over_all = boards(PLAN, runs)

    chosen = worst_runs(PLAN, runs, "WoLA", PLAN.aggregators)
    assert {(r.cell.aggregator, r.cell.attack) for r in chosen} == {
        ("trimmed-mean", "alie"),
        ("multi-krum", "mimic"),
    }
    assert over_all.rows["WoLA"][WORST].mean == pytest.approx(22)
    assert over_all.rows["WoLA"][MEAN].mean == pytest.approx(52)


def test_ranks_start_at_the_highest_and_equal_printed_values_share_a_place():
    values = {"a": 50.0, "b": 70.04, "c": 69.96, "d": 60.0}
    board = Board("", ("sf",), {name: {"sf": Score(v, 0.0)} for name, v in values.items()})

    assert board.ranks("sf") == {"a": 3, "b": 1, "c": 1, "d": 2}


def test_dissimilarity_is_averaged_over_all_runs_of_a_strategy():
    assert mean_dissimilarity(RUNS, "-") == pytest.approx(2.0)
    assert mean_dissimilarity(RUNS, "WoLA") == pytest.approx(0.2)


def test_the_reading_names_the_best_strategy_and_how_dissimilarity_changes():
    text = reading(PLAN, RUNS)

    assert "WoLA+NNM keeps the most accuracy: 39.5 % over all" in text
    assert "10.0 times smaller" in text


def test_the_reading_does_not_praise_what_the_numbers_do_not_show():
    runs = [replace(r, accuracy=100 - r.accuracy, dissimilarity=(0.0,)) for r in RUNS]
    runs = [replace(r, dissimilarity=(2.0,) if "WoLA" in r.cell.strategy else (1.0,)) for r in runs]

    text = reading(PLAN, runs)

    assert ", - keeps the most accuracy" in text
    assert "2.0 times larger" in text
