import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.data import Shards, partition_counts
from wola.data.shards import label_hands


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), workers=st.integers(1, 15), c=st.integers(1, 12), data=st.data()
)
def test_hands_have_k_different_labels_and_labels_evenly_many_holders(seed, workers, c, data):
    k = data.draw(st.integers(1, c))
    hands = label_hands(np.arange(c), workers, k, np.random.default_rng(seed))
    assert [len(set(hand.tolist())) for hand in hands] == [k] * workers
    holders = np.bincount(np.concatenate(hands), minlength=c)
    assert holders.max() - holders.min() <= 1


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_each_worker_holds_k_labels_and_no_sample_repeats(k):
    labels = torch.arange(1000) % 10
    shards = Shards(k).partition(labels, honest=10, generator=torch.Generator().manual_seed(1))
    table = partition_counts(labels, shards, 10)
    assert (table > 0).sum(1).tolist() == [k] * 10
    assert torch.cat(shards).sort().values.tolist() == list(range(1000))


def test_a_label_with_fewer_samples_than_holders_reaches_all_of_them():
    labels = torch.tensor([0] * 2 + [1] * 50)
    shards = Shards(2).partition(labels, honest=5, generator=torch.Generator().manual_seed(1))
    table = partition_counts(labels, shards, 2)
    assert table[:, 0].tolist() == [1] * 5
    assert int(table[:, 1].sum()) == 50


def test_more_labels_than_there_are_is_refused():
    with pytest.raises(ValueError, match="k = 3; allowed: at most 2"):
        Shards(3).partition(torch.tensor([0, 0, 4]), honest=1, generator=torch.Generator())
    with pytest.raises(ValueError, match="k = 0; allowed: an int >= 1"):
        Shards(0)
