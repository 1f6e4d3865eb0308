"""The mean around the median."""

import numpy as np
import torch

from tests.rules import updates
from wola.aggregation import MeaMed, Mean


def test_values_far_from_the_median_are_left_out_on_one_side_too():
    x = torch.tensor([[0.0], [1.0], [2.0], [50.0], [60.0]])
    assert MeaMed()(x, 2).item() == 1.0


def test_nothing_is_left_out_without_byzantine_workers():
    x = updates(6, 20)
    np.testing.assert_allclose(MeaMed()(x, 0), Mean()(x, 0), atol=1e-15)


def test_coordinates_that_most_workers_leave_at_zero_stay_nearly_there():
    x = torch.tensor([[0.0], [0.0], [0.0], [-1.0], [-1.0]])
    assert MeaMed()(x, 1).item() == -0.25
    assert MeaMed()(x, 2).item() == 0.0
