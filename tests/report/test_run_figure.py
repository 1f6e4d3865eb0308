"""The figure of one run: its lines are the run's numbers."""

import matplotlib.pyplot
import pytest
from matplotlib.figure import Figure

from tests.report.figures.made_up import panels, words
from wola.training import Result, Scenario, simulate


def run(**changes: object) -> Result:
    small = {"steps": 6, "evaluate_every": 2, "batch": 8, "attack": "sf", **changes}
    return simulate(Scenario.paper("iris", **small))


def test_lines_are_the_accuracy_and_the_dissimilarity_of_the_run() -> None:
    result = run(aggregator="median")
    before = matplotlib.pyplot.get_fignums()
    figure = result.plot()
    assert isinstance(figure, Figure)
    accuracy, dissimilarity = panels(figure)
    (line,) = accuracy.get_lines()
    assert list(line.get_xdata()) == [2, 4, 6]
    assert list(line.get_ydata()) == [found.accuracy for found in result.evaluations]
    (line,) = dissimilarity.get_lines()
    assert list(line.get_ydata()) == [record.dissimilarity_momenta for record in result.steps]
    assert "iris under SF, f = 6 of 17 workers, CWMed, -, seed 1" in words(figure)
    assert matplotlib.pyplot.get_fignums() == before


@pytest.mark.parametrize(("byzantine", "images", "last"), [(6, 2, "B6"), (0, 1, "17")])
def test_weights_of_workers_have_a_panel_of_their_own(
    byzantine: int, images: int, last: str
) -> None:
    attack = "sf" if byzantine else "none"
    figure = run(aggregator="krum", byzantine=byzantine, attack=attack).plot()
    *_, weights = panels(figure)
    assert len(weights.get_images()) == images
    assert weights.get_yticklabels()[-1].get_text() == last


def test_a_run_that_ended_early_says_why() -> None:
    result = run(aggregator="mean", attack="sf", lr=1e30, clip=0.0, steps=20)
    assert result.ending != "finished"
    assert result.ending in words(result.plot())


def test_a_style_sets_the_width_of_the_figure() -> None:
    figure = run(aggregator="median").plot(style="paper")
    assert figure.get_size_inches()[0] == pytest.approx(3.3)
