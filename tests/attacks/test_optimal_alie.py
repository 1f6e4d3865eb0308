"""ALIE with the strongest factor."""

import numpy as np
import torch

from tests.attacks.sample import honest_updates
from wola.aggregation import GeometricMedian, Krum, TrimmedMean
from wola.attacks import ALIE, OptimalALIE
from wola.mixing import NNM


def shift(rule, honest, rows):
    aggregate = rule(torch.cat([honest, rows]), len(rows))
    return float((aggregate - honest.mean(0)).norm())


def test_on_a_single_peak_it_beats_every_point_of_a_grid():
    honest = honest_updates(9, 60, seed=2)
    rule = GeometricMedian()
    rows = OptimalALIE(evaluations=40, start=0.0)(honest, 3, rule=rule)
    found = shift(rule, honest, rows)
    grid = [shift(rule, honest, ALIE(z=z)(honest, 3)) for z in np.linspace(0.0, 4.0, 81)]
    assert found >= max(grid) * (1 - 1e-4)


def test_a_common_part_however_large_changes_nothing_of_the_choice():
    honest = honest_updates(9, 40) * 1e-2
    for rule in (Krum(), NNM() | TrimmedMean(), GeometricMedian()):
        near = OptimalALIE()(honest, 3, rule=rule)
        far = OptimalALIE()(honest + 1e5, 3, rule=rule) - 1e5
        torch.testing.assert_close(near, far, rtol=1e-3, atol=1e-5)
