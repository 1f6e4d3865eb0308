"""Noise."""

import pytest
import torch

from tests.attacks.sample import generator
from wola.attacks import Gaussian


def test_noise_has_the_mean_and_the_spread_asked_for():
    rows = Gaussian(mean=3.0, std=2.0)(torch.zeros(5, 20_000), 4, generator=generator())
    assert abs(float(rows.mean()) - 3.0) < 4 * 2.0 / 80_000**0.5
    assert abs(float(rows.std()) - 2.0) < 0.03
    assert not torch.equal(rows[0], rows[1])


def test_noise_follows_its_generator_which_moves_on():
    draw = generator(4)
    first = Gaussian()(torch.zeros(3, 5), 2, generator=draw)
    second = Gaussian()(torch.zeros(3, 5), 2, generator=draw)
    assert not torch.equal(first, second)
    assert torch.equal(first, Gaussian()(torch.zeros(3, 5), 2, generator=generator(4)))


def test_noise_without_a_generator_is_refused():
    with pytest.raises(
        ValueError, match=r"Gaussian.*generator is None; allowed: a torch.Generator"
    ):
        Gaussian()(torch.zeros(3, 5), 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(mean=float("nan")), "mean = nan"),
        (lambda: Gaussian(std=-1.0), r"std = -1\.0; allowed: a finite number >= 0"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
