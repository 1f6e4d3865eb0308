import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.data.sampling import class_pools, deal, resample, share_out, whole_counts

SEEDS = st.integers(0, 2**32 - 1)
FAST = settings(max_examples=60, deadline=None)


@FAST
@given(seed=SEEDS, n=st.integers(1, 6), c=st.integers(1, 9), size=st.integers(0, 500))
def test_whole_counts_sum_to_the_size_and_stay_next_to_the_shares(seed, n, c, size):
    shares = np.random.default_rng(seed).dirichlet(np.full(c, 0.3), size=n)
    counts = whole_counts(shares, size)
    assert (counts.sum(axis=1) == size).all()
    assert np.abs(counts - size * shares).max() < 1
    assert (counts >= 0).all()


def test_a_share_of_zero_gets_no_sample():
    assert whole_counts(np.array([1 / 3, 1 / 3, 1 / 3, 0.0]), 100).tolist() == [34, 33, 33, 0]


@FAST
@given(seed=SEEDS, pool=st.integers(1, 20), size=st.integers(0, 100))
def test_resampling_uses_every_entry_equally_often_up_to_one(seed, pool, size):
    drawn = resample(np.arange(pool) + 7, size, np.random.default_rng(seed))
    times = np.bincount(drawn - 7, minlength=pool)
    assert times.sum() == size
    assert times.max() - times.min() <= 1


def test_resampling_is_in_random_order():
    drawn = resample(np.arange(100), 100, np.random.default_rng(0))
    assert not np.array_equal(drawn, np.arange(100))


@FAST
@given(
    seed=SEEDS, n=st.integers(1, 8), c=st.integers(1, 8), alpha=st.sampled_from([0.01, 0.3, 10.0])
)
def test_sharing_out_fills_every_worker_within_the_stock(seed, n, c, alpha):
    rng = np.random.default_rng(seed)
    stock = rng.integers(0, 40, c)
    stock[0] += n
    size = int(stock.sum()) // n
    shares = rng.dirichlet(np.full(c, alpha), size=n)
    counts = share_out(shares, stock, size)
    assert (counts.sum(axis=1) == size).all()
    assert (counts.sum(axis=0) <= stock).all()
    assert (counts >= 0).all()


def test_sharing_out_a_plentiful_stock_follows_the_shares():
    shares = np.random.default_rng(0).dirichlet(np.ones(5), size=4)
    counts = share_out(shares, np.full(5, 10_000), 1000)
    assert np.abs(counts - 1000 * shares).max() < 1


def test_a_class_that_runs_out_is_divided_in_proportion_to_the_demands():
    counts = share_out(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([30, 1000]), 100)
    assert counts.tolist() == [[20, 80], [10, 90]]


def test_a_worker_whose_every_class_is_gone_takes_from_the_stock():
    counts = share_out(np.array([[1.0, 0, 0], [1.0, 0, 0]]), np.array([4, 6, 2]), 6)
    assert counts[:, 0].tolist() == [2, 2]
    assert counts.sum(axis=0).tolist() == [4, 6, 2]


def test_pools_hold_each_sample_under_its_label():
    labels = torch.tensor([2, 0, 2, 1, 0])
    assert [p.tolist() for p in class_pools(labels, 4)] == [[1, 4], [3], [0, 2], []]


def test_dealing_gives_each_worker_its_counts():
    labels = torch.tensor([0] * 5 + [1] * 3 + [2])
    counts = np.array([[4, 0, 2], [3, 1, 0]])
    shards = deal(class_pools(labels, 3), counts, np.random.default_rng(0))
    found = [torch.bincount(labels[shard], minlength=3).tolist() for shard in shards]
    assert found == counts.tolist()
