"""Streams are told apart by their names and by nothing else."""

import torch

from tests.training.plain import generator
from wola.training.streams import stream, stream_seed


def test_a_stream_is_its_definition():
    ours, plain = stream(3, "batch", 4, 5), generator(3, "batch", 4, 5)
    assert torch.equal(torch.rand(9, generator=ours), torch.rand(9, generator=plain))


def test_seed_names_and_their_order_all_count():
    seeds = {
        stream_seed(1, "batch", 1, 2),
        stream_seed(2, "batch", 1, 2),
        stream_seed(1, "batch", 2, 1),
        stream_seed(1, "batch", 12),
        stream_seed(1, "batch", "1", 2),
        stream_seed(1, "rule", 1, 2),
    }
    assert len(seeds) == 6
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_global_random_state_is_not_touched():
    before = torch.random.get_rng_state()
    torch.rand(3, generator=stream(1, "attack", 1))
    assert torch.equal(torch.random.get_rng_state(), before)
