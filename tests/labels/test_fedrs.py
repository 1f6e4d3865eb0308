"""FedRS: its factors, the losses and gradients they make, and where it ends."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels import CrossEntropy, FedRS, checked_terms
from wola.labels.cross_entropy import weighted_cross_entropy

COUNTS = torch.tensor([5, 1, 0, 14])
Q = torch.tensor([0.4, 0.3, 0.1, 0.2], dtype=torch.float64)


def plain_loss(logits, targets, counts, alpha):
    """The mean of -log softmax over a batch, sample by sample, in plain Python."""
    losses = []
    for row, y in zip(logits.tolist(), targets.tolist(), strict=True):
        scaled = [z if count else alpha * z for z, count in zip(row, counts, strict=True)]
        losses.append(math.log(math.fsum(map(math.exp, scaled))) - scaled[y])
    return math.fsum(losses) / len(losses)


def of_batch(loss, logits, targets, counts):
    q = torch.full((len(counts),), 1 / len(counts))
    terms = checked_terms(loss, torch.tensor(counts), q)
    return weighted_cross_entropy(
        logits, targets, terms.weights, terms.shifts, terms.margins, terms.factors
    )


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(0, 10_000), min_size=1, max_size=8).filter(any),
    alpha=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_batchs_loss_is_that_of_the_definition(counts, alpha, seed):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(6, len(counts), generator=generator, dtype=torch.float64)
    held = torch.tensor([c for c, count in enumerate(counts) if count])
    targets = held[torch.randint(len(held), (6,), generator=generator)]
    made = of_batch(FedRS(alpha), logits, targets, counts)
    expected = plain_loss(logits, targets, counts, alpha)
    assert float(made) == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_a_missing_class_is_pushed_alpha_times_as_hard():
    logits = torch.tensor([[0.3, -1.0, 0.8, 2.0]], dtype=torch.float64, requires_grad=True)
    of_batch(FedRS(0.25), logits, torch.tensor([3]), COUNTS.tolist()).backward()
    scaled = np.array([0.3, -1.0, 0.25 * 0.8, 2.0])
    share = np.exp(scaled) / np.exp(scaled).sum()
    expected = [share[0], share[1], 0.25 * share[2], share[3] - 1]
    np.testing.assert_allclose(logits.grad[0].numpy(), expected, rtol=1e-12)


def test_it_looks_neither_at_q_nor_at_how_many_samples_a_class_has():
    first = checked_terms(FedRS(), COUNTS, Q)
    other = checked_terms(FedRS(), torch.tensor([1, 900, 0, 2]), Q.flip(0))
    assert first.weights.tolist() == other.weights.tolist() == [1.0] * 4
    assert first.factors.tolist() == other.factors.tolist() == [1.0, 1.0, 0.5, 1.0]
    assert first.shifts is first.margins is None


def test_at_alpha_1_it_is_plain_cross_entropy():
    logits = torch.randn(6, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    targets = torch.tensor([0, 1, 3, 3, 0, 1])
    plain = of_batch(CrossEntropy(), logits, targets, COUNTS.tolist())
    assert torch.equal(of_batch(FedRS(1.0), logits, targets, COUNTS.tolist()), plain)


def test_at_alpha_0_a_missing_class_gets_no_gradient_but_keeps_a_logit_of_0():
    logits = torch.tensor([[1.0, 2.0, 500.0, 0.5]], dtype=torch.float64, requires_grad=True)
    loss = of_batch(FedRS(0), logits, torch.tensor([1]), COUNTS.tolist())
    loss.backward()
    assert float(logits.grad[0, 2]) == 0
    rest = math.log(math.exp(1) + math.exp(2) + 1 + math.exp(0.5)) - 2
    assert float(loss.detach()) == pytest.approx(rest, rel=1e-12)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, math.inf, True, "1", None])
def test_an_alpha_outside_0_to_1_is_refused(alpha):
    with pytest.raises((ValueError, TypeError), match=r"alpha = .*; allowed: "):
        FedRS(alpha)
