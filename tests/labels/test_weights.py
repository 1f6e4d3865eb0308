"""The weight of each class against its definition."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels import rescaled_distribution, wola_weights
from wola.labels.weights import batch_counts


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_weight_is_q_over_p_and_zero_for_an_absent_class(data):
    counts = data.draw(st.lists(st.integers(0, 1000), min_size=1, max_size=8).filter(any))
    raw = data.draw(st.lists(st.floats(0, 1), min_size=len(counts), max_size=len(counts)))
    q = rescaled_distribution(raw)
    weights = wola_weights(counts, q)
    assert weights.dtype == torch.float64
    for c, count in enumerate(counts):
        expected = float(q[c]) / (count / sum(counts)) if count else 0.0
        assert float(weights[c]) == pytest.approx(expected, rel=1e-14)


def test_weights_average_to_the_mass_of_the_classes_present():
    counts, q = torch.tensor([2, 6, 0]), [0.2, 0.3, 0.5]
    share = counts / counts.sum()
    assert float((share * wola_weights(counts, q)).sum()) == pytest.approx(0.5)
    renormalised = wola_weights(counts, q, renormalise=True)
    assert float((share * renormalised).sum()) == pytest.approx(1.0)


def test_a_worker_that_already_follows_q_has_weights_of_one():
    assert wola_weights([1, 3], [0.25, 0.75]).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("counts", "q", "error", "words"),
    [
        ([1, -1], [0.5, 0.5], ValueError, "counts must be non-negative"),
        ([0, 0], [0.5, 0.5], ValueError, "counts must have at least one positive entry"),
        ([0.5, 0.5], [0.5, 0.5], TypeError, "counts must hold integers"),
        ([1, 1], [0.5, 0.6], ValueError, "q must sum to 1"),
        ([1, 1], [1.5, -0.5], ValueError, "q must be non-negative"),
        ([1, 1], [float("nan"), 1], ValueError, "q must be finite"),
        ([1, 1], [1.0], ValueError, "q must have one entry for each of 2 classes, got 1"),
    ],
)
def test_bad_counts_or_objectives_are_refused(counts, q, error, words):
    with pytest.raises(error, match=words):
        wola_weights(counts, q)


def test_nothing_to_renormalise_is_refused():
    assert wola_weights([1, 0], [0.0, 1.0]).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="q must have mass on a class that counts holds"):
        wola_weights([1, 0], [0.0, 1.0], renormalise=True)
    with pytest.raises(TypeError, match="renormalise must be a bool, got 1"):
        wola_weights([1, 1], [0.5, 0.5], renormalise=1)


def test_a_batch_is_counted_without_its_ignored_samples():
    targets = torch.tensor([0, 2, 2, -100, 1])
    assert batch_counts(targets, 4, ignore_index=-100).tolist() == [1, 1, 2, 0]
    assert batch_counts(targets, 4, ignore_index=2).tolist() == [1, 1, 0, 0]


def test_every_position_of_an_image_counts_in_a_batch():
    targets = torch.tensor([[[0, 2], [2, 1]], [[-100, 2], [1, 2]]])
    assert batch_counts(targets, 3, ignore_index=-100).tolist() == [1, 2, 4]
    assert batch_counts(targets, 3, ignore_index=2).tolist() == [1, 2, 0]
    shares = torch.zeros(2, 3, 2, 2)
    shares[0, 1] = 0.25
    shares[1, 2, 0, 1] = 1.0
    assert batch_counts(shares, 3, ignore_index=-100).tolist() == [0, 1, 1]


def test_one_sample_is_a_batch_of_one():
    assert batch_counts(torch.tensor(2), 3, ignore_index=-100).tolist() == [0, 0, 1]
    assert batch_counts(torch.tensor([0.25, 0.75, 0]), 3, ignore_index=-100).tolist() == [
        0.25,
        0.75,
        0,
    ]
