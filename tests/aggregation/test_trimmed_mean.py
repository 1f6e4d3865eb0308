"""The coordinate-wise trimmed mean."""

import numpy as np
import torch

from tests.rules import updates
from wola.aggregation import CoordinateMedian, Mean, TrimmedMean


def test_nothing_is_trimmed_without_byzantine_workers():
    x = updates(7, 30)
    np.testing.assert_allclose(TrimmedMean()(x, 0), Mean()(x, 0), atol=1e-15)


def test_trimming_all_but_one_is_the_median():
    x = updates(7, 30)
    np.testing.assert_array_equal(TrimmedMean()(x, 3), CoordinateMedian()(x, 3))


def test_f_values_go_at_each_end():
    x = torch.tensor([[-1e9], [-1e8], [1.0], [2.0], [6.0], [1e8], [1e9]])
    assert TrimmedMean()(x, 2).item() == 3.0


def test_one_more_liar_than_trimmed_gets_through():
    x = torch.tensor([[1.0], [1.0], [1.0], [1e9], [1e9]])
    assert TrimmedMean()(x, 1).item() > 1e8
    assert TrimmedMean()(x, 2).item() == 1.0
