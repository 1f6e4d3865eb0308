"""The numbers of the tables, against plain Python written from the definitions."""

from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.report.invented import AXIS_VALUES, Place, invented, scattered
from wola.report.comparison.paper_numbers import paper_numbers
from wola.report.runs import Runs
from wola.report.scores import COLUMN_AXES, gains, ranked, scores

RULES, ATTACKS, SEEDS = (AXIS_VALUES[name] for name in ("aggregator", "attack", "seed"))
CELLS = len(AXIS_VALUES["alpha"]) * len(AXIS_VALUES["byzantine"]) * len(AXIS_VALUES["strategy"])


def of(cell: Place, aggregator: str, attack: str, seed: int) -> float:
    place = {name: cell[name] for name in ("dataset", "alpha", "byzantine", "strategy")}
    return scattered({**place, "aggregator": aggregator, "attack": attack, "seed": seed})


def rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return list(frame.iter_rows(named=True))


def one(frame: pl.DataFrame, **values: Any) -> dict[str, Any]:
    found = rows(frame.filter(**values))
    assert len(found) == 1
    return found[0]


def test_a_global_score_is_the_mean_within_seeds_and_then_over_them() -> None:
    found = rows(scores(invented(scattered)))
    assert len(found) == CELLS
    for cell in found:
        by_seed = [fmean(of(cell, g, t, s) for g in RULES for t in ATTACKS) for s in SEEDS]
        assert cell["mean"] == pytest.approx(fmean(by_seed), rel=1e-12)
        assert cell["sd"] == pytest.approx(stdev(by_seed), rel=1e-12)
        assert (cell["seeds"], cell["runs"], cell["expected"], cell["complete"]) == (
            3,
            18,
            18,
            True,
        )


@pytest.mark.parametrize("metric", ["accuracy", "dissimilarity"])
def test_the_worst_attack_is_chosen_for_each_aggregator_by_its_mean_over_seeds(metric: Any) -> None:
    pick, scale = (min, 1) if metric == "accuracy" else (max, 100)
    for cell in rows(scores(invented(scattered), metric=metric, summary="worst")):
        worst = {
            g: pick(ATTACKS, key=lambda t: fmean(of(cell, g, t, s) for s in SEEDS)) for g in RULES
        }
        by_seed = [fmean(of(cell, g, t, s) / scale for g, t in worst.items()) for s in SEEDS]
        assert cell["mean"] == pytest.approx(fmean(by_seed), rel=1e-12)
        assert cell["sd"] == pytest.approx(stdev(by_seed), rel=1e-12)
        assert cell["runs"] == 18


def test_the_worst_attack_is_one_attack_and_not_the_lowest_of_every_seed() -> None:
    by_attack = {"alie": [10.0, 50.0], "sf": [40.0, 21.0]}
    runs = invented(
        lambda place: by_attack[place["attack"]][place["seed"] - 1],
        attack=["alie", "sf"],
        seed=[1, 2],
    )
    assert set(scores(runs, summary="worst")["mean"]) == {30.0}


def lacking(place: Place) -> bool:
    """One run of one cell."""
    cell = (place["alpha"], place["byzantine"], place["strategy"])
    run = (place["aggregator"], place["attack"], place["seed"])
    return cell == (0.3, 6, "NNM") and run == ("median", "sf", 2)


WHERE = {"alpha": 0.3, "byzantine": 6, "strategy": "NNM"}


@pytest.mark.parametrize(
    "runs",
    [
        invented(scattered, keep=lambda place: not lacking(place)),
        invented(scattered, failed=lacking),
        invented(lambda place: None if lacking(place) else scattered(place)),
    ],
    ids=["missing", "failed", "without a number"],
)
def test_a_cell_that_lacks_a_run_has_a_count_and_no_number(runs: Runs) -> None:
    found = scores(runs)
    cell = one(found, **WHERE)
    assert (cell["mean"], cell["sd"]) == (None, None)
    assert (cell["runs"], cell["expected"], cell["complete"]) == (17, 18, False)
    assert len(found.filter("complete")) == CELLS - 1
    there = one(scores(runs, partial=True), **WHERE)
    by_seed = [
        fmean(
            of(cell, g, t, s)
            for g in RULES
            for t in ATTACKS
            if not lacking({**cell, "aggregator": g, "attack": t, "seed": s})
        )
        for s in SEEDS
    ]
    assert there["mean"] == pytest.approx(fmean(by_seed), rel=1e-12)
    assert not there["complete"]


def test_a_cell_nobody_has_run_is_listed_with_none_of_its_runs() -> None:
    runs = invented(scattered, keep=lambda place: (place["alpha"], place["byzantine"]) != (3.0, 6))
    cell = one(scores(runs, partial=True), alpha=3.0, byzantine=6, strategy="-")
    assert (cell["mean"], cell["runs"], cell["expected"], cell["seeds"]) == (None, 0, 18, 0)


def test_runs_that_all_failed_leave_counts_alone() -> None:
    found = scores(invented(scattered, failed=lambda place: True))
    assert len(found) == CELLS
    assert found["mean"].null_count() == CELLS
    assert set(found["expected"]) == {18}


def test_runs_without_byzantine_workers_expect_only_their_own_attacks() -> None:
    quiet = invented(
        scattered, byzantine=[0], aggregator=["mean"], attack=["none"], strategy=["-", "WoLA"]
    )
    loud = invented(scattered)
    both = Runs(pl.concat([quiet.table, loud.table]), loud.failed, (), ())
    expected = scores(both).group_by("byzantine").agg(pl.col("expected").unique())
    assert dict(expected.iter_rows()) == {0: [3], 2: [18], 6: [18]}
    assert scores(both)["complete"].all()


def test_settings_never_share_a_number() -> None:
    usual, other = invented(lambda place: 50.0), invented(lambda place: 70.0, setting="batch 8")
    both = Runs(pl.concat([usual.table, other.table]), usual.failed, (), ())
    means = scores(both).group_by("setting").agg(pl.col("mean").unique())
    assert dict(means.iter_rows()) == {"": [50.0], "batch 8": [70.0]}


def test_a_single_seed_has_no_spread() -> None:
    found = scores(invented(scattered, seed=[1]))
    assert found["sd"].null_count() == CELLS
    assert found["complete"].all()


def test_cells_can_be_told_apart_by_aggregator_and_attack() -> None:
    found = scores(invented(scattered), by=("aggregator", "attack"))
    assert len(found) == CELLS * 6
    for cell in rows(found):
        by_seed = [of(cell, cell["aggregator"], cell["attack"], s) for s in SEEDS]
        assert cell["mean"] == pytest.approx(fmean(by_seed), rel=1e-12)
        assert cell["expected"] == 3


def test_known_sizes_count_instead_of_those_seen() -> None:
    found = scores(invented(scattered), sizes={"aggregator": 4, "attack": 5})
    assert set(found["expected"]) == {60}
    assert not found["complete"].any()


def test_strategies_come_in_the_order_of_the_paper_and_alphas_from_weak_to_strong_skew() -> None:
    found = scores(invented(scattered))
    assert found["strategy"].unique(maintain_order=True).to_list() == AXIS_VALUES["strategy"]
    assert found["alpha"].unique(maintain_order=True).to_list() == [3.0, 0.3]


def test_a_gain_is_over_the_best_strategy_without_wola() -> None:
    cells = scores(invented(scattered))
    means = {(r["alpha"], r["byzantine"], r["strategy"]): r["mean"] for r in rows(cells)}
    found = rows(gains(cells))
    assert len(found) == CELLS / 2
    for cell in found:
        column = (cell["alpha"], cell["byzantine"])
        best = max(("-", "NNM"), key=lambda name: means[*column, name])
        assert cell["over"] == best
        expected = means[*column, cell["strategy"]] - means[*column, best]
        assert cell["gain"] == pytest.approx(expected, rel=1e-12)
        assert (cell["runs"], cell["expected"]) == (54, 54)


def test_there_is_no_gain_over_a_baseline_that_is_not_complete() -> None:
    runs = invented(scattered, failed=lacking)
    found = gains(scores(runs)).filter(alpha=0.3, byzantine=6)
    assert found["gain"].null_count() == len(found) == 2
    assert found["over"].null_count() == 2
    assert set(found["runs"]) == {53}
    partial = gains(scores(runs, partial=True)).filter(alpha=0.3, byzantine=6)
    assert partial["gain"].null_count() == 0
    assert not partial["complete"].any()


@pytest.mark.parametrize(("option", "value"), [("metric", "accurcy"), ("summary", "worst-case")])
def test_unknown_names_are_refused(option: str, value: str) -> None:
    with pytest.raises(ValueError, match=rf"{option} = '{value}'; allowed: "):
        scores(invented(scattered, seed=[1]), **{option: value})  # type: ignore[arg-type]


def column(means: Sequence[float | None], complete: bool = True) -> pl.DataFrame:
    same = dict.fromkeys(COLUMN_AXES, 1)
    return pl.DataFrame({"mean": means}, schema={"mean": pl.Float64}).with_columns(
        **{name: pl.lit(value) for name, value in same.items()}, complete=pl.lit(complete)
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 40).map(lambda n: 70 + n / 100), min_size=1, max_size=9))
def test_ranks_count_the_different_printed_numbers_above(means: list[float]) -> None:
    shown = [f"{mean:.1f}" for mean in means]
    expected = [1 + len({o for o in shown if float(o) > float(own)}) for own in shown]
    assert ranked(column(means))["rank"].to_list() == expected


@settings(max_examples=40, deadline=None)
@given(st.permutations([70.0, 70.04, 69.96, 71.0, 12.0, None]))
def test_ranks_follow_the_numbers_when_rows_change_places(means: list[float | None]) -> None:
    places = {70.0: 2, 70.04: 2, 69.96: 2, 71.0: 1, 12.0: 3, None: None}
    assert ranked(column(means))["rank"].to_list() == [places[mean] for mean in means]


def test_partial_means_have_no_rank() -> None:
    assert ranked(column([1.0, 2.0], complete=False))["rank"].to_list() == [None, None]


def test_ranks_are_the_colours_of_the_paper() -> None:
    printed = paper_numbers().with_columns(setting=pl.lit(""), complete=pl.lit(True))
    accuracy = printed.filter(metric="accuracy", dataset="fashion-mnist", summary="global")
    found = ranked(accuracy).filter(alpha=3.0, byzantine=2)
    assert dict(found.select("strategy", "rank").iter_rows()) == {
        "-": 4,
        "BKT": 5,
        "FoundFL": 6,
        "NNM": 3,
        "WoLA": 1,
        "WoLA+NNM": 1,
        "WoLA-dagger": 2,
        "WoLA-dagger+NNM": 2,
    }
    dissimilarity = printed.filter(metric="dissimilarity", dataset="mnist")
    found = ranked(dissimilarity, metric="dissimilarity").filter(alpha=0.3, byzantine=8)
    first = found.filter(pl.col("rank") <= 3).sort("rank")["strategy"].to_list()
    assert first == ["WoLA+NNM", "WoLA-dagger+NNM", "WoLA"]
