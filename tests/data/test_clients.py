import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.data import Clients, Dataset, load

LABELS = torch.arange(40) % 4
OWNERS = torch.tensor([5, 1, 9, 3, 7] * 8)


def seeded(seed=1):
    return torch.Generator().manual_seed(seed)


def divided(clients=OWNERS, *, honest=5, byzantine=0, seed=1):
    labels = torch.arange(len(clients)) % 2
    return Clients().partition(
        labels, honest=honest, byzantine=byzantine, clients=clients, generator=seeded(seed)
    )


def test_every_client_is_a_worker_in_sorted_order_with_its_own_samples():
    shards = divided()
    expected = [[i for i in range(40) if int(OWNERS[i]) == client] for client in (1, 3, 5, 7, 9)]
    assert [shard.tolist() for shard in shards] == expected
    assert all(shard.dtype == torch.int64 for shard in shards)


@given(
    st.lists(st.integers(0, 6), min_size=7, max_size=60), st.integers(0, 3), st.integers(0, 1000)
)
def test_every_sample_is_at_one_worker_and_each_group_is_in_order(extra, byzantine, seed):
    clients = torch.tensor([*range(7), *extra])
    shards = divided(clients, honest=7 - byzantine, byzantine=byzantine, seed=seed)
    assert sorted(torch.cat(shards).tolist()) == list(range(len(clients)))
    owners = [set(clients[shard].tolist()) for shard in shards]
    assert all(len(owner) == 1 for owner in owners)
    names = [owner.pop() for owner in owners]
    assert names[: 7 - byzantine] == sorted(names[: 7 - byzantine])
    assert names[7 - byzantine :] == sorted(names[7 - byzantine :])


@given(st.permutations(range(5)), st.integers(0, 1000))
def test_which_clients_lie_does_not_depend_on_their_names(renamed, seed):
    plain = OWNERS // 2
    other = torch.tensor(renamed)[plain]
    liars = [
        {tuple(shard.tolist()) for shard in divided(c, honest=3, byzantine=2, seed=seed)[3:]}
        for c in (plain, other)
    ]
    assert liars[0] == liars[1]


def test_the_generator_decides_who_lies_and_everybody_may():
    liars = {int(OWNERS[divided(honest=4, byzantine=1, seed=seed)[-1][0]]) for seed in range(60)}
    assert liars == {1, 3, 5, 7, 9}


def test_the_data_say_how_many_workers_there_are():
    dataset = Dataset.from_arrays(torch.eye(40), LABELS, clients=OWNERS)
    assert Clients().workers(dataset) == 5


def test_a_client_whose_samples_all_went_to_the_test_set_is_named():
    names = ["a", "b"] * 20
    held_out = int(Dataset.from_arrays(torch.eye(40), LABELS).x_test[0].argmax())
    names[held_out] = "lonely"
    dataset = Dataset.from_arrays(torch.eye(40), LABELS, clients=names)
    with pytest.raises(ValueError, match="client 'lonely' of 'arrays' has 0 training samples"):
        Clients().workers(dataset)


def test_data_without_clients_are_refused():
    with pytest.raises(ValueError, match="dataset = 'iris', which names no clients; allowed"):
        Clients().workers(load("iris"))
    with pytest.raises(ValueError, match="clients = None; allowed with the partition clients"):
        Clients().partition(LABELS, honest=2, generator=seeded())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"honest": 2, "byzantine": 3}, "byzantine = 3; allowed with 5 clients: 0 to 2"),
        ({"honest": 0, "byzantine": 5}, "byzantine = 5; allowed with 5 clients: 0 to 2"),
        ({"honest": 17}, r"honest \+ byzantine = 17; allowed: 5, the clients of the data"),
        ({"honest": 6, "byzantine": -1}, "byzantine = -1"),
    ],
)
def test_another_number_of_workers_or_too_many_liars_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        divided(**arguments)


def test_half_of_the_clients_are_too_many_liars():
    with pytest.raises(ValueError, match="byzantine = 2; allowed with 4 clients: 0 to 1"):
        divided(torch.arange(4), honest=2, byzantine=2)


def test_clients_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"clients has shape \(3,\); allowed: \(40,\)"):
        Clients().partition(LABELS, honest=2, clients=OWNERS[:3], generator=seeded())


def test_the_test_set_stays_as_it_is():
    p = torch.tensor([1.0, 0, 0, 0])
    assert Clients().test_indices(LABELS, p, generator=seeded()).tolist() == list(range(40))
    assert "\n" not in Clients().describe()
