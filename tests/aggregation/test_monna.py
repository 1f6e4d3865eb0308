"""MoNNA against its definition, and its ties."""

import numpy as np
import pytest

from tests import memory_reference as reference
from tests.aggregation.memory_rules import D, F, N, made, view
from wola.aggregation import MissingReference, MoNNA


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("f", range(5))
def test_it_is_its_definition(seed, own, f):
    x, server = made(seed)
    outcome = MoNNA(own=own).at(view(server)).aggregate(x, f)
    expected = reference.monna(x, f, server, average_own=own)
    np.testing.assert_allclose(outcome.update, expected, atol=1e-12)
    count = N - f
    np.testing.assert_allclose(outcome.weights.sum(), count / (count + 1) if own else 1.0)


def test_updates_equally_near_share_what_is_left():
    server = np.zeros(3)
    x = np.array([[0.5, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2], [9, 9, 9]])
    weights = MoNNA(own=False).at(view(server)).aggregate(x, 2).weights
    np.testing.assert_allclose(weights, [1 / 3, 2 / 9, 2 / 9, 2 / 9, 0])


def test_liars_far_from_the_server_change_nothing():
    x, server = made(0)
    far, farther = x.copy(), x.copy()
    far[N - F :], farther[N - F :] = 1e6, -1e30
    rule = MoNNA().at(view(server))
    np.testing.assert_allclose(rule(far, F), rule(farther, F), atol=1e-9)


@pytest.mark.parametrize("factor", [1e-300, 1e-12, 1e12, 1e300])
def test_updates_and_reference_may_have_any_scale(factor):
    x, server = made(1)
    expected = MoNNA().at(view(server))(x, F)
    scaled = MoNNA().at(view(server * factor))(x * factor, F)
    np.testing.assert_allclose(scaled / factor, expected, atol=1e-9)


def test_it_accepts_a_minority_and_asks_for_its_reference():
    assert MoNNA().max_byzantine(9) == 4
    with pytest.raises(MissingReference, match="needs a reference of the server's own"):
        MoNNA()(np.zeros((N, D)), F)
