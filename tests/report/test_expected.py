"""Which runs belong to a table, against plain products."""

from dataclasses import replace
from itertools import product

import polars as pl

from tests.report.invented import AXIS_VALUES, invented, scattered
from wola.report.expected import expected_runs
from wola.report.runs import Runs

AXES = ("alpha", "byzantine", "strategy", "aggregator", "attack", "seed")


def combinations(table: pl.DataFrame, *names: str) -> set[tuple[object, ...]]:
    return set(table.select(*AXES, *names).iter_rows())


def test_every_combination_of_the_values_seen_is_expected_once() -> None:
    runs = invented(scattered, keep=lambda place: place["seed"] != 3 or place["attack"] == "sf")
    found = expected_runs(runs)
    assert combinations(found) == set(product(*(AXIS_VALUES[axis] for axis in AXES)))
    assert len(found) == len(found.unique())


def test_what_failed_is_expected_as_what_was_done() -> None:
    runs = invented(scattered, failed=lambda place: place["seed"] == 3)
    assert set(expected_runs(runs)["seed"]) == {1, 2, 3}


def test_a_free_field_is_combined_with_all_else() -> None:
    small, large = (
        invented(scattered, seed=[1]).table.with_columns(batch=pl.lit(n, pl.Int64))
        for n in (16, 32)
    )
    kept = large.filter(pl.col("strategy") != "WoLA")
    runs = Runs(pl.concat([small, kept]), small.clear(), (), ())
    found = expected_runs(runs, ["batch"])
    axes = [*(AXIS_VALUES[axis] for axis in AXES[:-1]), [1], [16, 32]]
    assert combinations(found, "batch") == set(product(*axes))


def test_what_a_strategy_sets_is_expected_of_it_alone() -> None:
    runs = invented(
        scattered,
        keep=lambda p: (p["strategy"] == "NNM") == (p["aggregator"] == "krum"),
        aggregator=["median", "krum"],
    )
    fixed = replace(runs, strategies={"NNM": {"aggregator": "krum"}})
    found = expected_runs(fixed).select("strategy", "aggregator").unique()
    assert set(found.iter_rows()) == {
        ("-", "median"),
        ("NNM", "krum"),
        ("WoLA", "median"),
        ("WoLA+NNM", "median"),
    }


def test_a_loss_is_set_by_every_strategy() -> None:
    found = expected_runs(invented(scattered), ["loss"]).select("strategy", "loss").unique()
    assert dict(found.iter_rows()) == {
        "-": "cross-entropy",
        "NNM": "cross-entropy",
        "WoLA": "wola",
        "WoLA+NNM": "wola",
    }


def test_datasets_and_settings_are_combined_only_where_they_are_free() -> None:
    one = invented(scattered, dataset=["digits"], attack=["alie"])
    two = invented(scattered, dataset=["iris"], attack=["sf"])
    runs = Runs(pl.concat([one.table, two.table]), one.failed, (), ())
    apart = expected_runs(runs).select("dataset", "attack").unique()
    assert set(apart.iter_rows()) == {("digits", "alie"), ("iris", "sf")}
    joined = expected_runs(runs, ["dataset"]).select("dataset", "attack").unique()
    assert set(joined.iter_rows()) == set(product(("digits", "iris"), ("alie", "sf")))
