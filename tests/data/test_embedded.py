import numpy as np
from sklearn.datasets import load_digits

from wola.data import load
from wola.data.embedded import Digits


def test_digits_are_those_of_scikit_learn_scaled_by_sixteen():
    arrays = Digits().load()
    together = np.concatenate([arrays.x_train, arrays.x_test]).reshape(-1, 64)
    original = load_digits().data
    assert sorted(map(tuple, together)) == sorted(map(tuple, original))
    dataset = load("digits")
    assert dataset.scale == 16
    np.testing.assert_allclose(dataset.mean, [arrays.x_train.double().mean() / 16], rtol=1e-6)


def test_iris_is_standardised_per_feature():
    inputs = load("iris").train_inputs
    np.testing.assert_allclose(inputs.mean(0), np.zeros(4), atol=1e-5)
    np.testing.assert_allclose(inputs.std(0, correction=0), np.ones(4), atol=1e-5)
