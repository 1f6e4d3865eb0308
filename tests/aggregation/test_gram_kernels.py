"""The compiled kernels of inner products do what their Python text says."""

import numpy as np
import pytest
import torch

from tests.aggregation.uncompiled import hard_updates, uncompiled
from tests.rules import updates
from wola.aggregation import Krum, Mean, MultiKrum, _gram_kernels, products, space

KERNELS = [
    (Mean(), {"row_energies", "weighted_sum"}),
    (Krum(), {"gram", "weighted_sum"}),
    (MultiKrum(), {"gram", "weighted_sum"}),
]


@pytest.mark.parametrize(
    ("rule", "kernels"), KERNELS, ids=lambda given: "" if isinstance(given, set) else str(given)
)
@pytest.mark.parametrize(("n", "d"), [(5, _gram_kernels.GRAM_BLOCK + 3), (8, 20)])
def test_rules_give_the_same_without_compiling(rule, kernels, n, d, monkeypatch):
    x = torch.from_numpy(updates(n, d))
    compiled = rule(x, 1)
    calls = uncompiled(monkeypatch, _gram_kernels, products, space)
    torch.testing.assert_close(rule(x, 1), compiled, rtol=0, atol=1e-12)
    assert kernels <= calls.keys()


def test_hard_updates_give_the_same_without_compiling(monkeypatch):
    inputs = hard_updates()
    compiled = [Krum()(x, 2) for x in inputs]
    calls = uncompiled(monkeypatch, _gram_kernels, products, space)
    for x, expected in zip(inputs, compiled, strict=True):
        np.testing.assert_allclose(Krum()(x, 2), expected, rtol=0, atol=1e-9)
    assert {"gram", "well_centred"} <= calls.keys()
