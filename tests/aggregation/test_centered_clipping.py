"""Centred clipping."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from tests import memory_reference, reference
from tests.aggregation.memory_rules import rounds
from tests.rules import updates
from wola.aggregation import CenteredClipping, Mean, View


@pytest.mark.parametrize("tau", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("iterations", [1, 2, 10])
def test_it_is_the_reference_for_every_radius_and_number_of_steps(tau, iterations):
    x = updates(7, 12)
    expected = reference.centered_clipping(x, tau, iterations)
    result = CenteredClipping(tau, iterations)(x, 3)
    np.testing.assert_allclose(result, expected, atol=1e-10)


def test_liars_move_the_result_by_at_most_tau_a_step():
    x = updates(7, 12)
    x[:3] = 1e9
    assert np.linalg.norm(CenteredClipping(tau=0.5, iterations=2)(x, 3)) <= 1.0 + 1e-9


def test_a_wide_radius_is_the_mean():
    x = updates(7, 12)
    np.testing.assert_allclose(CenteredClipping(tau=1e6)(x, 3), Mean()(x, 3), atol=1e-12)


@pytest.mark.parametrize("tau", [0.3, 2.0, 100.0])
@pytest.mark.parametrize("iterations", [1, 3])
def test_with_history_it_starts_at_its_last_aggregate(tau, iterations):
    rule = CenteredClipping(tau, iterations, history=True)
    plain = memory_reference.CenteredClipping(tau, iterations)
    steps = [(updates(7, 12, seed=k), np.zeros(12), range(7)) for k in range(6)]
    for (x, _, _), outcome in zip(steps, rounds(rule, steps), strict=True):
        expected = plain.round([], x)
        np.testing.assert_allclose(outcome.update, expected, atol=1e-10)
        np.testing.assert_array_equal(outcome.memory["aggregate"], outcome.update)


def test_with_history_liars_move_it_by_at_most_tau_a_step_from_where_it_was():
    x = updates(7, 12)
    liars = x.copy()
    liars[:3] = 1e9
    rule = CenteredClipping(tau=0.5, history=True)
    steps = [(each, np.zeros(12), range(7)) for each in (x, liars, x, liars)]
    places = [np.zeros(12), *(outcome.update for outcome in rounds(rule, steps))]
    for before, after in pairwise(places):
        assert np.linalg.norm(after - before) <= 0.5 + 1e-9


def test_with_history_the_last_aggregate_has_the_share_that_the_workers_leave():
    x, last = updates(7, 12), updates(1, 12, seed=9)[0]
    rule = CenteredClipping(tau=2.0, iterations=2, history=True)
    memory = {"aggregate": torch.from_numpy(last)}
    outcome = rule.at(View(memory=memory)).aggregate(x, 3)
    share = 1 - outcome.weights.sum()
    assert 0 < share < 1
    np.testing.assert_allclose(outcome.weights @ x + share * last, outcome.update, atol=1e-10)


def test_with_history_the_first_round_starts_at_zero_and_without_it_nothing_is_kept():
    x = updates(7, 12)
    first = CenteredClipping(tau=2.0, history=True).aggregate(x, 3)
    plain = CenteredClipping(tau=2.0).aggregate(x, 3)
    np.testing.assert_array_equal(first.update, plain.update)
    assert list(first.memory) == ["aggregate"]
    assert not plain.memory
    assert CenteredClipping().at(View(memory=first.memory)) == CenteredClipping()


def test_with_history_half_precision_keeps_a_full_aggregate():
    x = torch.from_numpy(updates(7, 12)).half()
    rule = CenteredClipping(history=True)
    first = rule.aggregate(x, 3)
    assert first.update.dtype == torch.float16
    assert first.memory["aggregate"].dtype == torch.float32
    assert rule.at(View(memory=first.memory))(x, 3).dtype == torch.float16


def test_a_history_of_another_model_is_refused():
    rule = CenteredClipping(history=True).at(View(memory={"aggregate": torch.zeros(5)}))
    with pytest.raises(ValueError, match="have d = 5 coordinates, the updates 12"):
        rule(updates(7, 12), 3)


@pytest.mark.parametrize("tau", [0, -1.0, float("nan"), float("inf"), "1"])
def test_a_bad_tau_is_refused(tau):
    with pytest.raises((ValueError, TypeError), match="tau"):
        CenteredClipping(tau=tau)


@pytest.mark.parametrize("iterations", [0, -2, 1.5, True, None])
def test_bad_iterations_are_refused(iterations):
    with pytest.raises((ValueError, TypeError), match="iterations"):
        CenteredClipping(iterations=iterations)
