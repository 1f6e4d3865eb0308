import numpy as np
import pytest
import torch

from wola.data import Dirichlet, partition_counts

LABELS = torch.arange(20_000) % 10


def counts(alpha, mode="resampled", *, honest=10, byzantine=0, seed=1, labels=LABELS):
    shards = Dirichlet(alpha, mode=mode).partition(
        labels, honest=honest, byzantine=byzantine, generator=torch.Generator().manual_seed(seed)
    )
    return partition_counts(labels, shards, 10), shards


@pytest.mark.parametrize("mode", ["resampled", "disjoint"])
def test_every_honest_worker_holds_the_same_number_of_samples(mode):
    table, _ = counts(0.3, mode, honest=11)
    assert table.sum(1).tolist() == [20_000 // 11] * 11


def test_byzantine_workers_hold_as_many_samples_in_resampled_mode():
    table, _ = counts(0.3, honest=11, byzantine=6)
    assert table.sum(1).tolist() == [20_000 // 11] * 17


def test_disjoint_workers_share_no_sample_byzantine_ones_included():
    table, shards = counts(0.1, "disjoint", honest=11, byzantine=6)
    together = torch.cat(shards)
    assert together.unique().numel() == together.numel() == 17 * (20_000 // 17)
    assert (table.sum(0) <= 2000).all()


def test_resampled_pools_use_each_sample_equally_often_up_to_one():
    _, shards = counts(0.3)
    times = torch.bincount(torch.cat(shards), minlength=len(LABELS))
    for label in range(10):
        of_class = times[label == LABELS]
        assert int(of_class.max() - of_class.min()) <= 1


@pytest.mark.parametrize("mode", ["resampled", "disjoint"])
def test_shares_have_the_moments_of_the_dirichlet_distribution(mode):
    alpha, classes = 1.0, 10
    stacked = [counts(alpha, mode, honest=20, seed=seed)[0] for seed in range(40)]
    shares = torch.cat(stacked).numpy() / (20_000 // 20)
    variance = (1 / classes) * (1 - 1 / classes) / (classes * alpha + 1)
    assert abs(shares.mean() - 1 / classes) < 1e-9
    np.testing.assert_allclose(shares.var(axis=0).mean(), variance, rtol=0.15)


def test_a_small_alpha_gives_few_labels_and_a_large_one_all_alike():
    few, _ = counts(0.05)
    alike, _ = counts(1000.0)
    assert float((few > 0).sum(1).float().mean()) < 6
    assert bool(((alike - 200).abs() < 50).all())


def test_honest_and_byzantine_mixes_differ():
    table, _ = counts(0.3, honest=10, byzantine=10)
    assert not torch.equal(table[:10], table[10:])


def test_a_rare_class_is_oversampled_to_the_drawn_counts():
    labels = torch.cat([torch.zeros(3, dtype=torch.int64), torch.ones(997, dtype=torch.int64)])
    table, shards = counts(1.0, labels=labels)
    assert int(table[:, 0].sum()) > 100
    times = torch.bincount(torch.cat(shards))[:3]
    assert int(times.max() - times.min()) <= 1


def test_disjoint_mode_refuses_more_workers_than_samples():
    with pytest.raises(ValueError, match=r"honest \+ byzantine = 5, with 4 samples"):
        counts(1.0, "disjoint", honest=4, byzantine=1, labels=torch.arange(4))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0}, "alpha = 0; allowed: a finite number > 0"),
        ({"alpha": float("nan")}, "alpha = nan"),
        ({"alpha": float("inf")}, "alpha = inf"),
        ({"alpha": 1.0, "mode": "mixed"}, "mode = 'mixed'; allowed: 'resampled', 'disjoint'"),
    ],
)
def test_impossible_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Dirichlet(**arguments)
