"""What every attack on the training objective takes and gives."""

import pytest
import torch

from tests.labels.dishonest import distributions
from wola.labels import (
    DiracDistribution,
    OutlierDistribution,
    ProjectedDistribution,
    RandomDistribution,
    RarestClass,
    UniformDistribution,
    WorstDistribution,
)
from wola.labels.simplex import is_distribution
from wola.training.registry import OBJECTIVE_ATTACKS

ATTACKS = [
    RarestClass(),
    OutlierDistribution(),
    WorstDistribution(beam=3, rounds=2),
    DiracDistribution(label=1),
    DiracDistribution(),
    UniformDistribution(),
    RandomDistribution(),
    ProjectedDistribution(),
]


def test_every_lie_that_a_scenario_can_name_is_tried():
    assert {type(attack) for attack in ATTACKS} == set(OBJECTIVE_ATTACKS.values())


def generator(seed=1):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("attack", ATTACKS)
def test_reports_are_distributions_and_the_honest_ones_stay_untouched(attack):
    honest = distributions(9, 5, 4)
    before = honest.clone()
    lies = attack(honest, 3, generator=generator())
    assert lies.shape == (3, 5)
    assert lies.dtype == torch.float64
    assert is_distribution(lies).all()
    lies[:] = 7.0
    assert torch.equal(honest, before)


@pytest.mark.parametrize("attack", ATTACKS)
def test_nobody_reports_nothing(attack):
    assert attack(distributions(4, 3, 0), 0, generator=generator()).shape == (0, 3)


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(
    ("honest", "f", "error", "words"),
    [
        (torch.ones(0, 2), 1, ValueError, "honest must have at least one row and one class"),
        (torch.ones(2), 1, ValueError, "honest must have 2 dimensions"),
        (torch.ones(2, 2), 1, ValueError, "honest must have distributions as rows"),
        (torch.full((2, 2), float("nan")), 1, ValueError, "honest must have distributions"),
        (torch.full((2, 2), 0.5), -1, ValueError, "f = -1; allowed: an int >= 0"),
        (torch.full((2, 2), 0.5), 1.5, TypeError, "f = 1.5 is a float; allowed: an int >= 0"),
    ],
)
def test_bad_input_is_refused(attack, honest, f, error, words):
    with pytest.raises(error, match=words):
        attack(honest, f, generator=generator())


@pytest.mark.parametrize("attack", ATTACKS[:-1])
def test_what_was_reported_once_is_told_in_every_round(attack):
    reports, updates = distributions(7, 3, 1), torch.randn(7, 5, generator=generator())
    assert torch.equal(attack.told(reports, updates, 4), reports[4:])
