"""Infinities."""

import torch

from tests.attacks.sample import honest_updates
from wola.aggregation import TrimmedMean
from wola.attacks import Infinite


def test_every_coordinate_is_infinite():
    assert torch.equal(Infinite()(torch.ones(4, 3), 2), torch.full((2, 3), float("inf")))


def test_a_rule_survives_it():
    honest = honest_updates(5, 4)
    aggregate = TrimmedMean()(torch.cat([honest, Infinite()(honest, 2)]), f=2)
    torch.testing.assert_close(aggregate, honest.mean(0))
