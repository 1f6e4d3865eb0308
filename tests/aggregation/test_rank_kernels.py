"""The compiled kernels of ranks do what their Python text says: the same rules, not compiled."""

import numpy as np
import pytest
import torch

from tests.aggregation.uncompiled import hard_updates, uncompiled
from tests.rules import updates
from wola.aggregation import (
    CoordinateMedian,
    MeaMed,
    Mean,
    TrimmedMean,
    _rank_kernels,
    columns,
    products,
)
from wola.mixing import FoundationFL

KERNELS = [
    (CoordinateMedian(), "network_mean"),
    (TrimmedMean(), "network_mean"),
    (MeaMed(), "network_mean_around_median"),
    (FoundationFL() | Mean(), "distances_to_extremes"),
]


@pytest.mark.parametrize(("rule", "kernel"), KERNELS, ids=str)
@pytest.mark.parametrize(("n", "d"), [(5, _rank_kernels.NETWORK_BLOCK + 3), (8, 20)])
def test_rules_give_the_same_without_compiling(rule, kernel, n, d, monkeypatch):
    x = torch.from_numpy(updates(n, d))
    compiled = rule(x, 1)
    calls = uncompiled(monkeypatch, _rank_kernels, columns, products)
    torch.testing.assert_close(rule(x, 1), compiled, rtol=0, atol=1e-12)
    assert calls[kernel]


@pytest.mark.parametrize("rule", [TrimmedMean(), MeaMed()], ids=str)
def test_hard_updates_give_the_same_without_compiling(rule, monkeypatch):
    inputs = hard_updates()
    compiled = [rule(x, 2) for x in inputs]
    calls = uncompiled(monkeypatch, _rank_kernels, columns, products)
    for x, expected in zip(inputs, compiled, strict=True):
        np.testing.assert_allclose(rule(x, 2), expected, rtol=0, atol=1e-9)
    assert calls
