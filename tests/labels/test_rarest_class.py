"""Reports of the rarest class."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.labels.dishonest import distributions, shift
from wola.aggregation import Mean
from wola.labels import RarestClass, Shared, WorstDistribution


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 9), st.integers(1, 8), st.integers(0, 999))
def test_the_rarest_class_takes_all_mass(h, classes, seed):
    honest = distributions(h, classes, seed, alpha=1.0)
    lies = RarestClass()(honest, 2)
    assert lies.shape == (2, classes)
    rarest = int(np.argmin(honest.numpy().mean(0)))
    assert lies.tolist() == [np.eye(classes)[rarest].tolist()] * 2


def test_ties_of_the_rarest_class_go_to_the_lowest_index():
    honest = torch.tensor([[0.5, 0.0, 0.5, 0.0]])
    assert RarestClass()(honest, 1).tolist() == [[0.0, 1.0, 0.0, 0.0]]


@pytest.mark.parametrize("seed", range(5))
def test_no_report_moves_the_plain_mean_farther_than_the_rarest_class(seed):
    honest = distributions(11, 6, seed)
    mean = Shared(Mean())
    lies = RarestClass()(honest, 4)
    expected = 4 / 15 * (2 - 2 * float(honest.mean(0).min()))
    assert shift(honest, lies, mean) == pytest.approx(expected)
    worst = WorstDistribution()(honest, 4, objective=mean)
    assert shift(honest, worst, mean) == pytest.approx(expected)
