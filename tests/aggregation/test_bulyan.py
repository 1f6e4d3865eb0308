"""Bulyan."""

import numpy as np
import pytest
import torch

from tests.rules import updates
from wola.aggregation import Bulyan, Mean


def test_it_needs_four_f_plus_three_workers():
    assert [Bulyan().max_byzantine(n) for n in (1, 2, 3, 6, 7, 10, 11, 17)] == [
        0, 0, 0, 0, 1, 1, 2, 3,
    ]  # fmt: skip
    with pytest.raises(ValueError, match="n = 6 workers allows f <= 0, not f = 1"):
        Bulyan()(torch.zeros(6, 2), 1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 9])
def test_without_byzantine_workers_it_is_the_mean(n):
    x = updates(n, 6)
    np.testing.assert_allclose(Bulyan()(x, 0), Mean()(x, 0), atol=1e-14)


def test_a_liar_in_one_coordinate_does_not_show_there():
    x = updates(11, 500)
    x[0, 7] += 40.0
    x[1, 7] += 40.0
    others = np.delete(x[:, 7], [0, 1])
    assert others.min() <= Bulyan()(x, 2)[7] <= others.max()
