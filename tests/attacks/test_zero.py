"""Zeros."""

import torch

from wola.attacks import Zero


def test_every_coordinate_is_zero():
    assert torch.equal(Zero()(torch.ones(4, 3), 2), torch.zeros(2, 3))
