"""Attacks by rules and by strategies, against plain Python."""

from statistics import fmean

import pytest

from tests.report.invented import AXIS_VALUES, Place, invented, scattered
from wola.report.matrix import AttackMatrix, attack_by_rule, attack_by_strategy, matrix_tables
from wola.report.runs import Runs
from wola.report.section import Section, sections

ATTACKS, RULES = AXIS_VALUES["attack"], AXIS_VALUES["aggregator"]


def section(runs: Runs) -> Section:
    (found,) = sections(runs)
    return found


def mean(**fixed: object) -> float:
    axes = {name: [fixed[name]] for name in fixed}
    return fmean(invented(scattered, **axes).table["accuracy"])


def test_numbers_are_means_over_all_but_attack_rule_and_strategy() -> None:
    for matrix, strategy in zip(
        attack_by_rule(section(invented(scattered))), AXIS_VALUES["strategy"], strict=True
    ):
        assert (matrix.strategy, matrix.attacks) == (strategy, ("ALIE", "Mimic", "SF"))
        assert matrix.columns == ("CWMed", "CwTM")
        for i, attack in enumerate(ATTACKS):
            for j, rule in enumerate(RULES):
                expected = mean(strategy=strategy, attack=attack, aggregator=rule)
                assert matrix.numbers[i][j] == pytest.approx(expected, rel=1e-12)


def lowest(matrix: AttackMatrix, column: int) -> list[bool]:
    shown = [round(row[column] or 0.0, 1) for row in matrix.numbers]
    return [number == min(shown) for number in shown]


def test_the_lowest_printed_number_of_a_column_is_the_worst() -> None:
    matrix = attack_by_strategy(section(invented(scattered)))
    assert matrix.columns == tuple(AXIS_VALUES["strategy"])
    for column in range(len(matrix.columns)):
        assert [row[column] for row in matrix.worst] == lowest(matrix, column)


def breaking(place: Place) -> float:
    """ALIE breaks the median, sign flips the trimmed mean."""
    broken = {("alie", "median"): 10.0, ("sf", "trimmed-mean"): 20.0}
    return broken.get((place["attack"], place["aggregator"]), 70.0)


def test_a_sentence_says_which_attack_breaks_which_rule() -> None:
    runs = invented(breaking, strategy=["-"])
    (matrix,) = attack_by_rule(section(runs))
    assert matrix.sentence() == "The worst attack is ALIE for CWMed (10.0); SF for CwTM (20.0)."
    (table,) = matrix_tables(section(runs))
    assert table.title == (
        "digits: which attack breaks which rule: accuracy in %, averaged over 2 values of alpha, "
        "2 values of f"
    )
    assert "ALIE for CWMed (10.0)" in table.reading
    marked = {
        (name, column[1])
        for name, row in table.blocks[0].rows.items()
        for column, cell in zip(table.columns, row, strict=True)
        if cell.worst
    }
    assert marked == {("ALIE", "CWMed"), ("SF", "CwTM")}


def test_attacks_that_are_equally_bad_share_the_mark() -> None:
    matrix = attack_by_strategy(section(invented(lambda place: 50.0, strategy=["-", "WoLA"])))
    assert {mark for row in matrix.worst for mark in row} == {True}
    assert "ALIE and Mimic and SF for - (50.0), WoLA (50.0)" in matrix.sentence()


def test_high_dissimilarity_is_the_worst() -> None:
    matrix = attack_by_strategy(section(invented(scattered)), metric="dissimilarity")
    shown = [[round(n or 0.0, 2) for n in row] for row in matrix.numbers]
    for column in range(len(matrix.columns)):
        end = max(row[column] for row in shown)
        assert [r[column] for r in matrix.worst] == [row[column] == end for row in shown]


def test_a_column_with_a_gap_has_no_worst_attack() -> None:
    def lost(place: Place) -> bool:
        return (place["aggregator"], place["attack"], place["seed"]) == ("median", "sf", 1)

    (matrix,) = attack_by_rule(section(invented(breaking, failed=lost, strategy=["-"])))
    assert matrix.numbers[2][0] is None
    assert [row[0] for row in matrix.worst] == [False] * 3
    assert matrix.sentence() == "The worst attack is SF for CwTM (20.0)."
    (empty,) = attack_by_rule(section(invented(breaking, failed=lambda p: True, strategy=["-"])))
    assert empty.sentence() == "No column has all its runs yet, so no attack is the worst."


def test_tables_have_a_block_per_strategy_and_then_all_strategies() -> None:
    by_rule, by_strategy = matrix_tables(section(invented(scattered)))
    assert [block.title for block in by_rule.blocks] == AXIS_VALUES["strategy"]
    assert [name for _, name in by_strategy.columns] == AXIS_VALUES["strategy"]
    assert (
        by_rule.data["of_strategy"].unique(maintain_order=True).to_list()
        == (AXIS_VALUES["strategy"])
    )
    assert (by_rule.name, by_strategy.name) == ("matrix-rule-digits", "matrix-strategy-digits")


def test_one_rule_needs_no_matrix_of_rules_and_nobody_attacking_none_at_all() -> None:
    (only,) = matrix_tables(section(invented(scattered, aggregator=["median"])))
    assert only.name == "matrix-strategy-digits"
    quiet = invented(scattered, byzantine=[0], attack=["none"])
    assert list(matrix_tables(section(quiet))) == []
