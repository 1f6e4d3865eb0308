"""The matrix shows which attack breaks which rule, and marks the worst of each."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from tests.report.figures.made_up import SETTING, made_up, panels, words
from wola.report.figure_style import Paper
from wola.report.figures.matrix import matrix_cases, matrix_figure, worst_cells
from wola.report.figures.selection import CannotDraw
from wola.training import Scenario

PLACE = {"dataset": "iris", "setting": SETTING, "alpha": 0.3, "byzantine": 1}
AXES = {
    "strategy": ["NNM", "WoLA"],
    "aggregator": ["median", "geometric-median"],
    "attack": ["alie", "sf"],
    "seed": [1, 3],
}


def _accuracy(run: Scenario) -> float:
    hurt = {("median", "sf"): 30.0, ("geometric-median", "alie"): 20.0}
    number = 60.0 + run.seed - hurt.get((run.aggregator, run.attack), 0.0)
    return number + 10.0 * (run.strategy == "WoLA")


def _framed(axes: Axes) -> set[tuple[int, int]]:
    """Row and column of the cells with a frame."""
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return {(round(p.get_y() + 0.44), round(p.get_x() + 0.46)) for p in frames}


def _numbers(axes: Axes) -> NDArray[np.float64]:
    return np.ma.filled(np.ma.asarray(axes.get_images()[0].get_array(), float), np.nan)


def test_rules_against_attacks_have_a_panel_per_strategy_and_the_worst_framed(
    tmp_path: Path,
) -> None:
    figure = matrix_figure(made_up(tmp_path, AXES, _accuracy), **PLACE)
    nnm, wola = panels(figure)
    assert (nnm.get_title(), wola.get_title()) == ("NNM", "WoLA")
    assert_allclose(_numbers(nnm), [[62.0, 32.0], [42.0, 62.0]])
    assert_allclose(_numbers(wola), [[72.0, 42.0], [52.0, 72.0]])
    assert _framed(nnm) == _framed(wola) == {(0, 1), (1, 0)}
    assert [text.get_text() for text in nnm.texts] == ["62.0", "32.0", "42.0", "62.0"]
    assert [text.get_fontweight() for text in nnm.texts] == ["normal", "bold", "bold", "normal"]
    assert [tick.get_text() for tick in nnm.get_yticklabels()] == ["CWMed", "GM"]
    assert [tick.get_text() for tick in nnm.get_xticklabels()] == ["ALIE", "SF"]
    assert "mean of 2 seeds" in words(figure)


def test_strategies_against_attacks_are_means_over_rules_and_seeds(tmp_path: Path) -> None:
    figure = matrix_figure(made_up(tmp_path, AXES, _accuracy), **PLACE, rows="strategy")
    (panel,) = panels(figure)
    assert_allclose(_numbers(panel), [[52.0, 47.0], [62.0, 57.0]])
    assert _framed(panel) == {(0, 1), (1, 1)}
    assert "mean of 2 rules and 2 seeds" in words(figure)


def test_a_cell_that_lacks_a_run_has_no_number_and_says_how_many(tmp_path: Path) -> None:
    def accuracy(run: Scenario) -> float | None:
        gone = (run.strategy, run.aggregator, run.attack, run.seed) == ("NNM", "median", "sf", 3)
        return None if gone else _accuracy(run)

    figure = matrix_figure(made_up(tmp_path, AXES, accuracy), **PLACE)
    nnm, _ = panels(figure)
    assert np.isnan(_numbers(nnm)[0, 1])
    assert "1/2" in [text.get_text() for text in nnm.texts]
    # The worst of one number is no finding.
    assert _framed(nnm) == {(1, 0)}
    assert "1 of 8 cells lack runs" in words(figure)


def test_there_is_a_matrix_for_what_there_are_two_of(tmp_path: Path) -> None:
    def rows(name: str, **axes: list[object]) -> list[str]:
        runs = made_up(tmp_path / name, {**AXES, "seed": [1], **axes}, _accuracy)
        return [case["rows"] for case in matrix_cases(runs)]

    assert rows("a") == ["aggregator", "strategy"]
    assert rows("b", strategy=["WoLA"]) == ["aggregator"]
    assert rows("c", aggregator=["median"]) == ["strategy"]
    assert rows("d", attack=["sf"]) == []


def test_a_matrix_without_a_whole_cell_is_not_drawn(tmp_path: Path) -> None:
    runs = made_up(tmp_path, AXES, lambda run: 50.0 if _odd(run) else None)
    with pytest.raises(CannotDraw, match="no cell has all its runs"):
        matrix_figure(runs, **PLACE)


def _odd(run: Scenario) -> bool:
    return (run.seed == 1) == ((run.strategy == "WoLA") != (run.attack == "sf"))


def test_a_matrix_for_a_paper_has_no_title(tmp_path: Path) -> None:
    figure = matrix_figure(made_up(tmp_path, AXES, _accuracy), **PLACE, style=Paper())
    assert figure.get_suptitle() == ""
    assert "framed: the worst attack of the row" in figure.get_label()
    assert figure.get_figwidth() == 3.3


@given(
    arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, max_side=6),
        elements=st.one_of(st.just(np.nan), st.floats(0, 100)),
    )
)
def test_the_worst_of_a_row_is_what_a_reader_of_the_printed_numbers_finds(
    numbers: NDArray[np.float64],
) -> None:
    expected = np.zeros(numbers.shape, dtype=bool)
    for row, values in enumerate(numbers):
        shown = {i: float(f"{v:.1f}") for i, v in enumerate(values) if not np.isnan(v)}
        if len(shown) > 1:
            expected[row, [i for i, v in shown.items() if v == min(shown.values())]] = True
    assert (worst_cells(numbers) == expected).all()
