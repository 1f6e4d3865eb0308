import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.data import Dataset, Dirichlet, label_shift, load, partition_counts
from wola.labels import global_distribution

DATA = Dataset.from_arrays(np.eye(8), [0, 0, 0, 0, 1, 1, 2, 2], np.eye(8)[:4], [0, 1, 2, 2])


def shares(labels):
    return [sum(1 for label in labels if label == c) / len(labels) for c in range(3)]


def distance(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


@given(
    st.lists(st.lists(st.integers(0, 7), min_size=1), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), min_size=1),
    st.data(),
)
def test_both_distances_are_those_of_the_definition(rows, tested, data):
    honest = data.draw(st.integers(1, len(rows)))
    shards = [torch.tensor(row) for row in rows]
    mix = label_shift(DATA, shards, honest, torch.tensor(tested))
    train, test = [0, 0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 2]
    held = [train[i] for row in rows[:honest] for i in row]
    seen = [test[i] for i in tested]
    assert mix.train == pytest.approx(shares(train))
    assert mix.workers == pytest.approx(shares(held))
    assert mix.test == pytest.approx(shares(test))
    assert mix.tested == pytest.approx(shares(seen))
    assert mix.train_shift == pytest.approx(distance(shares(train), shares(held)))
    assert mix.test_shift == pytest.approx(distance(shares(test), shares(seen)))


def test_one_line_says_both_distances():
    mix = label_shift(DATA, [torch.tensor([0, 1, 2, 4])], 1, torch.tensor([0, 1]))
    assert mix.describe() == (
        "labels: the workers' mix differs from the data's by 0.25 (total variation), "
        "the test set's by 0.50"
    )


@pytest.mark.parametrize("mode", ["resampled", "disjoint"])
def test_resampling_moves_the_test_set_and_dividing_does_not(mode):
    data, partition = load("digits"), Dirichlet(0.3, mode)
    draws = torch.Generator().manual_seed(1)
    shards = partition.partition(data.y_train, honest=5, byzantine=2, generator=draws)
    p = global_distribution(partition_counts(data.y_train, shards[:5], 10))
    tested = partition.test_indices(data.y_test, p, generator=draws)
    mix = label_shift(data, shards, 5, tested)
    assert (mix.test_shift == 0) == (mode == "disjoint")
    assert mix.train_shift > 0


@pytest.mark.parametrize("honest", [0, 2])
def test_an_impossible_number_of_honest_workers_is_refused(honest):
    with pytest.raises(ValueError, match=f"honest = {honest}; allowed: 1 to 1"):
        label_shift(DATA, [torch.tensor([0])], honest, torch.arange(4))
