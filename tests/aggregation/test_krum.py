"""Krum."""

import numpy as np
import pytest
import torch

from tests.rules import updates
from wola.aggregation import Krum


@pytest.mark.parametrize("power", [0.5, 1, 2, 3])
def test_krum_returns_one_of_the_updates_to_the_last_bit(power):
    x = updates(9, 70).astype(np.float32)
    result = Krum(power)(x, 3)
    weights = Krum(power).weights(x, 3)
    assert np.sort(weights).tolist() == [0.0] * 8 + [1.0]
    np.testing.assert_array_equal(result, x[weights.argmax()])


def test_the_power_decides_between_many_small_and_few_large_distances():
    # Nearest two of 0: 1 and 6, of 20: 4 and 4. Sums 7 and 8, squares 37 and 32.
    x = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 6.0], [20.0, 0.0], [24.0, 0.0], [20.0, 4.0]])
    assert Krum(power=1)(x, 2).tolist() == [0.0, 0.0]
    assert Krum(power=2)(x, 2).tolist() == [20.0, 0.0]


def test_one_neighbour_is_counted_where_none_would_be_left():
    assert [Krum().max_byzantine(n) for n in (1, 2, 3, 4, 5, 6, 7)] == [0, 0, 1, 1, 2, 2, 3]
    assert Krum()(torch.tensor([[0.0], [1.0], [10.0]]), 1).tolist() == [0.5]
    assert Krum()(torch.tensor([[0.0], [1.0]]), 0).tolist() == [0.5]
    assert Krum()(torch.tensor([[3.0]]), 0).tolist() == [3.0]
    with pytest.raises(ValueError, match="n = 3 workers allows f <= 1, not f = 2"):
        Krum()(torch.ones(3, 2), 2)


@pytest.mark.parametrize("power", [0, -1.0, float("nan"), float("inf"), "2", None])
def test_a_bad_power_is_refused(power):
    with pytest.raises((ValueError, TypeError), match="power"):
        Krum(power=power)
