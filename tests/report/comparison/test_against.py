"""Comparisons with the paper and between stores, against plain Python."""

from statistics import fmean
from typing import Any

import polars as pl
import pytest
from scipy.stats import kendalltau

from tests.report.invented import Place, invented, scattered
from wola.bench.presets import preset
from wola.report.comparison import (
    NothingShared,
    against_paper,
    against_runs,
    missing_from_paper,
)
from wola.report.comparison.agreement import mean_interval, sign_flip_p
from wola.report.comparison.paper_numbers import paper_numbers
from wola.report.layout import Table
from wola.report.runs import Runs

GRID = preset("paper/accuracy").axes
DEFENCES = {name: GRID[name] for name in ("aggregator", "attack")}
PAPER = {
    (r["metric"], r["summary"], r["dataset"], r["alpha"], r["byzantine"], r["strategy"]): r
    for r in paper_numbers().iter_rows(named=True)
}
FASHION = {"dataset": ["fashion-mnist"], "byzantine": [2, 6], "strategy": GRID["strategy"]}


def printed_by_the_paper(place: Place) -> float:
    found = PAPER[
        "accuracy",
        "global",
        place["dataset"],
        place["alpha"],
        place["byzantine"],
        place["strategy"],
    ]
    return float(found["mean"])


def row(table: Table, **values: Any) -> dict[str, Any]:
    found = table.data.filter(**values).to_dicts()
    assert len(found) == 1
    return found[0]


def texts(table: Table, block: int, name: str) -> list[str]:
    return [cell.text for cell in table.blocks[block].rows[name]]


def test_the_paper_has_768_numbers_of_which_some_are_known_by_heart() -> None:
    assert len(PAPER) == 768
    cifar = PAPER["accuracy", "worst", "cifar10", 0.3, 6, "WoLA+NNM"]
    assert cifar["dataset"] in GRID["dataset"]
    assert PAPER["accuracy", "global", "fashion-mnist", 0.3, 6, "WoLA+NNM"]["mean"] == 73.9
    assert PAPER["dissimilarity", "global", "mnist", 0.3, 6, "NNM"]["sd"] == 1.38
    for axis in ("dataset", "alpha", "byzantine", "strategy"):
        assert set(paper_numbers()[axis]) == set(GRID[axis])


def test_the_papers_own_numbers_agree_with_it_wholly() -> None:
    table = against_paper(invented(printed_by_the_paper, **FASHION, **DEFENCES))[0]
    assert table.title == "Fashion MNIST: accuracy in %, against the paper"
    assert set(table.data["difference"]) == {0.0}
    assert table.data["within"].all()
    assert table.data["tau"].to_list() == pytest.approx([1.0] * 32, abs=1e-12)
    assert texts(table, 0, "NNM")[0] == "78.4 - 78.4 = +0.0 ✓"
    assert texts(table, 1, "Kendall τ") == ["1.00"] * 4
    assert texts(table, 1, "✓") == ["8 of 8"] * 4
    assert table.reading.startswith("32 of 32 cells differ from the paper by at most its standard")
    assert "median Kendall τ of the order is 1.00" in table.reading


def test_differences_are_of_the_printed_numbers_and_judged_by_the_papers_sd() -> None:
    table = against_paper(
        invented(lambda place: printed_by_the_paper(place) + 0.64, **FASHION, **DEFENCES)
    )[0]
    for cell in table.data.iter_rows(named=True):
        assert cell["difference"] == 0.6
        assert cell["within"] == (cell["other_sd"] >= 0.6)
    assert 0 < table.data["within"].sum() < len(table.data)


def test_the_order_of_strategies_is_compared_in_every_column() -> None:
    table = against_paper(invented(scattered, **FASHION, **DEFENCES))[0]
    for _, column in table.data.group_by("alpha", "byzantine"):
        expected = kendalltau(column["mean"].round(1), column["other"]).statistic
        assert column["tau"].to_list() == pytest.approx([expected] * 8, abs=1e-12)


def test_all_three_tables_of_the_paper_are_compared() -> None:
    names = [table.name for table in against_paper(invented(scattered, **FASHION, **DEFENCES))]
    assert names == [
        f"paper-{kind}-fashion-mnist" for kind in ("accuracy", "worst", "dissimilarity")
    ]
    mnist = against_paper(invented(scattered, **{**FASHION, "dataset": ["mnist"]}, **DEFENCES))
    assert [table.name for table in mnist] == ["paper-dissimilarity-mnist"]


def test_means_over_fewer_attacks_than_the_papers_are_not_compared() -> None:
    runs = invented(printed_by_the_paper, **FASHION, aggregator=["median"], attack=["alie"])
    table = against_paper(runs)[0]
    assert table.data["difference"].null_count() == len(table.data)
    assert texts(table, 0, "NNM")[0] == "3/60; 78.4"
    assert table.reading == "No cell has all its runs on both sides yet."
    partial = against_paper(runs, partial=True)[0]
    assert texts(partial, 0, "NNM")[0] == "78.4[3/60] - 78.4 = +0.0 ✓"


def test_aggregators_and_attacks_that_the_paper_has_not_do_not_count() -> None:
    more = {"aggregator": [*GRID["aggregator"], "krum"], "attack": [*GRID["attack"], "min-max"]}
    own = {"krum", "min-max"}
    runs = invented(
        lambda place: 0.0 if own & set(map(str, place.values())) else printed_by_the_paper(place),
        **FASHION,
        **more,
    )
    table = against_paper(runs)[0]
    assert set(table.data["difference"]) == {0.0}


def test_runs_that_the_paper_has_not_are_in_no_table_and_all_its_cells_are_missing() -> None:
    runs = invented(scattered)
    assert against_paper(runs) == []
    assert missing_from_paper(runs) == [
        "Fashion MNIST, accuracy: 96 of 96 cells lack runs",
        "CIFAR10, accuracy: 96 of 96 cells lack runs",
        *(
            f"{name}, gradient dissimilarity (of momenta): 96 of 96 cells lack runs"
            for name in ("MNIST", "Fashion MNIST", "Purchase100", "CIFAR10")
        ),
    ]


def test_the_cells_that_the_paper_has_and_the_runs_lack_are_told_by_column() -> None:
    told = missing_from_paper(invented(scattered, **FASHION, **DEFENCES))
    assert told[0] == (
        "Fashion MNIST, accuracy: 64 of 96 cells lack runs (alpha 3: f 4, 8; alpha 1: f 2, 4, 6, "
        "8; alpha 0.3: f 4, 8)"
    )
    everything = {
        axis: GRID[axis] for axis in ("dataset", "alpha", "byzantine", "strategy", *DEFENCES)
    }
    assert missing_from_paper(invented(scattered, seed=[1], **everything)) == []


def test_runs_against_themselves_are_equal() -> None:
    runs = invented(scattered)
    tables = against_runs(runs, runs)
    assert [t.name for t in tables] == [
        f"runs-{kind}-digits" for kind in ("accuracy", "worst", "dissimilarity")
    ]
    for table in tables:
        assert set(table.data["difference"]) == {0.0}
        assert set(table.data["p"]) == {1.0}
        assert set(table.data["low"]) == set(table.data["high"]) == {0.0}
        assert table.data["tau"].to_list() == pytest.approx([1.0] * len(table.data), abs=1e-12)


def test_p_is_that_of_the_paired_differences_of_the_seeds() -> None:
    def shifted(place: Place) -> float:
        return scattered(place) + {1: 1.0, 2: 2.0, 3: -4.5}[place["seed"]]

    table = against_runs(invented(shifted), invented(scattered), name="before")[0]
    assert table.title.endswith("against before")
    assert set(table.data["p"]) == {sign_flip_p([1.0, 2.0, -4.5])}
    assert table.data["difference"].to_list() == pytest.approx([-0.5] * len(table.data), abs=0.11)
    assert texts(table, 2, "WoLA") == ["1"] * 4
    low, high = mean_interval([1.0, 2.0, -4.5]) or (0.0, 0.0)
    assert table.data["low"].to_list() == pytest.approx([low] * len(table.data), abs=1e-9)
    assert texts(table, 1, "WoLA") == [f"[{low:+.1f}, {high:+.1f}]"] * 4
    assert (
        "p: sign-flip test on the differences of the seeds; not below 0.25 with so few"
        in table.notes
    )


def test_both_sides_are_cut_to_what_they_share() -> None:
    ours = invented(scattered, attack=["alie", "sf"], seed=[1, 2, 3], alpha=[3.0])
    theirs = invented(scattered, attack=["sf", "mimic"], seed=[2, 3, 4], strategy=["-", "WoLA"])
    table = against_runs(ours, theirs)[0]
    assert set(table.data["strategy"]) == {"-", "WoLA"}
    assert set(table.data["alpha"]) == {3.0}
    assert set(table.data["expected"]) == {4}
    assert set(table.data["difference"]) == {0.0}
    assert "means over 2 seeds (2, 3)" in table.notes
    cell = row(table, strategy="WoLA", byzantine=6)
    place = {"dataset": "digits", "alpha": 3.0, "byzantine": 6, "strategy": "WoLA"}
    expected = fmean(
        scattered({**place, "aggregator": g, "attack": "sf", "seed": s})
        for g in ("median", "trimmed-mean")
        for s in (2, 3)
    )
    assert cell["mean"] == pytest.approx(expected, rel=1e-12)


def test_a_cell_that_one_side_lacks_has_counts_and_no_difference() -> None:
    def lost(place: Place) -> bool:
        return (place["strategy"], place["byzantine"], place["seed"]) == ("NNM", 2, 1)

    table = against_runs(invented(lambda place: 50.0), invented(scattered, failed=lost))[0]
    assert texts(table, 0, "NNM")[0] == "50.0; 12/18"
    assert texts(table, 1, "NNM")[0] == ""
    assert row(table, strategy="NNM", byzantine=2, alpha=3.0)["difference"] is None


def test_a_partial_mean_is_compared_on_request_but_not_tested() -> None:
    def lost(place: Place) -> bool:
        return (place["strategy"], place["byzantine"], place["attack"]) == ("NNM", 2, "sf")

    runs = invented(lambda place: 50.0)
    table = against_runs(runs, invented(lambda place: 50.0, failed=lost), partial=True)[0]
    assert texts(table, 0, "NNM")[0] == "50.0 - 50.0[12/18] = +0.0 ✓"
    assert row(table, strategy="NNM", byzantine=2, alpha=3.0)["p"] is None


def test_another_setting_is_compared_if_it_is_the_only_one_and_named() -> None:
    usual, other = invented(lambda place: 50.0), invented(lambda place: 51.0, setting="batch 8")
    table = against_runs(usual, other)[0]
    assert set(table.data["difference"]) == {-1.0}
    assert "against the other runs (setting: batch 8)" in table.title
    many = Runs(
        pl.concat([other.table, invented(scattered, setting="batch 9").table]), other.failed, (), ()
    )
    with pytest.raises(NothingShared, match="no cell in common"):
        against_runs(usual, many)


def test_the_same_setting_is_preferred() -> None:
    usual, other = invented(lambda place: 50.0), invented(lambda place: 51.0, setting="batch 8")
    both = Runs(pl.concat([usual.table, other.table]), usual.failed, (), ())
    assert set(against_runs(usual, both)[0].data["difference"]) == {0.0}


def test_runs_of_different_datasets_share_nothing() -> None:
    with pytest.raises(NothingShared, match=r"digits .* and iris"):
        against_runs(invented(scattered), invented(scattered, dataset=["iris"]))
    with pytest.raises(NothingShared):
        against_runs(invented(scattered), invented(scattered, seed=[7]))


def test_runs_without_attackers_are_compared_without_a_worst_case() -> None:
    quiet = invented(scattered, byzantine=[0], aggregator=["mean"], attack=["none"])
    names = [table.name for table in against_runs(quiet, quiet)]
    assert names == [
        f"runs-{kind}-digits-without-byzantine" for kind in ("accuracy", "dissimilarity")
    ]
