"""Tables with rows and columns of one's choice, against plain Python."""

from statistics import fmean, stdev

import polars as pl
import pytest

from tests.report.invented import AXIS_VALUES, Place, invented, scattered
from wola.report.layout import Table
from wola.report.metrics import METRICS
from wola.report.paper_tables import make_tables
from wola.report.runs import Runs


def table(runs: Runs, kind: str = "accuracy", **choice: object) -> Table:
    (made,) = make_tables(runs, [kind], **choice)  # type: ignore[arg-type]
    return made


def texts(made: Table) -> dict[str, list[str]]:
    return {name: [cell.text for cell in row] for name, row in made.blocks[0].rows.items()}


def over(seed: int, **fixed: object) -> float:
    """The mean of all runs of a seed with some fixed values."""
    axes = {name: [fixed[name]] if name in fixed else AXIS_VALUES[name] for name in AXIS_VALUES}
    places = invented(scattered, **{**axes, "seed": [seed]}).table
    return fmean(places["accuracy"])


def test_a_cell_is_the_mean_over_all_that_is_on_no_axis() -> None:
    made = table(invented(scattered), rows="attack", columns=["aggregator"])
    assert made.rows == "attack"
    assert made.columns == (("aggregator", "CWMed"), ("aggregator", "CwTM"))
    assert made.name == "accuracy-attack-by-aggregator-digits"
    for row in made.data.iter_rows(named=True):
        by_seed = [over(s, attack=row["attack"], aggregator=row["aggregator"]) for s in (1, 2, 3)]
        assert row["mean"] == pytest.approx(fmean(by_seed), rel=1e-12)
        assert row["sd"] == pytest.approx(stdev(by_seed), rel=1e-12)
        assert row["expected"] == 4 * 2 * 2 * 3
    assert made.title == (
        "digits: accuracy in %, averaged over 4 strategies, 2 values of alpha, 2 values of f"
    )


def test_two_columns_are_a_group_and_what_is_below_it() -> None:
    made = table(invented(scattered), rows="aggregator", columns=["attack", "byzantine"])
    assert made.groups == [("ALIE", 2), ("Mimic", 2), ("SF", 2)]
    assert made.columns[0] == ("ALIE", "f = 2")


def test_datasets_can_be_rows_and_then_share_a_table() -> None:
    runs = invented(lambda p: 50.0 + (p["dataset"] == "iris"), dataset=["digits", "iris"])
    assert len(make_tables(runs, ["accuracy"])) == 2
    made = table(runs, rows="dataset", columns=["attack"])
    assert texts(made) == {"digits": ["50.0 (0.0)"] * 3, "iris": ["51.0 (0.0)"] * 3}
    assert made.title.startswith("accuracy in %, averaged over 4 strategies, ")


def test_a_seed_as_a_row_has_no_spread() -> None:
    made = table(invented(lambda p: 10.0 * p["seed"]), rows="seed", columns=["attack"])
    assert texts(made) == {str(s): [f"{10 * s}.0"] * 3 for s in (1, 2, 3)}


def test_the_worst_attack_is_taken_for_every_defence_and_place() -> None:
    made = table(invented(scattered), "worst", rows="aggregator", columns=["byzantine"])
    assert "worst case, averaged over 4 strategies, 2 values of alpha" in made.title
    for row in made.data.iter_rows(named=True):
        by_seed = dict.fromkeys((1, 2, 3), 0.0)
        for strategy in AXIS_VALUES["strategy"]:
            for alpha in AXIS_VALUES["alpha"]:
                place = {"dataset": "digits", "alpha": alpha, "byzantine": row["byzantine"]}
                place |= {"strategy": strategy, "aggregator": row["aggregator"]}
                runs = {
                    attack: [scattered({**place, "attack": attack, "seed": s}) for s in by_seed]
                    for attack in AXIS_VALUES["attack"]
                }
                worst = min(runs.values(), key=fmean)
                by_seed = {
                    s: total + v / 8 for (s, total), v in zip(by_seed.items(), worst, strict=True)
                }
        assert row["mean"] == pytest.approx(fmean(by_seed.values()), rel=1e-12)


def test_there_is_no_worst_attack_where_attacks_are_rows() -> None:
    assert make_tables(invented(scattered), ["worst"], rows="attack") == []


def test_rows_that_one_chooses_are_ranked_and_others_are_not() -> None:
    def by_rule(place: Place) -> float:
        return 50.0 + (place["aggregator"] == "median")

    chosen = table(invented(by_rule), rows="aggregator", columns=["attack"])
    assert chosen.reading == "CWMed is first in 3 of the 3 columns that have all runs."
    given = table(invented(by_rule), rows="attack", columns=["aggregator"])
    assert given.reading == "The numbers go from 50 (ALIE) to 51 (SF)."
    assert {cell.rank for row in given.blocks[0].rows.values() for cell in row} == {None}


def test_rows_without_a_whole_cell_say_so() -> None:
    runs = invented(scattered, failed=lambda place: place["seed"] == 1)
    assert table(runs, rows="attack").reading == "No cell has all its runs yet."


def with_numbers(column: str) -> Runs:
    runs = invented(lambda p: 10.0 * (AXIS_VALUES["strategy"].index(p["strategy"]) + 1))
    return Runs(runs.table.with_columns(pl.col("accuracy").alias(column)), runs.failed, (), ())


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_table_that_ranks_its_good_end_first(name: str) -> None:
    known = METRICS[name]
    made = table(with_numbers(known.column), name)
    assert made.title.startswith(f"digits: {known.title}, averaged over")
    best = "-" if known.lower_is_better else "WoLA+NNM"
    assert made.blocks[0].rows[best][0].rank == 1
    gain = table(with_numbers(known.column), "gain", metric=name)
    expected = "-10" if known.lower_is_better else "+10"
    assert texts(gain)["WoLA"][0].startswith("-20" if known.lower_is_better else expected)


def test_dissimilarity_is_said_to_be_of_momenta() -> None:
    assert "(of momenta)" in table(invented(scattered), "dissimilarity").title


def test_runs_without_the_number_are_missing_and_the_reason_is_told() -> None:
    made = table(invented(scattered), "byzantine-share")
    assert {text for row in texts(made).values() for text in row} == {"0/18"}
    told = [note for note in made.notes if "rules that choose by coordinates" in note]
    assert told[0].startswith("288 runs have no weight given to Byzantine workers")


def test_a_number_that_diverged_runs_are_behind_is_marked_and_whole() -> None:
    runs = invented(lambda place: 50.0)
    lost = (pl.col("strategy") == "WoLA") & (pl.col("seed") == 2) & (pl.col("attack") == "sf")
    ending = pl.when(lost).then(pl.lit("diverged at step 9: nan")).otherwise(pl.lit("finished"))
    made = table(Runs(runs.table.with_columns(ending=ending), runs.failed, (), ()))
    assert texts(made)["WoLA"] == ["50.0 (0.0)‡"] * 4
    assert texts(made)["NNM"] == ["50.0 (0.0)"] * 4
    assert any(note.startswith("‡ 8 runs diverged") for note in made.notes)
    assert set(made.data["runs"]) == {18}
