"""The tempered loss: its terms, its mean weight, and the minimiser that all workers share."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from wola.labels import WoLA, WoLAShift, checked_terms, rescaled_distribution
from wola.labels.cross_entropy import weighted_cross_entropy

POSTERIOR = np.array([[0.5, 0.3, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [0.05, 0.25, 0.6, 0.1]])


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_the_terms_are_those_of_the_definition(data):
    counts = data.draw(st.lists(st.integers(0, 500), min_size=1, max_size=8).filter(any))
    raw = data.draw(st.lists(st.floats(0.01, 1), min_size=len(counts), max_size=len(counts)))
    tau = data.draw(st.floats(0, 1))
    q = rescaled_distribution(raw)
    terms = checked_terms(WoLAShift(tau), torch.tensor(counts), q)
    p = np.array(counts) / sum(counts)
    held = p > 0
    r = p[held] ** (1 - tau) * q.numpy()[held] ** tau
    r /= r.sum()
    np.testing.assert_allclose(terms.weights.numpy()[held], r / p[held], rtol=1e-12)
    np.testing.assert_allclose(
        terms.shifts.numpy()[held], np.log(r / q.numpy()[held]), rtol=1e-9, atol=1e-12
    )
    assert not terms.weights.numpy()[~held].any()
    assert (terms.shifts.numpy()[~held] == -np.inf).all()
    assert float(terms.weights @ torch.from_numpy(p)) == pytest.approx(1, rel=1e-12)


def worker_loss(z, given, counts, q, loss):
    """The expected loss of a worker at logits z (x, C), given P(x | y) as rows that sum to 1."""
    p = np.array(counts) / sum(counts)
    terms = checked_terms(loss, torch.tensor(counts), torch.from_numpy(q))
    total = 0.0
    for x in range(len(z)):
        for c in np.flatnonzero(p):
            logits = torch.from_numpy(z[x])[None]
            target = torch.tensor([int(c)])
            term = weighted_cross_entropy(logits, target, terms.weights, terms.shifts)
            total += p[c] * given[x, c] * float(term)
    return total


@pytest.mark.parametrize("tau", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("counts", [[4, 1, 2, 9], [7, 3, 0, 0], [0, 5, 1, 4]], ids=str)
def test_the_logarithm_of_the_posterior_under_q_minimises_the_loss_of_every_worker(tau, counts):
    q = np.array([0.1, 0.2, 0.3, 0.4])
    joint = POSTERIOR * np.array([0.3, 0.3, 0.4])[:, None]
    given_class = joint / joint.sum(0)  # P(x | y), the same at all workers
    under_q = given_class * q
    best = np.log(under_q / under_q.sum(1, keepdims=True))
    loss = WoLAShift(tau)
    at_best = worker_loss(best, given_class, counts, q, loss)
    found = minimize(
        lambda v: worker_loss(v.reshape(3, 4), given_class, counts, q, loss),
        np.zeros(12),
        tol=1e-10,
    )
    assert at_best == pytest.approx(found.fun, abs=1e-7)


def test_under_wola_a_worker_without_a_class_has_another_minimiser():
    q, counts = np.array([0.1, 0.2, 0.3, 0.4]), [7, 3, 0, 0]
    joint = POSTERIOR * np.array([0.3, 0.3, 0.4])[:, None]
    given_class = joint / joint.sum(0)
    under_q = given_class * q
    best = np.log(under_q / under_q.sum(1, keepdims=True))
    lowered = best - np.array([0, 0, 5, 5])
    both = [worker_loss(z, given_class, counts, q, WoLA()) for z in (best, lowered)]
    assert both[1] < 0.9 * both[0]


def test_the_mean_square_of_the_weights_is_that_of_the_formula_and_least_at_zero():
    counts, q = torch.tensor([50, 5, 40, 5]), torch.full((4,), 0.25, dtype=torch.float64)
    p = counts / counts.sum()
    squares = {}
    for tau in (0.0, 0.5, 1.0):
        weights = checked_terms(WoLAShift(tau), counts, q).weights
        squares[tau] = float(p.double() @ weights**2)
    coefficient = float((p.double() * q).sqrt().sum())
    assert squares[0.0] == pytest.approx(1)
    assert squares[0.5] == pytest.approx(1 / coefficient**2)
    assert squares[1.0] == pytest.approx(float((q**2 / p.double()).sum()))
    assert squares[0.0] < squares[0.5] < squares[1.0]


def test_a_class_without_mass_in_q_counts_nothing_and_breaks_nothing():
    terms = checked_terms(WoLAShift(), torch.tensor([3, 4, 2]), torch.tensor([0.5, 0.0, 0.5]))
    assert terms.weights.tolist()[1] == 0
    assert terms.shifts.tolist()[1] == -100
    logits = torch.zeros(3, 3, requires_grad=True)
    loss = weighted_cross_entropy(logits, torch.tensor([0, 1, 2]), terms.weights, terms.shifts)
    loss.backward()
    assert loss.isfinite()
    assert logits.grad.isfinite().all()
    assert not logits.grad[1].any()


@pytest.mark.parametrize("tau", [-0.1, 1.5, float("nan")])
def test_tau_lies_between_zero_and_one(tau):
    with pytest.raises(ValueError, match=r"tau = .*; allowed: a finite number >= 0 and <= 1"):
        WoLAShift(tau)
