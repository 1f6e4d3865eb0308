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


@pytest.mark.parametrize("power", [0, -1.0, float("nan"), float("inf"), "2", None])
def test_a_bad_power_is_refused(power):
    with pytest.raises((ValueError, TypeError), match="power"):
        MultiKrum(power=power)
