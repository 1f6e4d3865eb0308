import pytest

from tests.bench.small import iris
from wola.bench.curves import Curves
from wola.training import Evaluation, simulate


class Kept(Curves):
    """Keeps what it is given."""

    def __init__(self):
        self.points = []

    def add(self, points, step):
        self.points.append((step, dict(points)))


def test_every_step_and_every_test_gives_its_points():
    kept = Kept()

    result = simulate(iris(), callbacks=[kept])

    steps = [step for step, points in kept.points if "lr" in points]
    assert steps == [1, 2, 3, 4, 5, 6]
    first = result.steps[0]
    assert kept.points[0] == (
        1,
        {
            "dissimilarity/gradients": first.dissimilarity_gradients,
            "dissimilarity/momenta": first.dissimilarity_momenta,
            "cosine": first.cosine,
            "lr": first.lr,
        },
    )
    tests = [(step, points) for step, points in kept.points if "accuracy" in points]
    assert tests == [
        (each.step, {"accuracy": each.accuracy, "loss": each.loss}) for each in result.evaluations
    ]


def test_what_is_not_finite_is_left_out():
    kept = Kept()

    kept.on_evaluation(Evaluation(1, 50.0, float("inf"), 0.0))
    kept.on_evaluation(Evaluation(2, float("nan"), float("inf"), 0.0))

    assert kept.points == [(1, {"accuracy": 50.0})]


def test_curves_that_go_nowhere_are_no_curves():
    with pytest.raises(TypeError, match="abstract"):
        Curves()
