"""The non-finite filter."""

import numpy as np
import pytest
import torch

from tests.rules import updates
from wola.aggregation import Mean, TooFewUpdates
from wola.mixing import NNM, FiniteOnly


def test_only_broken_updates_go_and_the_others_stay_to_the_last_bit():
    x = updates(6, 4)
    broken = x.copy()
    broken[1, 2], broken[3, 0], broken[4] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(FiniteOnly()(broken, 2), x[[0, 2, 5]])
    expected = np.eye(6)[[0, 2, 5]]
    np.testing.assert_array_equal(FiniteOnly().matrix(broken, 2), expected)


def test_writing_the_filter_changes_nothing():
    x = updates(6, 4)
    x[1] = np.nan
    chain = FiniteOnly() | NNM() | Mean()
    np.testing.assert_array_equal(chain(x, 2), (NNM() | Mean())(x, 2))


@pytest.mark.parametrize(
    ("dtype", "value", "kept"),
    [
        (torch.float32, 1e38, True),
        (torch.float32, 3e38, False),
        (torch.float64, 1e100, True),
        (torch.float64, 1.7e308, False),
        (torch.float16, 6e4, True),
    ],
)
def test_an_update_goes_when_its_norm_overflows(dtype, value, kept):
    x = torch.ones(4, 3, dtype=dtype)
    x[0] = value
    assert len(FiniteOnly()(x, 1)) == (4 if kept else 3)


def test_nothing_left_is_too_few_updates():
    with pytest.raises(TooFewUpdates, match="all 3 updates"):
        FiniteOnly()(torch.full((3, 2), float("nan")), 1)
