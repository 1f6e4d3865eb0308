"""Groups of workers, one per class, against the definition."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.data import Groups, partition_counts

CLASSES, EACH = 4, 4000
LABELS = torch.arange(CLASSES * EACH) % CLASSES


def seeded(seed=1):
    return torch.Generator().manual_seed(seed)


def table(p, n, seed=1, labels=LABELS):
    shards = Groups(p).partition(labels, honest=n, generator=seeded(seed))
    assert torch.equal(torch.cat(shards).sort().values, torch.arange(len(labels)))
    return partition_counts(labels, shards, CLASSES)


def within(found, share, draws=EACH, deviations=5.5):
    """Whether a count lies so near to its expectation as a binomial one nearly always does."""
    return abs(found - share * draws) <= deviations * math.sqrt(draws * share * (1 - share))


@pytest.mark.parametrize("p", [0.5, 0.1, 0.25, 0.9, 0.0, 1.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_worker_gets_of_every_class_what_its_group_may_expect(p, seed):
    counts = table(p, 8, seed)
    # Two workers in each of four groups: the class that a worker has most (or least) of is its own.
    extreme = counts.argmax(1) if p > 1 / CLASSES else counts.argmin(1)
    if p != 1 / CLASSES:
        assert extreme.bincount(minlength=CLASSES).tolist() == [2] * CLASSES
    for worker, row in enumerate(counts):
        for label, found in enumerate(row.tolist()):
            own = label == int(extreme[worker])
            share = (p if own else (1 - p) / (CLASSES - 1)) / 2
            assert within(found, share)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 9, 11])
def test_groups_have_floor_or_ceil_of_n_over_c_workers_and_share_evenly(n):
    counts = table(1.0, n)
    assert ((counts > 0).sum(1) == 1).all()
    sizes = (counts > 0).sum(0).tolist()
    assert sorted(sizes) == sorted(n // CLASSES + (k < n % CLASSES) for k in range(CLASSES))
    for label, size in enumerate(sizes):
        for found in counts[:, label][counts[:, label] > 0].tolist():
            assert within(found, 1 / size)


def test_which_class_has_the_larger_groups_is_drawn():
    draws, labels = 400, LABELS[:400]
    largest = [int((table(1.0, 5, seed, labels) > 0).sum(0).argmax()) for seed in range(draws)]
    found = torch.tensor(largest).bincount(minlength=CLASSES).tolist()
    assert all(within(count, 1 / CLASSES, draws) for count in found)


def test_which_worker_is_in_which_group_is_drawn():
    draws = 400
    labels = LABELS[:400]
    firsts = [int(table(1.0, 4, seed, labels)[0].argmax()) for seed in range(draws)]
    found = torch.tensor(firsts).bincount(minlength=CLASSES).tolist()
    assert all(within(count, 1 / CLASSES, draws) for count in found)


def test_the_byzantine_are_members_of_the_groups_like_all_others():
    together = Groups().partition(LABELS, honest=5, byzantine=3, generator=seeded())
    plain = Groups().partition(LABELS, honest=8, generator=seeded())
    assert all(torch.equal(a, b) for a, b in zip(together, plain, strict=True))


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.integers(0, 3), min_size=1, max_size=12),
    p=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_no_worker_is_left_without_a_sample_and_none_is_lost(labels, p, seed, data):
    n = data.draw(st.integers(len(set(labels)), len(labels)))
    shards = Groups(p).partition(torch.tensor(labels), honest=n, generator=seeded(seed))
    assert len(shards) == n
    assert all(len(shard) for shard in shards)
    assert torch.cat(shards).sort().values.tolist() == list(range(len(labels)))


def test_one_class_alone_goes_to_its_one_group_whatever_p_is():
    shards = Groups(0.0).partition(torch.zeros(50).long(), honest=3, generator=seeded())
    assert sorted(torch.cat(shards).tolist()) == list(range(50))


def test_a_group_without_workers_is_refused():
    with pytest.raises(
        ValueError, match=r"honest \+ byzantine = 3, with 4 classes; allowed: at least 4, a worker"
    ):
        Groups().partition(LABELS, honest=2, byzantine=1, generator=seeded())


def test_more_workers_than_samples_are_refused():
    with pytest.raises(ValueError, match=r"honest \+ byzantine = 9, with 8 samples; allowed: at m"):
        Groups().partition(LABELS[:8], honest=7, byzantine=2, generator=seeded())


@pytest.mark.parametrize("p", [-0.1, 1.5, math.nan])
def test_an_impossible_p_is_named(p):
    with pytest.raises(ValueError, match=rf"p = {p}; allowed: 0 to 1"):
        Groups(p)
