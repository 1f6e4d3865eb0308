"""Values that are not numbers."""

import torch

from tests.attacks.sample import honest_updates
from wola.aggregation import TrimmedMean
from wola.attacks import NaN


def test_no_coordinate_is_a_number():
    sent = NaN()(torch.ones(4, 3), 2)
    assert sent.shape == (2, 3)
    assert sent.isnan().all()


def test_a_rule_survives_it():
    honest = honest_updates(5, 4)
    aggregate = TrimmedMean()(torch.cat([honest, NaN()(honest, 2)]), f=2)
    torch.testing.assert_close(aggregate, honest.mean(0))
