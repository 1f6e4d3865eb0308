"""The tables and verdicts made of measurements."""

from dataclasses import replace

import pytest

from benchmarks.goals import Goal, goal_table, reference_table, verdict
from benchmarks.tables import (
    PRODUCT,
    READ,
    WOLA,
    Cell,
    Footnotes,
    disagreements,
    ratio_table,
    significant,
    time_table,
)

CELL = Cell(
    work="median",
    n=17,
    f=6,
    d=1000,
    seconds={
        WOLA: [0.002, 0.001, 0.003],
        READ: [0.001],
        PRODUCT: [0.004],
        "ByzFL torch": [0.3],
        "ByzPy": [0.001],
    },
    differences={"ByzFL torch": 2e-7, "ByzPy": 1e-8},
    tolerance=1e-5,
    skipped={"ByzFL NumPy": "not run: too large"},
    notes=["a remark"],
)
GOAL = Goal(("median",), (17,), byzfl=80, reference=READ, multiple=2.0, least_d=1000)


def row(table, work="median"):
    line = next(line for line in table.splitlines() if line.startswith(f"| {work}"))
    return [field.strip() for field in line.strip("|").split("|")]


def test_a_ratio_says_how_many_times_as_long_the_peer_takes():
    assert CELL.ratio("ByzFL torch") == pytest.approx(150)
    assert CELL.ratio("ByzPy") == pytest.approx(0.5)


def test_a_library_that_was_not_measured_has_no_ratio():
    assert CELL.ratio("ByzFL NumPy") is None


def test_the_multiple_of_a_reference_is_taken_of_medians():
    assert (CELL.multiple(READ), CELL.multiple(PRODUCT)) == pytest.approx((2.0, 0.5))


def test_the_ratio_table_shows_ratios_references_and_the_largest_difference():
    fields = row(ratio_table([CELL]))
    assert fields == [
        "median [1]", "2.00", "150x", "[2]", "0.500x", "2.00", "0.500", "2e-07",
    ]  # fmt: skip


def test_why_a_peer_was_not_run_stands_below_the_table():
    assert "- [2] ByzFL NumPy, median: not run: too large." in ratio_table([CELL])


def test_a_work_that_a_peer_lacks_is_a_dash():
    assert row(ratio_table([replace(CELL, skipped={})]))[3] == "-"


def test_a_disagreement_is_shown_and_not_hidden():
    apart = replace(CELL, differences={"ByzFL torch": 0.5, "ByzPy": 1e-8})
    table = ratio_table([apart])
    assert row(table)[-1] == "**5e-01** [3]"
    assert "- [3] median: the answers disagree: ByzFL torch 5.0e-01." in table
    assert "median, n = 17, d = 1,000: ByzFL torch differs by 5.0e-01" in disagreements([apart])


def test_a_difference_that_is_not_a_number_is_a_disagreement():
    lost = replace(CELL, differences={"ByzPy": float("nan")})
    assert not lost.agrees()
    assert "ByzPy differs by nan" in disagreements([lost])


def test_agreement_is_told_in_one_sentence():
    assert disagreements([CELL]) == "All answers compared agree within the tolerance."


def test_the_time_table_shows_medians_and_quartiles():
    fields = row(time_table([CELL]))
    assert fields[:4] == ["median", "2.00 (1.50 to 2.50)", "300 (300 to 300)", "-"]


def test_equal_remarks_share_a_mark():
    notes = Footnotes()
    assert [notes.mark(remark) for remark in ("a", "b", "a")] == ["[1]", "[2]", "[1]"]
    assert notes.text() == "- [1] a\n- [2] b"


@pytest.mark.parametrize(
    ("value", "text"), [(0.5, "0.500"), (99.94, "99.9"), (100.0, "100"), (12345.6, "12,346")]
)
def test_numbers_keep_three_digits(value, text):
    assert significant(value) == text


@pytest.mark.parametrize(
    ("torch_ms", "numpy_ms", "words"),
    [
        (200, 180, "yes"),
        (200, 100, "on ByzFL torch only"),
        (100, 200, "on ByzFL NumPy only"),
        (159, 20, "no"),
        (200, None, "yes"),
        (None, None, "not measured"),
    ],
)
def test_a_verdict_names_the_paths_on_which_a_goal_is_reached(torch_ms, numpy_ms, words):
    seconds = {WOLA: [0.002]}
    paths = {"ByzFL torch": torch_ms, "ByzFL NumPy": numpy_ms}
    seconds |= {path: [ms / 1e3] for path, ms in paths.items() if ms is not None}
    assert verdict(replace(CELL, seconds=seconds), GOAL) == words


def test_goals_of_other_sizes_are_left_out():
    assert goal_table([replace(CELL, n=18)], [GOAL]) == "None of the goals' sizes was measured."
    assert goal_table([replace(CELL, d=999)], [GOAL]) == "None of the goals' sizes was measured."
    assert row(goal_table([CELL], [GOAL]))[-2:] == ["-", "yes"]


def test_a_goal_against_a_reference_counts_its_own_bound_as_reached():
    assert row(reference_table([CELL], [GOAL]))[-2:] == ["2.00x", "yes"]
    slow = replace(CELL, seconds={**CELL.seconds, WOLA: [0.0021]})
    assert row(reference_table([slow], [GOAL]))[-2:] == ["2.10x", "no"]
