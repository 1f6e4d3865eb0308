"""The compiled kernels do what their Python text says: the same rules, run without compiling."""

import importlib.util

import numba
import numpy as np
import pytest
import torch

from tests.rules import updates
from wola.aggregation import (
    CoordinateMedian,
    Krum,
    MeaMed,
    Mean,
    MultiKrum,
    TrimmedMean,
    _kernels,
    columns,
    space,
)
from wola.mixing import FoundationFL


@pytest.fixture
def uncompiled(monkeypatch):
    """Let the rules run on a copy of the kernels' module in which nothing is compiled."""

    def use():
        with monkeypatch.context() as patch:
            patch.setattr(numba, "njit", lambda *given, **_: given[0] if given else lambda f: f)
            spec = importlib.util.spec_from_file_location("plain_kernels", _kernels.__file__)
            plain = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(plain)
        for module in (columns, space):
            monkeypatch.setattr(module, "_kernels", plain)
        monkeypatch.setattr(columns, "UNROLL_AFTER", 10**12)

    return use


RULES = [
    Mean(),
    CoordinateMedian(),
    TrimmedMean(),
    MeaMed(),
    Krum(),
    MultiKrum(),
    FoundationFL() | TrimmedMean(),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(("n", "d"), [(5, _kernels.NETWORK_BLOCK + 3), (8, 20)])
def test_rules_give_the_same_without_compiling(rule, n, d, uncompiled):
    x = torch.from_numpy(updates(n, d))
    compiled = rule(x, 1)
    uncompiled()
    torch.testing.assert_close(rule(x, 1), compiled, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rule", [Krum(), TrimmedMean(), MeaMed()], ids=str)
def test_hard_updates_give_the_same_without_compiling(rule, uncompiled):
    far = updates(7, 15)
    far[2] *= 1e20
    twins = updates(7, 15)
    twins[4:] = twins[0]
    broken = updates(7, 15)
    broken[3, 3] = np.nan
    inputs = [far, twins, broken]
    compiled = [rule(x, 2) for x in inputs]
    uncompiled()
    for x, expected in zip(inputs, compiled, strict=True):
        np.testing.assert_allclose(rule(x, 2), expected, rtol=0, atol=1e-9)
