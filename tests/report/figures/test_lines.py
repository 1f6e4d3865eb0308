"""The figures made of lines show the means of the runs they are about, and no others."""

from pathlib import Path

import polars as pl
import pytest

from tests.report.figures.made_up import (
    BASE,
    SETTING,
    bands,
    keep,
    lines,
    made_up,
    panels,
    words,
)
from wola.bench.store import Store
from wola.ground.tables import sealed_table
from wola.report.figure_style import Paper
from wola.report.figures.breaking_point import breaking_point_figure
from wola.report.figures.iris import iris_figure
from wola.report.figures.selection import CannotDraw
from wola.report.figures.training import by_attack, training_figure
from wola.report.figures.without_attackers import without_attackers_cases, without_attackers_figure
from wola.report.runs import read_runs
from wola.training import Scenario

PLACE = {"dataset": "iris", "setting": SETTING, "alpha": 0.3, "byzantine": 1, "attack": "alie"}
RULES = ["median", "trimmed-mean"]
DEFENCES = {"strategy": ["NNM", "WoLA"], "aggregator": ["geometric-median", "median"]}


def _accuracy(run: Scenario) -> float:
    return (
        40.0
        + 10 * (run.strategy == "WoLA")
        + 20 * (run.aggregator == "geometric-median")
        + run.seed
    )


def test_a_training_curve_is_the_mean_over_seeds_at_the_tested_steps(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {**DEFENCES, "attack": ["alie"], "seed": [1, 3]}, _accuracy)
    figure = training_figure(runs, **PLACE)
    median, gm, median_below, _ = panels(figure)
    assert [median.get_title(), gm.get_title()] == ["CWMed", "GM"]
    assert lines(median)["NNM"] == ([2, 4], [21.0, 42.0])
    assert lines(median)["WoLA"] == ([2, 4], [26.0, 52.0])
    assert lines(gm)["WoLA"] == ([2, 4], [36.0, 72.0])
    assert lines(median_below)["WoLA"] == ([1, 2, 3, 4], [3.0, 4.0, 5.0, 6.0])
    assert "mean of 2 seeds, band from the lowest to the highest" in words(figure)
    assert "left out" not in words(figure)


def test_a_band_reaches_from_the_lowest_seed_to_the_highest(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {**DEFENCES, "attack": ["alie"], "seed": [1, 2, 4]}, _accuracy)
    median, _, below, _ = panels(training_figure(runs, **PLACE))
    # NNM with the median is at 40 + seed at the end and at half of that before; WoLA 10 higher.
    assert bands(median) == [(20.5, 44.0), (25.5, 54.0)]
    # Step + seed: from 1 + 1 to 4 + 4.
    assert bands(below) == [(2.0, 8.0)] * 2


def test_one_seed_is_a_line_without_a_band(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {**DEFENCES, "attack": ["alie"], "seed": [2]}, _accuracy)
    figure = training_figure(runs, **PLACE)
    for panel in panels(figure):
        assert len(lines(panel)) == 2
        assert bands(panel) == []
    assert words(figure).endswith(": 1 seed")


def test_rules_stand_below_each_other_where_a_paper_has_no_room(tmp_path: Path) -> None:
    rules = ["median", "trimmed-mean", "geometric-median"]
    runs = made_up(tmp_path, {"aggregator": rules, "attack": ["alie"]}, _accuracy)
    across = training_figure(runs, **PLACE, style=Paper(width=6.9)).axes[0]
    below = training_figure(runs, **PLACE, style=Paper()).axes[0]
    assert across.get_subplotspec().get_gridspec().get_geometry() == (2, 3)
    assert below.get_subplotspec().get_gridspec().get_geometry() == (3, 2)
    assert below.get_title() == "test accuracy (%)"
    assert below.get_ylabel() == "CWMed"


def test_a_curve_that_lacks_a_seed_is_left_out_and_named(tmp_path: Path) -> None:
    def accuracy(run: Scenario) -> float | None:
        missing = (run.strategy, run.aggregator, run.seed) == ("WoLA", "geometric-median", 3)
        return None if missing else _accuracy(run)

    runs = made_up(tmp_path, {**DEFENCES, "attack": ["alie"], "seed": [1, 3]}, accuracy)
    figure = training_figure(runs, **PLACE)
    median, gm, *_ = panels(figure)
    assert set(lines(median)) == {"NNM", "WoLA"}
    assert set(lines(gm)) == {"NNM"}
    assert "left out as incomplete: WoLA GM (1 of 2 runs)" in words(figure)


def test_a_curve_stops_where_one_of_its_runs_ended(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    for seed, steps in ((1, 4), (2, 3)):
        scenario = Scenario.paper(strategy="WoLA", seed=seed, alpha=0.3, attack="alie", **BASE)
        keep(store, scenario, 50.0, steps=steps)
    figure = training_figure(read_runs(store), **PLACE)
    above, below = panels(figure)
    assert lines(above)["WoLA"] == ([2], [25.0])
    assert lines(below)["WoLA"][0] == [1, 2, 3]
    assert "1 run of 2 ended early" in words(figure)


def test_strategies_with_the_same_runs_share_a_line(tmp_path: Path) -> None:
    axes = {"strategy": ["-", "BKT", "NNM"], "aggregator": ["median"], "attack": ["alie"]}
    runs = made_up(tmp_path, {**axes, "byzantine": [1]}, _accuracy)
    assert set(lines(panels(training_figure(runs, **PLACE))[0])) == {"- and BKT", "NNM"}


def test_training_is_drawn_for_every_attack_at_its_hardest_place(tmp_path: Path) -> None:
    axes = {"alpha": [3.0, 0.3], "workers": [17], "byzantine": [2, 6, 8], "attack": ["lf", "alie"]}
    runs = made_up(tmp_path, axes, lambda run: 50.0 if run.alpha > 1 or run.byzantine < 8 else None)
    found = [(case["attack"], case["alpha"], case["byzantine"]) for case in by_attack(runs)]
    assert found == [("alie", 0.3, 6), ("lf", 0.3, 6)]


def test_no_run_of_a_place_is_said_to_be_so(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {"attack": ["alie"]}, _accuracy)
    with pytest.raises(CannotDraw, match="no runs with alpha 7"):
        training_figure(runs, **{**PLACE, "alpha": 7.0})


def test_metrics_that_cannot_be_read_are_a_reason(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {"attack": ["alie"]}, _accuracy)
    for path in (tmp_path / "store").glob("runs/*/*/metrics.parquet"):
        path.write_bytes(b"none")
    with pytest.raises(CannotDraw, match="metrics of a run cannot be read"):
        training_figure(runs, **PLACE)


def test_without_attackers_has_a_panel_for_each_dataset_and_alpha(tmp_path: Path) -> None:
    axes = {
        "dataset": ["iris", "digits"],
        "alpha": [0.3, 3.0],
        "byzantine": [0],
        "aggregator": ["mean"],
        "attack": ["none"],
        "strategy": ["WoLA", "-"],
        "seed": [1, 2],
        "steps": [4],
        "workers": [17],
        "evaluate_every": [10],
    }
    runs = made_up(tmp_path, axes, lambda run: run.alpha + run.seed + (run.dataset == "iris"))
    (case,) = without_attackers_cases(runs)
    figure = without_attackers_figure(runs, **case)
    first, second, third, fourth = panels(figure)
    assert first.get_title() == "digits, alpha = 3"
    assert fourth.get_title() == "iris, alpha = 0.3"
    assert lines(first)["WoLA"] == ([2, 4], [2.25, 4.5])
    assert bands(first) == [(2.0, 5.0)] * 2
    assert lines(third)["- (rule alone)"] == ([2, 4], [2.75, 5.5])
    assert lines(second)["WoLA"][1][1] == pytest.approx(1.8)
    assert first.get_ylim() == second.get_ylim()
    assert third.get_ylim() == fourth.get_ylim() != first.get_ylim()
    # All of it is filled: from the lowest band, (0.3 + 1) / 2, to the highest, 3 + 2.
    low, high = first.get_ylim()
    assert 0.3 < low < 0.65
    assert 5 < high < 5.4


def test_without_attackers_leaves_no_hole_for_an_alpha_that_a_dataset_lacks(
    tmp_path: Path,
) -> None:
    axes = {
        "dataset": ["iris", "digits"],
        "alpha": [0.3, 1.0, 3.0],
        "byzantine": [0],
        "aggregator": ["mean"],
        "attack": ["none"],
        "strategy": ["WoLA"],
        "workers": [17],
        "evaluate_every": [10],
    }
    runs = made_up(tmp_path, axes, lambda run: 50.0)
    some = runs.filtered((pl.col("dataset") == "iris") | (pl.col("alpha") == 3.0))
    shown = [axes.get_title() for axes in panels(without_attackers_figure(some, setting="steps 4"))]
    assert shown == ["digits, alpha = 3", *(f"iris, alpha = {a}" for a in ("3", "1", "0.3"))]


def test_a_dataset_that_lacks_runs_is_left_out_and_named(tmp_path: Path) -> None:
    axes = {
        "dataset": ["iris", "digits"],
        "byzantine": [0],
        "aggregator": ["mean"],
        "attack": ["none"],
        "strategy": ["WoLA", "-"],
        "seed": [1, 2],
        "workers": [17],
        "evaluate_every": [10],
    }

    def accuracy(run: Scenario) -> float | None:
        gone = run.dataset == "digits" and (run.strategy == "WoLA") == (run.seed == 1)
        return None if gone else 50.0

    runs = made_up(tmp_path, axes, accuracy)
    figure = without_attackers_figure(runs, setting="steps 4")
    assert [axes.get_title() for axes in panels(figure)] == ["iris, alpha = 0.3"]
    assert "digits: no cell has all its runs" in words(figure)
    with pytest.raises(CannotDraw, match="digits: no cell has all its runs"):
        without_attackers_figure(runs.where(dataset=["digits"]), setting="steps 4")


def _by_f(run: Scenario) -> float:
    drop = 5.0 * run.byzantine * (2 if run.attack == "lf" else 1)
    return 90.0 - drop + 3 * run.seed + 6 * (run.aggregator == "trimmed-mean")


FS = {"workers": [17], "byzantine": [2, 4, 6], "attack": ["alie", "lf"], "seed": [1, 3]}


def test_the_breaking_point_shows_mean_worst_and_band_against_f(tmp_path: Path) -> None:
    axes = {**FS, "strategy": ["NNM"], "aggregator": RULES}
    runs = made_up(tmp_path, axes, _by_f)
    setting = "steps 4, evaluate_every 2"
    figure = breaking_point_figure(runs, dataset="iris", setting=setting)
    above, below = panels(figure)
    # 90 + 3 (seed 1) or 9 (seed 3) + 3 (half of the rules), minus 7.5 f or, at worst, 10 f.
    assert lines(above)["NNM"] == ([2, 4, 6], [84.0, 69.0, 54.0])
    assert lines(below)["NNM"] == ([2, 4, 6], [79.0, 59.0, 39.0])
    assert bands(above) == [(51.0, 87.0)]


def test_the_breaking_point_has_a_gap_where_runs_are_missing(tmp_path: Path) -> None:
    def accuracy(run: Scenario) -> float | None:
        gone = (run.strategy, run.byzantine, run.attack, run.seed) == ("WoLA", 4, "lf", 3)
        return None if gone else _by_f(run)

    runs = made_up(tmp_path, {**FS, "strategy": ["WoLA", "NNM"]}, accuracy)
    figure = breaking_point_figure(runs, dataset="iris", setting="steps 4, evaluate_every 2")
    first, middle, last = lines(panels(figure)[0])["WoLA"][1]
    assert middle != middle
    assert (first, last) == (81.0, 51.0)
    assert "WoLA alpha 0.3 f = 4 (3 of 4 runs)" in words(figure)


def test_one_f_has_no_breaking_point(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {"strategy": ["WoLA"]}, _accuracy)
    with pytest.raises(CannotDraw, match="needs two values of f; only f = 1 has all its runs"):
        breaking_point_figure(runs, dataset="iris", setting=SETTING)


def test_iris_shows_cosines_loss_and_accuracy_as_the_store_has_them(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    (store.path / "figures").mkdir()
    numbers = pl.DataFrame(
        {
            "step": [0, 1],
            "loss": [1.0, 0.5],
            "accuracy": [30.0, 90.0],
            "cosine_setosa_versicolor": [0.25, None],
        }
    )
    (store.path / "figures" / "iris.parquet").write_bytes(sealed_table(numbers))
    cosine, loss, accuracy = iris_figure(read_runs(store)).axes
    x, y = lines(cosine)["setosa and versicolor"]
    assert x == [0, 1]
    assert y[0] == 0.25
    for axes, label, numbers in (
        (loss, "training loss", [1.0, 0.5]),
        (accuracy, "test accuracy (%)", [30.0, 90.0]),
    ):
        (line,) = axes.get_lines()
        assert axes.get_ylabel() == label
        assert list(line.get_ydata()) == numbers
        # The lines fill their frame: a twentieth is left at either end.
        low, high = axes.get_ylim()
        assert (max(numbers) - min(numbers)) / (high - low) == pytest.approx(1 / 1.1)


def test_numbers_of_iris_that_cannot_be_read_are_a_reason(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    (store.path / "figures").mkdir()
    (store.path / "figures" / "iris.parquet").write_bytes(b"none")
    with pytest.raises(CannotDraw, match=r"iris\.parquet cannot be read"):
        iris_figure(read_runs(store))


def test_iris_without_its_numbers_says_which_command_makes_them(tmp_path: Path) -> None:
    with pytest.raises(CannotDraw, match="wola bench paper/iris"):
        iris_figure(read_runs(Store.open(tmp_path / "store")))
