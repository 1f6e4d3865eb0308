"""The coordinate-wise median."""

import numpy as np
import torch

from tests.rules import updates
from wola.aggregation import CoordinateMedian


def test_an_even_number_of_workers_gives_the_mean_of_the_two_middle_values():
    assert CoordinateMedian()(torch.tensor([[1.0], [4.0], [2.0], [100.0]]), 1).item() == 3.0


def test_the_middle_of_two_large_float32_values_does_not_overflow():
    x = torch.tensor([[3e38], [2e38], [-1.0], [3e38]])
    torch.testing.assert_close(CoordinateMedian()(x, 1), torch.tensor([2.5e38]))


def test_the_median_has_no_weights_over_workers():
    assert CoordinateMedian().weights(updates(5, 3), 2) is None


def test_coordinates_are_chosen_one_by_one():
    x = np.array([[0.0, 9.0], [1.0, 0.0], [2.0, 1.0]])
    np.testing.assert_array_equal(CoordinateMedian()(x, 1), [1.0, 1.0])
