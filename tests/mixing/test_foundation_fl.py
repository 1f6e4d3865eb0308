"""FoundationFL."""

import numpy as np
import pytest

from tests.rules import updates
from wola.mixing import FoundationFL


@pytest.mark.parametrize("n", [1, 2, 3, 8, 17])
def test_half_as_many_copies_of_one_update_follow_the_updates(n):
    x = updates(n, 5)
    mixtures = FoundationFL()(x, 0)
    assert len(mixtures) == FoundationFL().count(n, 0) == n + n // 2
    np.testing.assert_array_equal(mixtures[:n], x)
    # Of two updates each is as far from the other's extreme: both tie, and their mean is copied.
    expected = x if n > 2 else x.mean(axis=0, keepdims=True)
    assert all((copy == expected).all(axis=1).any() for copy in mixtures[n:])
    assert (mixtures[n:] == mixtures[n:][:1]).all()


def test_the_update_farthest_from_both_extremes_is_copied():
    x = np.array([[0.0, 0.0], [10.0, 10.0], [4.0, 5.0], [1.0, 1.0]])
    np.testing.assert_array_equal(FoundationFL()(x, 1)[4:], [[4.0, 5.0]] * 2)


def test_of_equal_scores_the_mean_is_copied():
    x = np.array([[0.0], [4.0], [6.0], [10.0]])
    np.testing.assert_array_equal(FoundationFL()(x, 1)[4:], [[5.0]] * 2)
