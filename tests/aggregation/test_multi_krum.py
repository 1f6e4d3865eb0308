"""Multi-Krum."""

import numpy as np
import pytest

from tests.rules import updates
from wola.aggregation import Krum, MultiKrum


def test_n_minus_f_updates_weigh_the_same():
    weights = MultiKrum().weights(updates(9, 70), 4)
    np.testing.assert_allclose(np.sort(weights), [0] * 4 + [0.2] * 5)


def test_the_best_of_all_is_among_those_that_krum_chooses_from():
    x = updates(9, 70)
    best = Krum().weights(x, 3).argmax()
    assert MultiKrum().weights(x, 3)[best] > 0


def test_m_says_how_many_are_averaged():
    x = updates(9, 70)
    np.testing.assert_allclose(np.sort(MultiKrum(m=3).weights(x, 2)), [0] * 6 + [1 / 3] * 3)
    np.testing.assert_array_equal(MultiKrum(m=1)(x, 2), Krum()(x, 2))
    np.testing.assert_array_equal(MultiKrum(m=7)(x, 2), MultiKrum()(x, 2))


def test_m_cannot_exceed_the_workers():
    assert MultiKrum(m=4).max_byzantine(3) == -1
    with pytest.raises(ValueError, match=r"m=4.* cannot aggregate n = 3"):
        MultiKrum(m=4)(updates(3, 2), 1)


@pytest.mark.parametrize("m", [0, -1, 1.5, True, "2"])
def test_a_bad_m_is_refused(m):
    with pytest.raises((ValueError, TypeError), match="m = "):
        MultiKrum(m=m)


@pytest.mark.parametrize("power", [0, -1.0, float("nan"), float("inf"), "2", None])
def test_a_bad_power_is_refused(power):
    with pytest.raises((ValueError, TypeError), match="power"):
        MultiKrum(power=power)
