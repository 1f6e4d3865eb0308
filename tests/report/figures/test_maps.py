"""Box plots and maps show the numbers of the runs, and tell honest workers from Byzantine ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from numpy.testing import assert_allclose

from tests.report.figures.made_up import BASE, SETTING, keep, made_up, panels, words
from wola.bench.store import Store
from wola.report.figure_style import SCREEN, Paper
from wola.report.figures.classes import by_place, classes_figure
from wola.report.figures.gains import gains_figure
from wola.report.figures.heatmaps import heatmaps_cases, heatmaps_figure
from wola.report.figures.label_counts import label_counts_cases, label_counts_figure
from wola.report.figures.selection import CannotDraw, places
from wola.report.figures.weights import weights_figure
from wola.report.runs import read_runs
from wola.training import Scenario

PLACE = {"dataset": "iris", "setting": SETTING, "alpha": 0.3, "byzantine": 1}


def _image(axes: Axes, number: int = 0) -> Any:
    return np.ma.filled(np.ma.asarray(axes.get_images()[number].get_array(), float), np.nan)


def _texts(axes: Axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def _dots(axes: Axes) -> list[float]:
    """The heights of all single gains."""
    shaped = (line for line in axes.get_lines() if line.get_marker() in ("o", "^", "s", "D", "v"))
    return sorted(float(y) for line in shaped for y in line.get_ydata())


def _gainful(run: Scenario) -> float:
    by_strategy = {"-": 50.0, "NNM": 60.0, "WoLA": 70.0, "WoLA+NNM": 65.0}
    worse = 20.0 if run.attack == "lf" and run.strategy == "NNM" else 0.0
    return by_strategy[str(run.strategy)] - worse + run.alpha * run.byzantine


GAINFUL = {
    "strategy": ["-", "NNM", "WoLA", "WoLA+NNM"],
    "attack": ["alie", "lf"],
    "alpha": [3.0, 1.0, 0.3],
}


def test_gains_are_over_the_best_strategy_without_wola(tmp_path: Path) -> None:
    runs = made_up(tmp_path, GAINFUL, _gainful)
    # NNM is at 60 under ALIE and 40 under LF: 50 on average, as the rule alone; at worst 40.
    (overall,) = gains_figure(runs, setting=SETTING).axes
    assert_allclose(_dots(overall), [15.0] * 3 + [20.0] * 3)
    (worst,) = gains_figure(runs, setting=SETTING, summary="worst").axes
    assert_allclose(_dots(worst), [15.0] * 3 + [20.0] * 3)
    assert [t.get_text() for t in overall.get_xticklabels()] == ["f = 1"]


def _gain_by_alpha(run: Scenario) -> float:
    gained = {10.0: 0.0, 3.0: 1.0, 1.0: 2.0, 0.3: 5.0, 0.1: 6.0}[run.alpha]
    return 50.0 + gained * (run.strategy == "WoLA")


def _boxes(axes: Axes) -> list[PathPatch]:
    return [patch for patch in axes.patches if isinstance(patch, PathPatch)]


def test_five_gains_have_a_box_from_quartile_to_quartile(tmp_path: Path) -> None:
    axes = {"strategy": ["NNM", "WoLA"], "alpha": [10.0, 3.0, 1.0, 0.3, 0.1]}
    figure = gains_figure(made_up(tmp_path, axes, _gain_by_alpha), setting=SETTING)
    (panel,) = figure.axes
    (box,) = _boxes(panel)
    heights = box.get_path().vertices[:, 1]
    assert (heights.min(), heights.max()) == (1.0, 5.0)
    assert _dots(panel) == [0.0, 1.0, 2.0, 5.0, 6.0]
    assert "a box of 5 gains" in words(figure)


def test_four_gains_are_dots_without_a_box(tmp_path: Path) -> None:
    axes = {"strategy": ["NNM", "WoLA"], "alpha": [3.0, 1.0, 0.3, 0.1]}
    figure = gains_figure(made_up(tmp_path, axes, _gain_by_alpha), setting=SETTING)
    (panel,) = figure.axes
    assert _boxes(panel) == []
    assert _dots(panel) == [1.0, 2.0, 5.0, 6.0]
    assert "box" not in words(figure)


def test_gains_that_lack_runs_are_counted_and_not_drawn(tmp_path: Path) -> None:
    def accuracy(run: Scenario) -> float | None:
        gone = (run.strategy, run.alpha, run.attack) == ("NNM", 1.0, "lf")
        return None if gone else _gainful(run)

    figure = gains_figure(made_up(tmp_path, GAINFUL, accuracy), setting=SETTING)
    assert len(_dots(figure.axes[0])) == 4
    assert "left out as incomplete: 2 of 6 gains" in words(figure)


def test_there_is_no_gain_without_another_strategy(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {"strategy": ["WoLA"]}, lambda run: 50.0)
    with pytest.raises(CannotDraw, match="with WoLA and without it"):
        gains_figure(runs, setting=SETTING)


SWEEP = {
    "alpha": [3.0, 0.3],
    "batch": [8, 16],
    "beta": [0.0, 0.9],
    "strategy": ["WoLA", "NNM"],
    "seed": [1, 2],
}


def _swept(run: Scenario) -> float:
    return run.batch + 10 * run.beta + run.seed + 20 * (run.strategy == "WoLA") * run.alpha


def test_heat_maps_show_both_strategies_and_their_difference(tmp_path: Path) -> None:
    runs = made_up(tmp_path, SWEEP, _swept)
    (case,) = heatmaps_cases(runs)
    assert case["rest"] == SETTING
    figure = heatmaps_figure(runs, **case)
    wola, nnm, difference, *low_alpha = panels(figure)
    # Rows from the largest batch, columns from the smallest momentum; seeds add 1.5 on average.
    assert_allclose(_image(nnm), [[17.5, 26.5], [9.5, 18.5]])
    assert_allclose(_image(wola), [[77.5, 86.5], [69.5, 78.5]])
    assert_allclose(_image(difference), np.full((2, 2), 60.0))
    assert_allclose(_image(low_alpha[2]), np.full((2, 2), 6.0))
    assert _texts(difference) == ["+60.0"] * 4
    # One scale for all accuracies, whatever their alpha, and one for all differences.
    for shown in (wola, nnm, *low_alpha[:2]):
        assert shown.get_images()[0].get_clim() == (9.5, 86.5)
    for shown in (difference, low_alpha[2]):
        assert shown.get_images()[0].get_clim() == (-60.0, 60.0)
    assert len(figure.axes) - len(panels(figure)) == 2


def test_a_difference_that_rounds_to_nothing_has_no_sign(tmp_path: Path) -> None:
    def accuracy(run: Scenario) -> float:
        return 50.0 - 0.01 * (run.strategy == "WoLA") * (1 if run.batch == 8 else -1)

    runs = made_up(tmp_path, SWEEP, accuracy)
    for style in (SCREEN, Paper()):
        figure = heatmaps_figure(runs, **heatmaps_cases(runs)[0], style=style)
        assert set(_texts(panels(figure)[2])) == {"0.0" if style is SCREEN else "0"}


def test_a_cell_of_a_heat_map_without_all_seeds_says_how_many(tmp_path: Path) -> None:
    def accuracy(run: Scenario) -> float | None:
        gone = (run.strategy, run.batch, run.beta, run.alpha, run.seed) == ("NNM", 8, 0.9, 3.0, 2)
        return None if gone else _swept(run)

    runs = made_up(tmp_path, SWEEP, accuracy)
    figure = heatmaps_figure(runs, **heatmaps_cases(runs)[0])
    _, nnm, difference, *_ = panels(figure)
    assert np.isnan(_image(nnm)[1, 1])
    assert np.isnan(_image(difference)[1, 1])
    assert "1/2" in _texts(nnm)
    assert "1 of 16 cells lack runs" in words(figure)


def test_the_runs_of_a_heat_map_are_no_place_for_other_figures(tmp_path: Path) -> None:
    runs = made_up(tmp_path, SWEEP, _swept)
    assert places(runs) == []


def test_label_counts_stand_as_the_runs_have_them_with_attackers_marked(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {"alpha": [3.0, 0.3], "seed": [2, 5]}, lambda run: 50.0)
    (case,) = label_counts_cases(runs)
    assert (case["byzantine"], case["seed"]) == (1, 2)
    figure = label_counts_figure(runs, **case)
    first, second = panels(figure)
    assert (first.get_title(), second.get_title()) == ("alpha = 3", "alpha = 0.3")
    assert_allclose(_image(first), [[1, 10], [2, 20], [3, 30]])
    assert [t.get_text() for t in first.get_yticklabels()] == ["1", "2", "B1"]
    assert first.get_lines()[0].get_ydata()[0] == 1.5


def test_weights_tell_honest_from_byzantine_workers(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    for rule, given in (("geometric-median", (0.5, 0.25, 0.25)), ("median", None)):
        scenario = Scenario.paper(
            strategy="NNM", alpha=0.3, attack="lf", **{**BASE, "aggregator": rule}
        )
        keep(store, scenario, 50.0, weights=given)
    figure = weights_figure(read_runs(store), **PLACE, attack="lf")
    (panel,) = panels(figure)
    assert_allclose(_image(panel, 0), [[0.5] * 4, [0.25] * 4])
    assert_allclose(_image(panel, 1), [[0.25] * 4])
    assert panel.get_images()[0].cmap.name != panel.get_images()[1].cmap.name
    assert panel.get_title() == "NNM\n25 %"
    assert panel.get_ylabel().startswith("GM")
    assert "equal weights give them 33 %" in words(figure)
    assert "seed 1" in words(figure)


def test_weights_are_means_over_seeds_of_workers_in_the_order_of_their_weight(
    tmp_path: Path,
) -> None:
    store = Store.open(tmp_path / "store")
    fields = {**BASE, "aggregator": "geometric-median", "strategy": "NNM"}
    for seed, given in ((1, (0.5, 0.3, 0.2)), (2, (0.1, 0.5, 0.4))):
        scenario = Scenario.paper(alpha=0.3, attack="lf", seed=seed, **fields)
        keep(store, scenario, 50.0, weights=given)
    figure = weights_figure(read_runs(store), **PLACE, attack="lf")
    (panel,) = panels(figure)
    # Most heard: 0.5 and 0.5; least heard: 0.3 and 0.1; Byzantine: 0.2 and 0.4.
    assert_allclose(_image(panel, 0), [[0.5] * 4, [0.2] * 4], rtol=1e-6)
    assert_allclose(_image(panel, 1), [[0.3] * 4], rtol=1e-6)
    assert panel.get_title() == "NNM\n30 % (20\N{EN DASH}40)"
    assert "mean of 2 seeds" in words(figure)
    assert "from most to least weight" in words(figure)


def test_weights_that_lack_a_seed_are_left_out_and_named(tmp_path: Path) -> None:
    axes = {"strategy": ["WoLA", "NNM"], "seed": [1, 2], "attack": ["lf"], "aggregator": ["krum"]}
    gone = ("NNM", 2)
    runs = made_up(
        tmp_path,
        axes,
        lambda run: None if (run.strategy, run.seed) == gone else 5.0,
        weights=[0.5, 0.5, 0.0],
    )
    figure = weights_figure(runs, **PLACE, attack="lf")
    assert [panel.get_title().split("\n")[0] for panel in panels(figure)] == ["WoLA"]
    assert "left out as incomplete: NNM Krum (1 of 2 runs)" in words(figure)


def test_rules_without_weights_have_no_figure_of_them(tmp_path: Path) -> None:
    runs = made_up(tmp_path, {"attack": ["lf"], "aggregator": ["median"]}, lambda run: 50.0)
    with pytest.raises(CannotDraw, match=r"\(CWMed\) give no weight to a worker"):
        weights_figure(runs, **PLACE, attack="lf")


def test_a_class_has_the_mean_over_aggregators_and_seeds(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "store")
    for attack in ("lf", "alie"):
        for seed, found in ((1, 80.0), (2, 40.0)):
            scenario = Scenario.paper(strategy="WoLA", alpha=0.3, attack=attack, seed=seed, **BASE)
            keep(store, scenario, 50.0, classes=(found, None))
    runs = read_runs(store)
    (case,) = by_place(runs)
    figure = classes_figure(runs, **case)
    alie, lf = panels(figure)
    assert (alie.get_title(), lf.get_title()) == ("ALIE", "LF")
    assert_allclose(_image(alie), [[60.0, np.nan]])
    assert _texts(alie) == ["60"]
    assert [t.get_text() for t in alie.get_yticklabels()] == ["WoLA"]


def test_a_strategy_that_lacks_a_run_has_no_classes(tmp_path: Path) -> None:
    axes = {"strategy": ["WoLA", "NNM"], "seed": [1, 2]}
    gone = ("NNM", 2)
    runs = made_up(tmp_path, axes, lambda run: None if (run.strategy, run.seed) == gone else 5.0)
    figure = classes_figure(runs, **by_place(runs)[0])
    assert _image(panels(figure)[0]).shape == (1, 2)
    assert "NNM ALIE (1 of 2 runs)" in words(figure)


def test_many_cells_without_all_runs_are_counted_instead_of_named(tmp_path: Path) -> None:
    axes = {"strategy": ["WoLA", "NNM"], "attack": ["alie", "lf", "sf"], "seed": [1, 2]}

    def accuracy(run: Scenario) -> float | None:
        return None if run.strategy == "NNM" and run.seed == 2 and run.attack != "sf" else 5.0

    def less(run: Scenario) -> float | None:
        return None if run.seed == 2 and run.attack != "sf" else 5.0

    figure = classes_figure(runs := made_up(tmp_path / "a", axes, accuracy), **by_place(runs)[0])
    alie, lf, sf, rest = panels(figure)
    assert [axes.get_title() for axes in (alie, lf, sf)] == ["ALIE", "LF", "SF"]
    assert not rest.axison
    assert np.isnan(_image(alie)[0]).all()
    assert_allclose(_image(alie)[1], [100.0, 0.0])
    assert "NNM LF (1 of 2 runs)" in words(figure)
    figure = classes_figure(runs := made_up(tmp_path / "b", axes, less), **by_place(runs)[0])
    assert "left out as incomplete: 4 of 6 cells, which have 4 of 8 runs" in words(figure)


def test_gains_none_of_which_has_its_runs_are_not_drawn(tmp_path: Path) -> None:
    def accuracy(run: Scenario) -> float | None:
        return None if run.strategy == "NNM" and run.attack == "lf" else _gainful(run)

    with pytest.raises(CannotDraw, match="all 6 gains lack runs"):
        gains_figure(made_up(tmp_path, GAINFUL, accuracy), setting=SETTING)
