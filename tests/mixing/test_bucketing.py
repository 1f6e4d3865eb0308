"""Bucketing."""

import numpy as np
import pytest
import torch

from tests.rules import generator, updates
from wola.aggregation import TrimmedMean
from wola.mixing import Bucketing


@pytest.mark.parametrize("f", [6, 8])
def test_seventeen_workers_with_six_or_eight_liars_stay_as_they_are(f):
    x = updates(17, 4)
    assert Bucketing().bucket_size(17, f) == 1
    np.testing.assert_array_equal(Bucketing()(x, f), x)


@pytest.mark.parametrize(("n", "f", "size"), [(17, 2, 4), (17, 4, 2), (17, 1, 8), (12, 2, 2)])
def test_the_size_is_n_over_twice_f_while_more_than_two_f_buckets_remain(n, f, size):
    assert Bucketing().bucket_size(n, f) == size
    assert Bucketing().count(n, f) == -(-n // size)


def test_more_buckets_than_twice_the_liars_remain_for_every_n_and_f():
    for n in range(1, 60):
        for f in range((n + 1) // 2):
            assert Bucketing().count(n, f) > 2 * f


def test_every_worker_is_in_exactly_one_bucket():
    matrix = Bucketing(size=4).matrix(updates(11, 3), 1, generator())
    assert matrix.shape == (3, 11)
    assert ((matrix > 0).sum(axis=0) == 1).all()
    assert (matrix > 0).sum(axis=1).tolist() == [4, 4, 3]
    np.testing.assert_allclose(matrix.sum(axis=1), 1)


def test_the_shuffle_moves_on_with_the_generator_and_repeats_with_its_seed():
    x, running = updates(11, 3), generator()
    first, second = (Bucketing(size=2).matrix(x, 1, running) for _ in range(2))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(Bucketing(size=2).matrix(x, 1, generator()), first)


def test_buckets_are_drawn_evenly():
    running, together = generator(), 0
    x = torch.zeros(6, 1)
    for _ in range(600):
        matrix = Bucketing(size=2).matrix(x, 1, running)
        together += bool((matrix[:, 0] * matrix[:, 1]).any())
    assert 0.13 < together / 600 < 0.27


def test_a_shuffle_without_a_generator_is_refused():
    with pytest.raises(ValueError, match="generator is None"):
        Bucketing(size=2)(updates(5, 2), 1)
    with pytest.raises(ValueError, match="generator is None"):
        (Bucketing(size=2) | TrimmedMean())(updates(7, 2), 1)


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "2"])
def test_a_bad_size_is_refused(size):
    with pytest.raises((ValueError, TypeError), match="size"):
        Bucketing(size=size)


def test_a_bucket_larger_than_all_workers_holds_all():
    x = updates(5, 3)
    np.testing.assert_allclose(Bucketing(size=99)(x, 0, generator()), [x.mean(axis=0)])
