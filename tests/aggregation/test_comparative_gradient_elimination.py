"""Comparative gradient elimination."""

import numpy as np
import torch

from tests.rules import updates
from wola.aggregation import ComparativeGradientElimination


def test_the_longest_updates_are_left_out_wherever_they_point():
    x = torch.tensor([[3.0, 4.0], [0.0, 1.0], [-1.0, 0.0], [9.0, -9.0]])
    weights = ComparativeGradientElimination().weights(x, 1)
    torch.testing.assert_close(weights, torch.tensor([1.0, 1.0, 1.0, 0.0]) / 3)


def test_norms_count_and_not_distances_to_each_other():
    x = updates(6, 10) + 100
    x[4] *= 0.01
    assert ComparativeGradientElimination().weights(x, 2)[4] > 0


def test_opposite_updates_at_the_edge_share():
    x = np.array([[-1.0], [-2.0], [1.0], [1.0], [-1.0]])
    weights = ComparativeGradientElimination().weights(x, 2)
    np.testing.assert_allclose(weights, np.array([1, 0, 1, 1, 1]) / 4)
