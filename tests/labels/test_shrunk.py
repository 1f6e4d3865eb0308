"""An estimated objective drawn towards the uniform distribution."""

import numpy as np
import pytest
import torch

from wola.aggregation import Mean
from wola.labels import RarestClass, Shared, Shrunk, total_variation

REPORTS = torch.from_numpy(np.random.default_rng(1).dirichlet([0.3] * 5, size=11))


@pytest.mark.parametrize("f", [0, 2, 5])
def test_it_lies_between_the_shared_objective_and_the_uniform_one(f):
    shared = Shared(Mean())(REPORTS, f)
    a = 2 * f / 11
    expected = [(1 - a) * float(value) + a / 5 for value in shared]
    assert Shrunk(Mean())(REPORTS, f).tolist() == pytest.approx(expected, rel=1e-12)
    assert Shrunk(Mean(), share=0.25)(REPORTS, f).tolist() == pytest.approx(
        [0.75 * float(value) + 0.05 for value in shared], rel=1e-12
    )


def test_without_attackers_it_is_the_shared_objective():
    assert torch.equal(Shrunk()(REPORTS, 0), Shared()(REPORTS, 0))


def test_attackers_move_it_less_than_the_shared_objective():
    honest, f = REPORTS[:7], 4
    lies = RarestClass()(honest, f, objective=Shared())
    both = torch.cat([honest, lies])

    def moved(objective):
        return float(total_variation(objective(both, f), objective(torch.cat([honest] * 2), f)))

    assert moved(Shrunk()) < 0.5 * moved(Shared())
    assert float(Shrunk()(both, f).min()) >= 2 * f / 11 / 5


@pytest.mark.parametrize("share", [-0.5, 1.1])
def test_the_share_lies_between_zero_and_one(share):
    with pytest.raises(ValueError, match=r"share = .*; allowed: a finite number >= 0 and <= 1"):
        Shrunk(share=share)
