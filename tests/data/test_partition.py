import numpy as np
import pytest
import torch

from wola.data import (
    PARTITIONS,
    Clients,
    Dirichlet,
    FromIndices,
    GammaSimilarity,
    Groups,
    Iid,
    IndicesFile,
    Shards,
    load,
    partition_counts,
    resampled_test_indices,
)

LABELS = torch.from_numpy(np.random.default_rng(0).integers(0, 10, 1003))
ALL = [
    Dirichlet(0.3),
    Dirichlet(0.01),
    Dirichlet(0.3, mode="disjoint"),
    Dirichlet(1e-3, mode="disjoint"),
    Iid(),
    Shards(2),
    GammaSimilarity(0.5),
    Groups(0.5),
    Groups(1.0),
    FromIndices(honest=[[i] for i in range(11)], byzantine=[[i, i + 1] for i in range(6)]),
]


def seeded(seed=1):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("partition", ALL, ids=str)
class TestEveryPartition:
    def test_no_worker_is_empty_and_all_indices_are_samples(self, partition):
        shards = partition.partition(LABELS, honest=11, byzantine=6, generator=seeded())
        assert len(shards) == 17
        for shard in shards:
            assert shard.dtype == torch.int64
            assert shard.numel() > 0
            assert 0 <= int(shard.min()) <= int(shard.max()) < len(LABELS)

    def test_the_generator_alone_decides(self, partition):
        torch.manual_seed(0)
        np_state = np.random.get_state()[1].copy()  # noqa: NPY002
        state = torch.get_rng_state()
        first, again, other = (
            partition.partition(LABELS, honest=11, byzantine=6, generator=seeded(seed))
            for seed in (1, 1, 2)
        )
        assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
        if not isinstance(partition, FromIndices):
            assert not all(torch.equal(a, b) for a, b in zip(first, other, strict=True))
        assert torch.equal(state, torch.get_rng_state())
        assert (np_state == np.random.get_state()[1]).all()  # noqa: NPY002

    def test_the_labels_are_left_as_they_were(self, partition):
        labels = LABELS.clone()
        partition.partition(labels, honest=11, byzantine=6, generator=seeded())
        assert torch.equal(labels, LABELS)

    def test_more_workers_than_samples_are_refused(self, partition):
        with pytest.raises(ValueError, match=r"honest = 11, with 5 samples"):
            partition.partition(LABELS[:5], honest=11, byzantine=6, generator=seeded())

    def test_it_says_what_it_means_in_one_line(self, partition):
        assert partition.describe()
        assert "\n" not in partition.describe()

    def test_it_can_be_compared_and_hashed(self, partition):
        assert partition == type(partition)(**vars(partition))
        assert len({partition, type(partition)(**vars(partition))}) == 1


@pytest.mark.parametrize(
    "partition", [Dirichlet(0.3), Dirichlet(0.01), Iid(), Shards(2), GammaSimilarity(0.5)], ids=str
)
def test_honest_shards_do_not_depend_on_the_byzantine(partition):
    without = partition.partition(LABELS, honest=11, generator=seeded())
    among = partition.partition(LABELS, honest=11, byzantine=6, generator=seeded())
    assert all(torch.equal(a, b) for a, b in zip(without, among[:11], strict=True))


def test_more_byzantine_than_honest_workers_all_get_shards():
    shards = Iid().partition(LABELS, honest=3, byzantine=8, generator=seeded())
    assert [len(shard) for shard in shards] == [334] * 11


@pytest.mark.parametrize("partition", ALL[:-1], ids=str)
def test_one_worker_per_sample_is_possible(partition):
    labels = torch.tensor([0, 0, 0, 1, 1, 2])
    shards = partition.partition(labels, honest=6, generator=seeded())
    assert all(len(shard) >= 1 for shard in shards)


@pytest.mark.parametrize("partition", ALL[:-1], ids=str)
def test_classes_without_samples_are_no_obstacle(partition):
    labels = torch.tensor([1, 5] * 20)
    shards = partition.partition(labels, honest=4, byzantine=2, classes=9, generator=seeded())
    counts = partition_counts(labels, shards, classes=9)
    assert (counts.sum(1) > 0).all()
    assert set(torch.nonzero(counts.sum(0)).flatten().tolist()) == {1, 5}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"honest": 0}, "honest = 0; allowed: an int >= 1"),
        ({"honest": 2, "byzantine": -1}, "byzantine = -1; allowed: an int >= 0"),
        ({"honest": 2, "classes": 3}, "labels must lie between 0 and 2, got 9"),
    ],
)
def test_impossible_numbers_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        Iid().partition(LABELS, **arguments, generator=seeded())


def test_a_number_of_workers_that_is_no_int_is_named_with_its_type():
    with pytest.raises(TypeError, match="honest = True is a bool; allowed: an int >= 1"):
        Iid().partition(LABELS, honest=True, generator=seeded())


def test_the_registry_names_every_partition_that_can_be_written_as_text():
    assert set(PARTITIONS) == {
        "iid", "dirichlet", "shards", "gamma-similarity", "groups", "clients", "indices"
    }  # fmt: skip
    drawn = {type(partition) for partition in ALL if not isinstance(partition, FromIndices)}
    assert drawn | {Clients, IndicesFile} == set(PARTITIONS.values())


def test_shards_similarity_and_groups_have_defaults():
    assert PARTITIONS["shards"]() == Shards(2)
    assert PARTITIONS["gamma-similarity"]() == GammaSimilarity(0.5)
    assert PARTITIONS["groups"]() == Groups(0.5)


@pytest.mark.parametrize("partition", ALL[:-1], ids=str)
def test_drawn_partitions_take_any_number_of_workers_and_ignore_clients(partition):
    assert partition.workers(load("iris")) is None
    assert partition.files() == []
    plain, named = (
        partition.partition(LABELS, honest=12, clients=clients, generator=seeded())
        for clients in (None, torch.arange(len(LABELS)))
    )
    assert all(torch.equal(a, b) for a, b in zip(plain, named, strict=True))


class TestResampledTestSet:
    labels = torch.arange(1000) % 4

    def test_classes_follow_the_distribution_and_the_size_is_kept(self):
        p = torch.tensor([0.7, 0.1, 0.2, 0.0])
        chosen = resampled_test_indices(self.labels, p, generator=seeded())
        assert torch.bincount(self.labels[chosen], minlength=4).tolist() == [700, 100, 200, 0]

    def test_samples_repeat_only_where_the_pool_is_too_small(self):
        p = torch.tensor([0.7, 0.1, 0.2, 0.0])
        times = torch.bincount(resampled_test_indices(self.labels, p, generator=seeded()))
        first = times[self.labels[: len(times)] == 0]
        assert set(first.tolist()) == {2, 3}
        assert int(times[self.labels[: len(times)] != 0].max()) == 1

    def test_the_natural_distribution_keeps_every_sample(self):
        chosen = resampled_test_indices(self.labels, torch.full((4,), 0.25), generator=seeded())
        assert chosen.sort().values.tolist() == list(range(1000))

    def test_a_class_without_test_samples_leaves_its_share_to_the_others(self):
        labels = torch.tensor([0, 0, 2, 2])
        p = torch.tensor([0.25, 0.5, 0.25])
        chosen = resampled_test_indices(labels, p, generator=seeded())
        assert torch.bincount(labels[chosen]).tolist() == [2, 0, 2]

    def test_no_mass_on_any_test_class_is_refused(self):
        with pytest.raises(ValueError, match=r"allowed: some mass on a class of the test set"):
            resampled_test_indices(torch.tensor([0]), torch.tensor([0.0, 1.0]), generator=seeded())

    def test_partitions_resample_only_where_their_definition_says_so(self):
        p = torch.tensor([1.0, 0, 0, 0])
        for partition in ALL:
            chosen = partition.test_indices(self.labels, p, generator=seeded())
            resampled = isinstance(partition, Dirichlet) and partition.mode == "resampled"
            assert len(chosen) == 1000
            assert (chosen.unique().numel() == 250) == resampled
