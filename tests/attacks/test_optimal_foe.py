"""FOE with the strongest factor."""

from dataclasses import dataclass

import numpy as np
import torch

from tests.attacks.sample import honest_updates
from wola.aggregation import GramRule
from wola.attacks import OptimalFOE


def test_a_peak_between_the_steps_is_found_from_either_side():
    honest = honest_updates(7, 20, seed=4)
    honest = honest - honest.mean(0) + 1.0

    @dataclass(frozen=True)
    class Peak(GramRule):
        """Follows the last update while it is no longer than 3, then lets go of it."""

        def weigh(self, space, f):
            weights = np.zeros(space.n)
            weights[-1] = 1.0 if space.norms[-1] <= 3.0 * 20**0.5 else 0.0
            weights[0] = 1.0 - weights[-1]
            return weights

    rows = OptimalFOE(evaluations=60, start=0.3)(honest, 2, rule=Peak())
    torch.testing.assert_close(rows, torch.full((2, 20), -3.0).double(), rtol=1e-3, atol=1e-3)
