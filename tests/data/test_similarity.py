import pytest
import torch

from wola.data import GammaSimilarity, Iid, partition_counts

LABELS = (torch.arange(1000) * 7) % 10


def shards(partition, honest=10):
    return partition.partition(LABELS, honest=honest, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("partition", [Iid(), GammaSimilarity(0.0), GammaSimilarity(0.37)])
@pytest.mark.parametrize("honest", [1, 7, 10])
def test_samples_do_not_repeat_and_sizes_are_equal(partition, honest):
    made = shards(partition, honest)
    together = torch.cat(made)
    assert together.unique().numel() == together.numel()
    assert {len(shard) for shard in made} == {1000 // honest}


def test_without_similarity_each_of_ten_workers_has_one_of_ten_labels():
    table = partition_counts(LABELS, shards(GammaSimilarity(0.0)), 10)
    assert torch.equal(table, 100 * torch.eye(10, dtype=torch.int64))


def test_full_similarity_is_iid():
    pairs = zip(shards(GammaSimilarity(1.0)), shards(Iid()), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


def test_half_similarity_leaves_half_the_samples_sorted():
    table = partition_counts(LABELS, shards(GammaSimilarity(0.5)), 10)
    assert (table.diagonal() > 40).all()
    off_diagonal = table.sum() - table.diagonal().sum()
    assert 380 < int(off_diagonal) < 620


def test_an_impossible_gamma_is_named():
    with pytest.raises(ValueError, match=r"gamma = 1.5; allowed: 0 to 1"):
        GammaSimilarity(1.5)
