"""The three propositions of the WoLA paper, on data whose expectations are known exactly.

Features take six values with a known law per class, so that the gradient of every class has a
closed-form expectation; workers hold the classes in very different shares.
"""

import functools

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from wola.labels import WoLALoss, global_distribution, gradient_dissimilarity, label_counts

CLASSES, WORKERS, VALUES = 3, 4, 6
RNG = np.random.default_rng(11)
FEATURES = torch.tensor(RNG.normal(size=(VALUES, 2)))
THETA = torch.tensor(RNG.normal(size=(CLASSES, 2)))
LAW = RNG.dirichlet(np.ones(VALUES), size=CLASSES)  # P(X = x | Y = c)
# P(Z = i, Y = c): skewed labels and workers of unequal size, every entry positive.
JOINT = np.array([[0.30, 0.02, 0.02], [0.03, 0.15, 0.02], [0.02, 0.03, 0.20], [0.05, 0.10, 0.06]])
P = JOINT.sum(0)
OBJECTIVES = {
    "the global distribution": P,
    "uniform": np.full(3, 1 / 3),
    "skewed": np.array([0.05, 0.15, 0.8]),
    "one class": np.array([0.0, 1.0, 0.0]),
}


def class_gradients() -> np.ndarray:
    """E[gradient | Y = c] of the softmax cross-entropy for each class: (C, C x 2)."""
    x = FEATURES.numpy()
    scores = np.exp(x @ THETA.numpy().T)
    probabilities = scores / scores.sum(1, keepdims=True)
    gradients = []
    for c in range(CLASSES):
        residual = probabilities - np.eye(CLASSES)[c]
        per_value = residual[:, :, None] * x[:, None, :]
        gradients.append((LAW[c][:, None, None] * per_value).sum(0).ravel())
    return np.array(gradients)


@functools.cache
def draw(size: int, seed: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """``size`` independent triplets (X, Y, Z) with X and Z independent given Y, per worker."""
    rng = np.random.default_rng(seed)
    worker, label = np.divmod(rng.choice(JOINT.size, size, p=JOINT.ravel()), CLASSES)
    value = np.empty(size, dtype=int)
    for c in range(CLASSES):
        value[label == c] = rng.choice(VALUES, (label == c).sum(), p=LAW[c])
    return [
        (FEATURES[value[worker == i]], torch.tensor(label[worker == i])) for i in range(WORKERS)
    ]


@functools.cache
def gradients(size: int, seed: int, objective: str | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Every worker's gradient (workers, d), and its share of the samples (workers,)."""
    parts = draw(size, seed)
    rows = []
    for inputs, labels in parts:
        theta = THETA.clone().requires_grad_()
        logits = inputs @ theta.T
        if objective is None:
            loss = F.cross_entropy(logits, labels)
        else:
            loss = WoLALoss(label_counts(labels, CLASSES), OBJECTIVES[objective])(logits, labels)
        rows.append(torch.autograd.grad(loss, theta)[0].ravel())
    return torch.stack(rows), torch.tensor([len(y) / size for _, y in parts], dtype=torch.float64)


def mean_dissimilarity(size: int, objective: str | None) -> float:
    return float(
        np.mean([gradient_dissimilarity(gradients(size, s, objective)[0]) for s in range(12)])
    )


def average(size: int, seed: int, objective: str | None) -> np.ndarray:
    """The average gradient as the paper's proofs have it, weighted by the workers' sizes."""
    rows, shares = gradients(size, seed, objective)
    return (shares @ rows).numpy()


def test_without_wola_each_worker_tends_to_its_own_expectation():
    shares = JOINT / JOINT.sum(1, keepdims=True)
    limits = shares @ class_gradients()
    rows, _ = gradients(120_000, 0, None)
    np.testing.assert_allclose(rows.numpy(), limits, atol=0.01)
    np.testing.assert_allclose(average(120_000, 0, None), P @ class_gradients(), atol=0.01)


def test_without_wola_the_dissimilarity_tends_to_a_positive_limit():
    limits = (JOINT / JOINT.sum(1, keepdims=True)) @ class_gradients()
    limit = ((limits - limits.mean(0)) ** 2).sum(1).mean()
    assert limit > 0.1
    assert mean_dissimilarity(4000, None) == pytest.approx(limit, rel=0.1)
    assert gradient_dissimilarity(gradients(120_000, 0, None)[0]) == pytest.approx(limit, rel=0.02)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_under_wola_every_worker_tends_to_the_same_expectation(objective):
    rows, _ = gradients(120_000, 0, objective)
    limit = OBJECTIVES[objective] @ class_gradients()
    for row in rows:
        np.testing.assert_allclose(row.numpy(), limit, atol=0.03)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_under_wola_the_dissimilarity_falls_like_one_over_n(objective):
    sizes = [2000, 8000, 32_000]
    values = [mean_dissimilarity(size, objective) for size in sizes]
    slope = np.polyfit(np.log(sizes), np.log(values), 1)[0]
    assert slope == pytest.approx(-1, abs=0.2)
    assert values[-1] < mean_dissimilarity(32_000, None) / 100


def test_with_the_global_distribution_both_average_gradients_meet():
    matching, other = [], []
    for size in (2000, 32_000):
        pairs = [(average(size, s, None), s) for s in range(12)]
        for gaps, objective in ((matching, "the global distribution"), (other, "skewed")):
            gaps.append(
                np.mean([((plain - average(size, s, objective)) ** 2).sum() for plain, s in pairs])
            )
    assert matching[1] < matching[0] / 8
    assert matching[1] < 1e-3
    assert other[1] > 0.01


def test_the_averages_meet_when_weighted_by_size_not_worker_by_worker():
    plain, _ = gradients(120_000, 0, None)
    aligned, _ = gradients(120_000, 0, "the global distribution")
    weighted = average(120_000, 0, None) - average(120_000, 0, "the global distribution")
    unweighted = (plain.mean(0) - aligned.mean(0)).numpy()
    assert np.linalg.norm(weighted) < 0.01 < 0.05 < np.linalg.norm(unweighted)


def test_the_sampled_labels_follow_the_global_distribution():
    counts = torch.stack([label_counts(y, CLASSES) for _, y in draw(120_000, 0)])
    np.testing.assert_allclose(global_distribution(counts).numpy(), P, atol=0.005)
