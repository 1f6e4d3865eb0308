"""Rows and columns of one's choice, or by default what varies."""

from dataclasses import replace

import polars as pl
import pytest

from tests.report.invented import Place, invented, scattered
from wola.report.arrangement import Arrangement, CannotArrange, arranged
from wola.report.axes import UnknownAxis
from wola.report.runs import Runs

ONE = {"strategy": ["-"], "aggregator": ["median"], "attack": ["alie"]}


def form(runs: Runs, rows: str | None = None, *columns: str) -> Arrangement:
    (found,) = arranged(runs, rows, columns)
    return found


def names(found: Arrangement) -> tuple[str, ...]:
    return (found.rows.name, *(axis.name for axis in found.columns))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ("strategy", "alpha", "byzantine")),
        ({"strategy": ["-"]}, ("aggregator", "alpha", "byzantine")),
        ({**ONE, "attack": ["alie", "sf"]}, ("attack", "alpha", "byzantine")),
        ({**ONE, "dataset": ["digits", "iris"]}, ("dataset", "alpha", "byzantine")),
        (ONE, ("strategy", "alpha", "byzantine")),
        ({"strategy": ["-"], "alpha": [1.0], "byzantine": [4]}, ("aggregator", "attack")),
        ({"alpha": [1.0], "byzantine": [4]}, ("strategy", "alpha", "byzantine")),
    ],
    ids=["strategies", "rules", "attacks", "datasets", "nothing", "rules and attacks", "one place"],
)
def test_rows_are_what_varies(changes: dict[str, list[object]], expected: tuple[str, ...]) -> None:
    assert names(form(invented(scattered, **changes))) == expected


def test_the_other_of_alpha_and_f_stays_a_column_beside_what_varies() -> None:
    assert names(form(invented(scattered), "alpha")) == ("alpha", "strategy", "byzantine")
    assert names(form(invented(scattered), None, "strategy")) == ("aggregator", "strategy")


def test_a_grid_over_three_rules_has_three_rows() -> None:
    runs = invented(scattered, strategy=["-"], aggregator=["median", "krum", "mean"])
    found = form(runs)
    cells = found.scores("accuracy")
    block = found.block("", cells, found.labels(cells), lambda row: None)  # type: ignore[arg-type]
    assert list(block.rows) == ["Mean", "CWMed", "Krum"]


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        ("seed", ("alpha", "byzantine", "attack"), "allowed: one field or two"),
        ("alpha", ("alpha",), "allowed: each field once"),
        (None, ("attack", "attack"), "allowed: each field once"),
    ],
)
def test_what_makes_no_table_is_refused(rows: str, columns: tuple[str, ...], said: str) -> None:
    with pytest.raises(CannotArrange, match=said):
        arranged(invented(scattered), rows, columns)
    with pytest.raises(UnknownAxis):
        arranged(invented(scattered), "agregator")


def test_what_is_averaged_over_is_counted() -> None:
    runs = invented(scattered)
    assert form(runs).averaged_over() == "averaged over 2 aggregators, 3 attacks"
    assert form(runs).averaged_over("attack") == "averaged over 2 aggregators"
    wide = form(runs, "aggregator", "attack").averaged_over()
    assert wide == "averaged over 4 strategies, 2 values of alpha, 2 values of f"
    assert form(invented(scattered, **ONE)).averaged_over() == ""


def test_a_place_that_no_axis_names_is_in_the_title() -> None:
    runs = invented(scattered, strategy=["NNM"], alpha=[1.0], byzantine=[4])
    assert form(runs).title("accuracy") == "digits: accuracy, alpha = 1, f = 4, NNM"


def test_rows_over_different_things_are_told() -> None:
    rules = ["multi-krum", "krum", "multi-krum(power=1)"]
    found = form(invented(scattered, strategy=["-"], aggregator=rules), "power")
    assert found.averaged_over() == "averaged over 1 to 2 aggregators, 3 attacks"
    assert found.uneven_rows() == [
        "rows are over different values of aggregator; 2: Krum, MKrum; 1: MKrum(power=1)"
    ]
    assert form(invented(scattered)).uneven_rows() == []


def swept(*batches: int) -> Runs:
    """Runs that differ in their batch, each batch a setting."""
    tables = [
        invented(scattered, seed=[1, 2], setting=f"batch {n}").table.with_columns(
            batch=pl.lit(n, pl.Int64), accuracy=pl.col("accuracy") * 0 + n
        )
        for n in batches
    ]
    return Runs(pl.concat(tables), tables[0].clear(), (), ())


def test_a_field_of_the_setting_can_be_an_axis_and_is_then_no_setting() -> None:
    assert len(arranged(swept(16, 32))) == 2
    found = form(swept(16, 32), "batch", "attack")
    assert found.section.setting == ""
    cells = found.scores("accuracy")
    assert set(cells.select("batch", "mean").iter_rows()) == {(16, 16.0), (32, 32.0)}
    assert cells["complete"].all()


def test_settings_can_be_rows() -> None:
    cells = form(swept(16, 32), "setting", "attack").scores("accuracy")
    assert dict(cells.select("setting", "mean").unique().iter_rows()) == {
        "batch 16": 16.0,
        "batch 32": 32.0,
    }


def test_a_mean_has_all_its_runs_on_any_axis() -> None:
    def lost(place: Place) -> bool:
        return (place["strategy"], place["seed"]) == ("NNM", 2)

    found = form(invented(scattered, failed=lost), "attack", "aggregator")
    cells = found.scores("accuracy")
    assert cells["mean"].null_count() == len(cells) == 6
    assert set(cells["expected"]) == {4 * 2 * 2 * 3}
    assert set(cells["runs"]) == {4 * 2 * 2 * 3 - 4}
    partial = replace(found, section=replace(found.section, partial=True)).scores("accuracy")
    assert partial["mean"].null_count() == 0


def test_what_nobody_chooses_has_no_first() -> None:
    runs = invented(scattered)
    assert not form(runs, "attack", "aggregator").ranked
    assert form(runs, "aggregator", "attack").ranked
