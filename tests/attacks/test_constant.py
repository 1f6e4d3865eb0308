import pytest
import torch

from tests.attacks.sample import generator, honest_updates
from wola.aggregation import TrimmedMean
from wola.attacks import Gaussian, Infinite, NaN, Zero


def test_each_constant_attack_sends_its_constant():
    honest = torch.ones(4, 3)
    assert torch.equal(Infinite()(honest, 2), torch.full((2, 3), float("inf")))
    assert NaN()(honest, 2).isnan().all()
    assert torch.equal(Zero()(honest, 2), torch.zeros(2, 3))


def test_a_rule_survives_values_that_are_not_numbers():
    honest = honest_updates(5, 4)
    for attack in (Infinite(), NaN()):
        aggregate = TrimmedMean()(torch.cat([honest, attack(honest, 2)]), f=2)
        torch.testing.assert_close(aggregate, honest.mean(0))


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
