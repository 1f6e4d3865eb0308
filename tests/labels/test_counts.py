"""Counts of labels and the distributions that follow from them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels import global_distribution, label_counts, label_distribution
from wola.labels.simplex import is_distribution


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 6), max_size=40))
def test_counts_are_those_of_a_plain_loop(labels):
    expected = [sum(label == c for label in labels) for c in range(7)]
    counts = label_counts(labels, 7)
    assert counts.tolist() == expected
    assert counts.dtype == torch.int64


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64])
def test_every_integer_dtype_is_counted(dtype):
    assert label_counts(torch.tensor([1, 1, 0], dtype=dtype), 2).tolist() == [1, 2]


def test_numpy_labels_are_counted():
    assert label_counts(np.array([1, 1, 0]), 3).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("labels", "classes", "error", "words"),
    [
        ([0, 3], 3, ValueError, "labels must lie between 0 and 2, got 3"),
        ([0, -1], 3, ValueError, "labels must lie between 0 and 2, got -1"),
        ([0.0, 1.0], 3, TypeError, "labels must hold integers, got dtype torch.float64"),
        ([True], 3, TypeError, "real numbers, got dtype torch.bool"),
        ([[0, 1]], 3, ValueError, "labels must have 1 dimension"),
        ([0], 0, ValueError, "classes = 0; allowed: an int >= 1"),
        ([0], 2.0, TypeError, "classes = 2.0 is a float; allowed: an int >= 1"),
        ([0], True, TypeError, "classes = True is a bool; allowed: an int >= 1"),
    ],
)
def test_bad_labels_are_refused(labels, classes, error, words):
    with pytest.raises(error, match=words):
        label_counts(labels, classes)


def test_a_label_distribution_is_a_distribution_in_float64():
    p = label_distribution(torch.tensor([1, 2, 0, 7]))
    assert p.dtype == torch.float64
    assert p.tolist() == [0.1, 0.2, 0.0, 0.7]
    assert is_distribution(p)


def test_counts_beyond_float32_are_exact():
    assert label_distribution([2**24 + 1, 2**24 - 1])[0] == (2**24 + 1) / 2**25


@pytest.mark.parametrize(
    ("counts", "error", "words"),
    [
        ([1, -1], ValueError, "counts must be non-negative, got -1"),
        ([0, 0], ValueError, r"counts must have at least one positive entry, got \[0, 0\]"),
        ([0.5, 1.0], TypeError, "counts must hold integers, got dtype torch.float64"),
        (torch.zeros(0, dtype=torch.int64), ValueError, "counts must not be empty"),
        ([[1, 2]], ValueError, "counts must have 1 dimension"),
        ("ab", TypeError, "counts must be a tensor"),
    ],
)
def test_bad_counts_are_refused(counts, error, words):
    with pytest.raises(error, match=words):
        label_distribution(counts)


def test_the_global_distribution_is_that_of_the_pooled_samples():
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 5, size) for size in (3, 40, 7)]
    rows = torch.stack([label_counts(part, 5) for part in labels])
    expected = label_distribution(label_counts(np.concatenate(labels), 5))
    torch.testing.assert_close(global_distribution(rows), expected, rtol=0, atol=0)


def test_a_worker_without_data_leaves_the_global_distribution_alone():
    assert global_distribution([[1, 3], [0, 0]]).tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([[1, -1], [1, 1]], ValueError, "counts_per_worker must be non-negative, got -1"),
        ([[0, 0], [0, 0]], ValueError, "at least one positive entry"),
        ([1, 2], ValueError, "counts_per_worker must have 2 dimensions"),
        ([[0.5]], TypeError, "counts_per_worker must hold integers"),
        (torch.zeros(0, 3, dtype=torch.int64), ValueError, "counts_per_worker must not be empty"),
    ],
)
def test_bad_counts_of_workers_are_refused(rows, error, words):
    with pytest.raises(error, match=words):
        global_distribution(rows)
