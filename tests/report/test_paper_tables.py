"""The layouts: what stands where, what is told below, and what is not said."""

from itertools import product

import polars as pl
import pytest

from tests.report.invented import AXIS_VALUES, Place, invented, scattered
from wola.report.layout import Table, number
from wola.report.paper_tables import TABLE_KINDS, make_tables
from wola.report.runs import Runs
from wola.report.scores import scores
from wola.report.section import sections


def by_rank(place: Place) -> float:
    """10 for the first strategy, 20 for the second, ...; the seed adds itself."""
    return 10.0 * (AXIS_VALUES["strategy"].index(place["strategy"]) + 1) + place["seed"] - 2


def only(tables: list[Table]) -> Table:
    assert len(tables) == 1
    return tables[0]


def texts(table: Table, block: int = 0) -> dict[str, list[str]]:
    return {name: [c.text for c in row] for name, row in table.blocks[block].rows.items()}


def test_rows_are_strategies_and_columns_alpha_by_f() -> None:
    table = only(make_tables(invented(by_rank), ["accuracy"]))
    assert table.columns == tuple(product(("alpha = 3", "alpha = 0.3"), ("f = 2", "f = 6")))
    assert table.groups == [("alpha = 3", 2), ("alpha = 0.3", 2)]
    assert texts(table) == {
        "-": ["10.0 (1.0)"] * 4,
        "NNM": ["20.0 (1.0)"] * 4,
        "WoLA": ["30.0 (1.0)"] * 4,
        "WoLA+NNM": ["40.0 (1.0)"] * 4,
    }
    ranks = {name: row[0].rank for name, row in table.blocks[0].rows.items()}
    assert ranks == {"-": 4, "NNM": 3, "WoLA": 2, "WoLA+NNM": 1}
    assert table.reading == (
        "WoLA+NNM is first in 4 of the 4 columns that have all runs; a strategy with the WoLA loss "
        "is first in 4 of them."
    )


def test_lower_dissimilarity_is_better() -> None:
    table = only(make_tables(invented(by_rank), ["dissimilarity"]))
    assert texts(table)["-"][0] == "0.10 (0.01)"
    assert table.blocks[0].rows["-"][0].rank == 1


def test_gains_are_signed_and_given_for_all_attacks_and_for_the_worst() -> None:
    table = only(make_tables(invented(by_rank), ["gain"]))
    assert [block.title for block in table.blocks] == ["all attacks", "worst attack"]
    assert texts(table) == {"WoLA": ["+10.0"] * 4, "WoLA+NNM": ["+20.0"] * 4}
    assert "16 of 16 gains are above 0" in table.reading


def test_there_is_no_table_of_gains_without_a_strategy_to_gain_over() -> None:
    assert make_tables(invented(by_rank, strategy=["WoLA"]), ["gain"]) == []
    assert make_tables(invented(by_rank, strategy=["-"]), ["gain"]) == []


def test_full_tables_have_a_block_per_attack_and_columns_by_aggregator() -> None:
    runs = invented(scattered)
    tables = make_tables(runs, ["full"])
    assert [table.name for table in tables] == ["full-alpha-3-digits", "full-alpha-0.3-digits"]
    table = tables[1]
    assert [block.title for block in table.blocks] == ["ALIE", "Mimic", "SF"]
    assert table.columns == tuple(product(("CWMed", "CwTM"), ("f = 2", "f = 6")))
    cells = scores(runs, by=("aggregator", "attack"))
    cell = cells.row(
        by_predicate=(pl.col("alpha") == 0.3)
        & (pl.col("byzantine") == 6)
        & (pl.col("strategy") == "NNM")
        & (pl.col("aggregator") == "median")
        & (pl.col("attack") == "mimic"),
        named=True,
    )
    assert texts(table, 1)["NNM"][1] == number(cell, digits=1).text


@pytest.mark.parametrize("kind", TABLE_KINDS)
def test_every_table_tells_its_seeds(kind: str) -> None:
    tables = make_tables(invented(scattered, seed=[1, 2, 5]), [kind])
    assert tables
    assert all("over 3 seeds (1, 2, 5)" in table.notes[0] for table in tables)


def test_one_seed_is_told_and_has_no_spread() -> None:
    table = only(make_tables(invented(by_rank, seed=[2]), ["accuracy"]))
    assert "over 1 seed (2)" in table.notes[0]
    assert texts(table)["-"] == ["10.0"] * 4


def lost(place: Place) -> bool:
    return (place["alpha"], place["strategy"], place["attack"]) == (3.0, "WoLA+NNM", "sf")


def test_a_cell_that_lacks_runs_shows_a_count_and_the_note_says_so() -> None:
    table = only(make_tables(invented(by_rank, failed=lost), ["accuracy"]))
    assert texts(table)["WoLA+NNM"] == ["12/18", "12/18", "40.0 (1.0)", "40.0 (1.0)"]
    assert any(note.startswith("2 of 16 cells lack runs, shown as n/m") for note in table.notes)
    assert "first in 2 of the 2 columns that have all runs" in table.reading


def test_partial_means_are_shown_on_request_with_their_count_and_without_a_place() -> None:
    table = only(make_tables(invented(by_rank, failed=lost), ["accuracy"], partial=True))
    cell = table.blocks[0].rows["WoLA+NNM"][0]
    assert (cell.text, cell.rank, cell.missing) == ("40.0 (1.0) [12/18]", None, False)
    assert any("marked [n/m]" in note for note in table.notes)


def test_gains_that_lack_runs_show_how_many_of_all_they_need() -> None:
    table = only(make_tables(invented(by_rank, failed=lost), ["gain"]))
    assert texts(table)["WoLA+NNM"] == ["48/54", "48/54", "+20.0", "+20.0"]


def test_runs_that_ended_without_a_number_are_told() -> None:
    runs = invented(lambda place: None if lost(place) else by_rank(place))
    table = only(make_tables(runs, ["accuracy"]))
    assert (
        "12 runs have no accuracy (ended before the first test), and count as missing"
        in table.notes
    )
    assert texts(table)["WoLA+NNM"][0] == "12/18"


def test_nothing_is_called_first_while_no_column_is_whole() -> None:
    runs = invented(by_rank, failed=lambda place: place["strategy"] == "NNM")
    tables = make_tables(runs, ["accuracy", "gain"])
    assert tables[0].reading == "No column has all its runs yet, so nobody is first."
    assert tables[1].reading == "No gain has all its runs yet."


def test_settings_have_tables_of_their_own_with_the_setting_in_the_title() -> None:
    usual, other = invented(by_rank), invented(by_rank, setting="steps 20, batch 8")
    both = Runs(pl.concat([usual.table, other.table]), usual.failed, (), ())
    tables = make_tables(both, ["accuracy"])
    assert [table.name for table in tables] == [
        "accuracy-digits",
        "accuracy-digits-steps-20-batch-8",
    ]
    assert tables[1].title == (
        "digits: accuracy in %, averaged over 2 aggregators, 3 attacks (setting: steps 20, batch 8)"
    )


@pytest.mark.parametrize("ends", [("x" * 300 + "a", "x" * 300 + "b"), ("A", "a"), ("a/b", "a b")])
def test_names_are_short_and_differ_where_settings_do(ends: tuple[str, str]) -> None:
    settings = [f"model {end}" for end in ends]
    names = {sections(invented(by_rank, setting=s))[0].name("worst") for s in settings}
    assert len(names) == 2
    assert not any("/" in name for name in names)
    assert all(len(name) < 100 for name in names)


def test_runs_without_byzantine_workers_have_a_table_apart_and_no_worst_case() -> None:
    quiet = invented(by_rank, byzantine=[0], aggregator=["mean"], attack=["none"])
    loud = invented(by_rank)
    tables = make_tables(Runs(pl.concat([quiet.table, loud.table]), loud.failed, (), ()))
    apart = [table for table in tables if "without-byzantine" in table.name]
    assert [table.name.split("-digits")[0] for table in apart] == [
        "accuracy",
        "gain",
        "dissimilarity",
        "differences",
    ]
    assert all("without Byzantine workers" in table.title for table in apart)
    assert all(len(table.blocks) == 1 for table in apart)


def test_a_table_splits_by_its_groups_of_columns() -> None:
    table = only(make_tables(invented(by_rank, failed=lost), ["accuracy"]))
    left, right = table.split()
    assert left.groups + right.groups == table.groups
    assert texts(left)["WoLA+NNM"] + texts(right)["WoLA+NNM"] == texts(table)["WoLA+NNM"]


def test_no_runs_make_no_tables() -> None:
    assert make_tables(invented(by_rank, seed=[])) == []
