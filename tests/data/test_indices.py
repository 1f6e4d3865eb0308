import numpy as np
import pytest
import torch

from wola.data import FromIndices

LABELS = torch.tensor([0, 1, 2])


def shards(given, honest, byzantine=0):
    return given.partition(LABELS, honest=honest, byzantine=byzantine, generator=torch.Generator())


def test_lists_arrays_and_tensors_are_taken_and_repeats_kept():
    given = FromIndices([[0, 0], np.array([1])], byzantine=[torch.tensor([2])])
    made = shards(given, 2, 1)
    assert [shard.tolist() for shard in made] == [[0, 0], [1], [2]]
    assert given == FromIndices([(0, 0), (1,)], byzantine=[(2,)])


def test_an_empty_worker_is_refused_unless_asked_for():
    with pytest.raises(ValueError, match=r"honest\[1\] is empty; allowed"):
        FromIndices([[0], []])
    made = shards(FromIndices([[0], []], allow_empty=True), 2)
    assert [len(shard) for shard in made] == [1, 0]


def test_another_number_of_workers_is_refused():
    with pytest.raises(ValueError, match="honest = 3; allowed: 2"):
        shards(FromIndices([[0], [1]]), 3)
    with pytest.raises(ValueError, match="byzantine = 1; allowed: 0"):
        shards(FromIndices([[0], [1]]), 2, 1)


@pytest.mark.parametrize("index", [-1, 3])
def test_an_index_out_of_range_is_refused(index):
    with pytest.raises(ValueError, match="worker 1 holds index"):
        shards(FromIndices([[0], [index]]), 2)


@pytest.mark.parametrize("wrong", [0.5, True, "1"])
def test_indices_that_are_not_whole_numbers_are_refused(wrong):
    with pytest.raises(TypeError, match=r"honest\[0\] holds"):
        FromIndices([[wrong]])
