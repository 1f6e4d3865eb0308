"""The demonstration's picture."""

import numpy as np
import pytest

from tests.cli.made_up import PLAN, by_strategy, made_up
from wola.cli.demo.figure import LOOKS, by_seed, demo_figure

FIGURE = demo_figure(PLAN, made_up(PLAN, by_strategy))


def test_accuracy_stands_above_dissimilarity_for_each_attack():
    assert [axes.get_title() for axes in FIGURE.axes] == ["ALIE", "Mimic", "", ""]
    assert FIGURE.axes[0].get_ylabel() == "test accuracy (%)"
    assert FIGURE.axes[2].get_ylabel() == "dissimilarity of\nhonest updates"


def test_a_line_is_the_mean_over_rules_and_seeds_with_a_band_from_lowest_to_highest_seed():
    axes = FIGURE.axes[0]
    last = axes.lines[-1]

    assert last.get_xdata() == pytest.approx([10, 20])
    assert last.get_ydata() == pytest.approx([35.5, 45.5])
    band = axes.collections[-1].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((35, 46))


def test_lines_are_told_apart_without_colour():
    assert len({(look["linestyle"], look["marker"]) for look in LOOKS}) == len(LOOKS)
    assert len({look["linestyle"] for look in LOOKS}) == len(LOOKS)


def test_the_legend_names_every_strategy():
    (legend,) = FIGURE.legends

    assert [text.get_text() for text in legend.get_texts()] == [
        "- (rule alone)",
        *PLAN.strategies[1:],
    ]


def test_curves_of_one_seed_are_averaged():
    rows = by_seed([3, 3, 1], [[0.0, 4.0], [2.0, 0.0], [9.0, 9.0]])

    np.testing.assert_array_equal(rows, [[1.0, 2.0], [9.0, 9.0]])
