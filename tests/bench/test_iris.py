import math

import numpy as np
import polars as pl
import pytest
import torch
from torch.nn.functional import cross_entropy

from wola.bench.iris import _split, class_gradient_cosines, keep_iris
from wola.bench.store import Store
from wola.models import build, mlp
from wola.training.streams import stream

COSINES = [
    "cosine_setosa_versicolor",
    "cosine_setosa_virginica",
    "cosine_versicolor_virginica",
]


@pytest.fixture(scope="module")
def figure() -> pl.DataFrame:
    return class_gradient_cosines()


def test_there_is_a_row_for_the_model_after_every_step(figure: pl.DataFrame) -> None:
    assert figure["step"].to_list() == list(range(201))
    assert figure.columns == ["step", "loss", "accuracy", *COSINES]


def test_training_works_while_the_classes_pull_apart(figure: pl.DataFrame) -> None:
    assert figure["loss"].is_sorted(descending=True)
    assert figure["accuracy"][-1] > 90
    assert figure["cosine_versicolor_virginica"][-1] < -0.9
    assert figure.select(pl.min_horizontal(COSINES).max()).item() < 0


def test_every_step_is_the_same_each_time(figure: pl.DataFrame) -> None:
    assert class_gradient_cosines(steps=20).equals(figure[:21])
    assert not class_gradient_cosines(steps=20, seed=2).equals(figure[:21])


def test_seventy_percent_of_every_class_train_and_the_rest_test() -> None:
    (x, y), (x_test, y_test), _ = _split(1)
    assert y.bincount().tolist() == [35, 35, 35]
    assert y_test.bincount().tolist() == [15, 15, 15]
    assert len(x) == 105
    assert len(x_test) == 45
    assert x.mean(0).abs().max() < 1e-5


def test_a_cosine_is_that_of_numerical_gradients_in_float64() -> None:
    (x, y), _, _ = _split(1)
    model = build(mlp, name="mlp", shape=(4,), classes=3, generator=stream(1, "initialisation"))
    model = model.double()
    weights = torch.nn.utils.parameters_to_vector(model.parameters()).detach()

    def loss(vector: torch.Tensor, c: int) -> float:
        torch.nn.utils.vector_to_parameters(vector, model.parameters())
        with torch.no_grad():
            return float(cross_entropy(model(x[y == c].double()), y[y == c]))

    def gradient(c: int) -> np.ndarray:
        steps = 1e-6 * torch.eye(len(weights), dtype=torch.float64)
        return np.array([(loss(weights + s, c) - loss(weights - s, c)) / 2e-6 for s in steps])

    a, b = gradient(1), gradient(2)
    expected = a @ b / math.sqrt((a @ a) * (b @ b))
    first = class_gradient_cosines(steps=0)
    assert first["cosine_versicolor_virginica"][0] == pytest.approx(expected, abs=1e-4)


def test_the_store_keeps_the_figure_as_one_table(store: Store, figure: pl.DataFrame) -> None:
    path = keep_iris(store)
    assert path == store.path / "figures" / "iris.parquet"
    assert pl.read_parquet(path).equals(figure)


@pytest.mark.parametrize(
    ("name", "value"), [("steps", -1), ("steps", True), ("lr", 0.0), ("lr", math.inf)]
)
def test_a_wrong_number_is_named(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} = "):
        class_gradient_cosines(**{name: value})
