"""Reports of one class."""

import pytest
import torch

from tests.labels.dishonest import distributions
from wola.labels import DiracDistribution


def generator(seed=1):
    return torch.Generator().manual_seed(seed)


def test_the_class_that_is_named_takes_all_mass():
    lies = DiracDistribution(label=3)(distributions(5, 4, 0), 2)
    assert lies.tolist() == [[0.0, 0.0, 0.0, 1.0]] * 2


def test_without_a_name_each_attacker_draws_a_class_of_its_own():
    lies = DiracDistribution()(distributions(5, 4, 0), 400, generator=generator())
    assert set(lies.sum(1).tolist()) == {1.0}
    shares = lies.mean(0)
    assert ((shares - 0.25).abs() < 0.1).all()
    again = DiracDistribution()(distributions(5, 4, 0), 400, generator=generator())
    assert torch.equal(lies, again)


def test_a_class_that_is_not_there_and_a_missing_generator_are_named():
    with pytest.raises(ValueError, match="label = 4; allowed with 4 classes: 0 to 3"):
        DiracDistribution(label=4)(distributions(5, 4, 0), 1)
    with pytest.raises(ValueError, match="label = -1; allowed: an int >= 0"):
        DiracDistribution(label=-1)
    with pytest.raises(ValueError, match="draws classes and generator is None; allowed: a torch"):
        DiracDistribution()(distributions(5, 4, 0), 1)
