"""Distributions: what is refused, and the two ways to make a vector one."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels import (
    check_distribution,
    nearest_distribution,
    rescaled_distribution,
    total_variation,
)
from wola.labels.simplex import check_distributions, is_distribution

vectors = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


def brute_force_projection(v: np.ndarray) -> np.ndarray:
    """The best of all 2^C - 1 supports, each with its own closed-form solution."""
    best, distance = None, np.inf
    for mask in range(1, 2 ** len(v)):
        support = np.array([bool(mask >> c & 1) for c in range(len(v))])
        q = np.where(support, v - (v[support].sum() - 1) / support.sum(), 0.0)
        if (q >= 0).all() and np.linalg.norm(q - v) < distance:
            best, distance = q, np.linalg.norm(q - v)
    assert best is not None
    return best


@pytest.mark.parametrize(
    "q", [[0.25, 0.75], (0.25, 0.75), np.array([0.25, 0.75]), torch.tensor([0.25, 0.75])]
)
def test_a_distribution_comes_back_in_float64_as_given(q):
    assert check_distribution(q, 2).tolist() == [0.25, 0.75]
    assert check_distribution(q).dtype == torch.float64


def test_python_floats_are_not_rounded_to_float32():
    assert check_distribution([0.1, 0.9]).tolist() == [0.1, 0.9]


def test_a_read_only_array_is_accepted_and_the_result_is_a_copy():
    q = np.array([0.5, 0.5])
    q.flags.writeable = False
    check_distribution(q)[0] = 9.0
    assert q.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("q", "error", "words"),
    [
        ([0.5, 0.6], ValueError, r"prior must sum to 1 within 1e-06, got \[0.5, 0.6\]"),
        ([1.0, 2e-6], ValueError, "prior must sum to 1"),
        ([-0.5, 1.5], ValueError, r"prior must be non-negative, got \[-0.5, 1.5\]"),
        ([float("nan"), 1.0], ValueError, r"prior must be finite, got \[nan, 1.0\]"),
        ([float("inf"), 1.0], ValueError, "prior must be finite"),
        ([0.5, 0.25, 0.25], ValueError, "each of 2 classes, got 3 entries"),
        ([[0.5, 0.5]], ValueError, r"prior must have 1 dimension, got shape \(1, 2\)"),
        (0.5, ValueError, "prior must have 1 dimension"),
        (["a", "b"], TypeError, "prior must be a tensor, array or sequence of numbers"),
        (None, TypeError, "prior must be a tensor"),
        (torch.tensor([True, False]), TypeError, "real numbers, got dtype torch.bool"),
        (torch.tensor([1j, 1.0]), TypeError, "real numbers, got dtype torch.complex64"),
    ],
)
def test_what_is_no_distribution_is_refused_by_name(q, error, words):
    with pytest.raises(error, match=words):
        check_distribution(q, 2, name="prior")


def test_an_empty_distribution_is_refused():
    with pytest.raises(ValueError, match="q must have at least one entry"):
        check_distribution([])


def test_a_bad_row_is_named_with_its_index():
    with pytest.raises(ValueError, match=r"honest .* got row 1 = \[0.5, 0.0\]"):
        check_distributions([[1.0, 0.0], [0.5, 0.0]], name="honest")


def test_rows_may_be_a_sequence_of_tensors():
    rows = check_distributions([torch.tensor([1.0, 0.0])] * 2, name="honest")
    assert rows.shape == (2, 2)


@pytest.mark.parametrize("rows", [torch.ones(0, 2), torch.ones(2, 0)])
def test_a_matrix_without_rows_or_classes_is_refused(rows):
    with pytest.raises(ValueError, match="at least one row and one class"):
        check_distributions(rows, name="honest")


@pytest.mark.parametrize("rows", [[[0.5, 0.5], [1.0]], [torch.ones(2), torch.ones(3)]])
def test_a_ragged_matrix_is_refused(rows):
    with pytest.raises(TypeError, match="honest must be a tensor"):
        check_distributions(rows, name="honest")


@settings(deadline=None, max_examples=80)
@given(vectors)
def test_the_nearest_distribution_is_the_best_of_all_supports(v):
    q = nearest_distribution(v)
    assert is_distribution(q)
    reference = brute_force_projection(np.array(v))
    np.testing.assert_allclose(q.numpy(), reference, atol=1e-9 * max(1, *map(abs, v)))


@settings(deadline=None, max_examples=80)
@given(vectors)
def test_rescaling_keeps_the_ratios_of_the_positive_entries(v):
    q = rescaled_distribution(v)
    assert is_distribution(q)
    clipped = np.maximum(v, 0)
    if clipped.any():
        scale = clipped.max()
        np.testing.assert_allclose(
            q.numpy(), (clipped / scale) / (clipped / scale).sum(), atol=1e-15
        )
    else:
        torch.testing.assert_close(q, nearest_distribution(v))


@pytest.mark.parametrize("make", [nearest_distribution, rescaled_distribution])
def test_a_distribution_stays_as_it_is_to_rounding(make):
    q = torch.rand(50, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    q /= q.sum()
    torch.testing.assert_close(make(q), q, atol=1e-15, rtol=1e-14)


@pytest.mark.parametrize("make", [nearest_distribution, rescaled_distribution])
def test_the_zero_vector_becomes_uniform(make):
    assert make([0.0] * 4).tolist() == [0.25] * 4


@pytest.mark.parametrize("make", [nearest_distribution, rescaled_distribution])
@pytest.mark.parametrize("v", [[1e308, 1e308], [5e-324, 0.0], [-1e308, 1e308], [-1.0, -2.0]])
def test_extreme_vectors_become_distributions(make, v):
    assert is_distribution(make(v))


@pytest.mark.parametrize("make", [nearest_distribution, rescaled_distribution])
@pytest.mark.parametrize("v", [[], [float("nan")], [float("inf"), 0.0]])
def test_a_vector_without_finite_entries_is_refused(make, v):
    with pytest.raises(ValueError, match="vector must be finite"):
        make(v)


def test_total_variation_is_half_the_l1_distance():
    assert total_variation([0.5, 0.5, 0.0], [0.0, 0.5, 0.5]) == 0.5
    with pytest.raises(ValueError, match="q must have one entry for each of 2"):
        total_variation([0.5, 0.5], [1.0])
    with pytest.raises(ValueError, match="p must sum to 1"):
        total_variation([0.5, 0.6], [0.5, 0.5])
