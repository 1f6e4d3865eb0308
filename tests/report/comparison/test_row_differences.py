"""Differences between rows, paired by seed, against plain Python."""

from math import sqrt
from statistics import fmean, stdev

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.invented import AXIS_VALUES, Place, invented, scattered
from wola.report.arrangement import CannotArrange
from wola.report.layout import Table
from wola.report.paper_tables import make_tables
from wola.report.runs import Runs

#: The quantile 0.975 of Student's distribution with 2 degrees of freedom.
T2 = 4.302652729911275


def table(runs: Runs, **choice: object) -> Table:
    (made,) = make_tables(runs, ["differences"], **choice)  # type: ignore[arg-type]
    return made


def test_a_difference_is_paired_over_seeds_attacks_and_rules() -> None:
    made = table(invented(scattered))
    assert set(made.data["strategy"]) == {"NNM", "WoLA", "WoLA+NNM"}
    for cell in made.data.iter_rows(named=True):
        place = {name: cell[name] for name in ("dataset", "alpha", "byzantine")}
        by_seed = [
            fmean(
                scattered({**place, **run, "strategy": cell["strategy"]})
                - scattered({**place, **run, "strategy": "-"})
                for g in AXIS_VALUES["aggregator"]
                for t in AXIS_VALUES["attack"]
                for run in [{"aggregator": g, "attack": t, "seed": seed}]
            )
            for seed in (1, 2, 3)
        ]
        reach = T2 * stdev(by_seed) / sqrt(3)
        assert cell["difference"] == pytest.approx(fmean(by_seed), rel=1e-9)
        assert cell["low"] == pytest.approx(fmean(by_seed) - reach, rel=1e-9)
        assert cell["high"] == pytest.approx(fmean(by_seed) + reach, rel=1e-9)
        sure = cell["low"] > 0 or cell["high"] < 0
        assert (cell["verdict"] != "") == sure


def gaining(*gains: float):
    """What WoLA adds in each seed; the seeds themselves differ by far more."""

    def accuracy(place: Place) -> float:
        gain = gains[place["seed"] - 1] if place["strategy"] == "WoLA" else 0.0
        return 40.0 + 10 * place["seed"] + gain

    return invented(accuracy, strategy=["-", "WoLA"])


def shown(made: Table) -> str:
    (row,) = made.blocks[0].rows.values()
    (text,) = {cell.text for cell in row}
    return text


def test_better_is_said_where_the_interval_excludes_0_and_only_there() -> None:
    assert shown(table(gaining(2.0, 2.1, 1.9))) == "+2.0 [+1.8, +2.2] better"
    assert shown(table(gaining(-2.0, -2.1, -1.9))) == "-2.0 [-2.2, -1.8] worse"
    assert shown(table(gaining(2.0, 4.0, -1.0))) == "+1.7 [-4.6, +7.9]"
    assert shown(table(gaining(0.0, 0.0, 0.0))) == "+0.0 [+0.0, +0.0]"


def test_less_is_better_where_it_is() -> None:
    made = table(gaining(200.0, 201.0, 199.0), metric="dissimilarity")
    assert shown(made) == "+2.00 [+1.98, +2.02] worse"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=3, max_size=3))
def test_the_verdict_turns_round_with_the_baseline(gains: list[float]) -> None:
    there = table(gaining(*gains)).data.row(0, named=True)
    back = table(gaining(*gains), baseline="WoLA").data.row(0, named=True)
    assert back["difference"] == pytest.approx(-there["difference"], abs=1e-9)
    assert back["low"] == pytest.approx(-there["high"], abs=1e-9)
    turned = {"better": "worse", "worse": "better", "": ""}
    # Where an end is 0 but for rounding errors, either may be said.
    if min(abs(there["low"]), abs(there["high"])) > 1e-9:
        assert back["verdict"] == turned[there["verdict"]]


def test_one_seed_has_no_interval_and_no_verdict() -> None:
    made = table(invented(scattered, seed=[1]))
    assert made.data["low"].null_count() == len(made.data)
    assert set(made.data["verdict"]) == {""}
    assert "one seed has no interval, so nothing is called better" in made.notes


def test_the_reading_counts_what_is_better() -> None:
    made = table(gaining(2.0, 2.1, 1.9))
    assert made.reading == (
        "Better than -, by intervals that exclude 0: WoLA in 4 of 4 columns (worse in 0)."
    )


def test_a_side_that_lacks_runs_has_counts_and_no_difference() -> None:
    runs = invented(scattered, failed=lambda p: p["strategy"] == "-" and p["seed"] == 1)
    made = table(runs)
    assert {cell.text for row in made.blocks[0].rows.values() for cell in row} == {"18/18; 12/18"}
    assert made.reading == "No cell has all its runs on both sides yet."


def test_rows_of_any_axis_are_compared() -> None:
    runs = invented(lambda p: 50.0 + (p["attack"] == "sf") * p["seed"])
    made = table(runs, rows="attack", columns=["aggregator"], baseline="SF")
    assert list(made.blocks[0].rows) == ["ALIE", "Mimic"]
    assert made.data["difference"].to_list() == pytest.approx([-2.0] * 4)
    assert made.name == "differences-attack-digits"


def test_an_unknown_baseline_is_refused_with_the_nearest() -> None:
    with pytest.raises(CannotArrange, match=r"baseline = 'WLA'; did you mean 'WoLA'"):
        make_tables(invented(scattered), ["differences"], baseline="WLA")


def test_there_is_nothing_to_compare_in_one_row_or_between_seeds() -> None:
    assert make_tables(invented(scattered, strategy=["-"]), ["differences"], rows="strategy") == []
    assert make_tables(invented(scattered), ["differences"], columns=["seed"]) == []
