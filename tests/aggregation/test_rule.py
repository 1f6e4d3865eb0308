"""What all rules share: preconditions, huge common parts, hostile magnitudes."""

import random

import numpy as np
import pytest
import torch

from tests import reference
from tests.rules import RULES, assert_close, generator, updates
from wola.aggregation import (
    CAF,
    SMEA,
    Bulyan,
    ComparativeGradientElimination,
    GeometricMedian,
    Krum,
    Mean,
    MinimumDiameterAveraging,
    MultiKrum,
    TrimmedMean,
)
from wola.mixing import NNM


@pytest.mark.parametrize("entry", RULES, ids=str)
def test_max_byzantine_is_what_check_accepts(entry):
    for n in range(1, 60):
        accepted = [f for f in range(n) if _accepts(entry.rule, n, f)]
        most = entry.rule.max_byzantine(n)
        assert accepted == list(range(most + 1)), f"n = {n}, max_byzantine = {most}"


def _accepts(rule, n, f):
    try:
        rule.check(n, f)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("n", [0, -3])
def test_no_workers_are_refused(n):
    with pytest.raises(ValueError, match=f"n = {n}"):
        Mean().check(n, 0)


SELECTIVE = [
    entry
    for entry in RULES
    if str(entry)
    in {
        *map(str, (Krum(), MultiKrum(), MinimumDiameterAveraging(), Bulyan(), CAF(), SMEA())),
        *map(str, (GeometricMedian(), NNM() | MultiKrum(), NNM() | TrimmedMean())),
    }
]


@pytest.mark.parametrize("entry", SELECTIVE, ids=str)
@pytest.mark.parametrize("d", [30, 3000])
def test_a_huge_common_part_does_not_hide_small_differences(entry, d):
    n = 9
    f = entry.rule.max_byzantine(n)
    rng = np.random.default_rng(d)
    common = rng.normal(size=d)
    common *= 1e6 / np.linalg.norm(common)
    x = common + rng.normal(size=(n, d)) * (1e-2 / np.sqrt(d)) * rng.uniform(0.5, 1.5, (n, 1))
    difference = entry.rule(x, f) - entry.reference(x, f)
    assert np.linalg.norm(difference) < 1e-6


@pytest.mark.parametrize("entry", SELECTIVE, ids=str)
def test_a_huge_common_coordinate_does_not_hide_small_differences_in_float32(entry):
    n, d = 9, 2000
    f = entry.rule.max_byzantine(n)
    rng = np.random.default_rng(5)
    x = rng.normal(size=(n, d)) * (1e-2 / np.sqrt(d)) * rng.uniform(0.5, 1.5, (n, 1))
    x[:, ::100] += 1e6
    x = x.astype(np.float32)
    expected = entry.reference(x.astype(np.float64), f)
    small = np.arange(d) % 100 != 0
    # The small coordinates tell which workers were chosen; they must agree to their own size.
    np.testing.assert_allclose(entry.rule(x, f)[small], expected[small], rtol=0, atol=2e-8)


def test_elimination_tells_norms_apart_that_differ_by_a_part_in_a_hundred_million():
    rng = np.random.default_rng(2)
    common = rng.normal(size=500)
    common *= 1e6 / np.linalg.norm(common)
    x = common * (1 + 1e-8 * rng.permutation(9)[:, None])
    rule = ComparativeGradientElimination()
    expected = reference.comparative_gradient_elimination(x, 4)
    assert np.linalg.norm(rule(x, 4) - expected) < 1e-4


# The reference of the geometric median cannot tell such updates apart; it has its own test.
ROBUST = [
    entry
    for entry in RULES
    if entry.options.get("agreement", True) and not isinstance(entry.rule, GeometricMedian)
]


@pytest.mark.parametrize("entry", ROBUST, ids=str)
@pytest.mark.parametrize("magnitude", [1e8, 1e15, 1e30])
def test_one_finite_worker_far_away_does_not_blur_the_others(entry, magnitude):
    n, d = 9, 40
    f = entry.rule.max_byzantine(n)
    x = updates(n, d).astype(np.float32)
    x[3] = magnitude * np.sign(x[3])
    expected = entry.reference(x.astype(np.float64), f)
    result = entry.rule(x, f, generator())
    assert_close(result, expected, np.delete(x, 3, axis=0), 1e-5)


@pytest.mark.parametrize("entry", ROBUST, ids=str)
def test_f_finite_workers_far_away_do_not_blur_the_others(entry):
    n, d = 9, 40
    f = entry.rule.max_byzantine(n)
    x = updates(n, d).astype(np.float32)
    x[:f] *= np.float32(1e20) * np.arange(1, f + 1, dtype=np.float32)[:, None]
    expected = entry.reference(x.astype(np.float64), f)
    assert_close(entry.rule(x, f, generator()), expected, x[f:], 1e-5)


def test_a_worker_far_away_drops_nobody_else():
    x = np.array([[135594.0], [31.0], [1e-5], [2e-5], [1e9]])
    for rule in (MultiKrum(), GeometricMedian(), ComparativeGradientElimination(), Mean()):
        assert rule.aggregate(x, 1).dropped == ()


def test_rules_leave_every_global_generator_alone_even_when_they_shuffle():
    states = torch.get_rng_state(), random.getstate()
    for entry in RULES:
        entry.rule(torch.from_numpy(updates(9, 4)), 1, generator())
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
