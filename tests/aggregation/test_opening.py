"""The first pass: what is dropped, and updates whose squares leave float64's range."""

import numpy as np
import pytest
import torch

from tests.rules import MIXINGS, PLAIN_RULES, RULES, generator, updates
from wola.aggregation import CenteredClipping, GeometricMedian, Mean, TooFewUpdates, TrimmedMean
from wola.aggregation.opening import open_space
from wola.aggregation.source import Matrix
from wola.mixing import NNM, Clipping

FACTORS = [1e-300, 1e-200, 1e-160, 1e-80, 1e80, 1e150, 1e160, 1e250, 1e300]
SCALING = [entry for entry in RULES if entry.options.get("scale", True)]
SCALING_MIXINGS = [entry for entry in MIXINGS if entry.options.get("scale", True)]


def assert_scaled(result, expected, x, factor, tolerance=1e-7):
    largest = np.abs(x).max()
    unscaled = np.asarray(result, dtype=np.float64) / factor
    np.testing.assert_allclose(unscaled, expected, rtol=0, atol=tolerance * largest)


@pytest.mark.parametrize("entry", [*SCALING, *SCALING_MIXINGS], ids=str)
def test_a_factor_passes_through_over_the_range_of_float64(entry):
    call = entry.rule if hasattr(entry, "rule") else entry.mixing
    x = updates(8, 6)
    expected = call(x, 1, generator())
    for factor in FACTORS:
        assert_scaled(call(factor * x, 1, generator()), expected, x, factor)


@pytest.mark.parametrize("entry", [*SCALING, *SCALING_MIXINGS], ids=str)
@pytest.mark.parametrize("factor", [1e-30, 1e-20, 1e20, 1e37])
def test_a_factor_passes_through_over_the_range_of_float32(entry, factor):
    call = entry.rule if hasattr(entry, "rule") else entry.mixing
    x = updates(8, 6).astype(np.float32)
    scaled = (np.float64(factor) * x).astype(np.float32)
    assert_scaled(call(scaled, 1, generator()), call(x, 1, generator()), x, factor, 1e-5)


@pytest.mark.parametrize(
    "scaled",
    [
        lambda c: GeometricMedian(iterations=10, nu=0.1 * c),
        lambda c: CenteredClipping(tau=2.0 * c, iterations=3),
        lambda c: Clipping(max_norm=2.0 * c),
        lambda c: Clipping(max_norm=2.0 * c) | NNM() | TrimmedMean(),
    ],
    ids=["geometric median", "centred clipping", "clipping", "a chain"],
)
def test_absolute_lengths_scale_along(scaled):
    x = updates(8, 6)
    expected = scaled(1.0)(x, 1)
    for factor in FACTORS:
        assert_scaled(scaled(factor)(factor * x, 1), expected, x, factor)


def test_ordinary_updates_are_not_scaled():
    for dtype in (torch.float32, torch.float64):
        for factor in (1e-30, 1.0, 1e30):
            x = torch.from_numpy(factor * updates(5, 4)).to(dtype)
            assert open_space(Matrix(x), 1, needs_products=True)[0].exponent == 0


def test_finite_updates_whose_squares_overflow_are_not_dropped():
    x = 1e200 * updates(7, 5)
    assert Mean().aggregate(x, 1).dropped == ()
    x[2, 3] = np.nan
    assert Mean().aggregate(x, 1).dropped == (2,)


def test_an_update_whose_norm_overflows_is_dropped():
    x = np.full((5, 4), 1e307)
    x[1] = 1.5e308
    for rule in (Mean(), TrimmedMean()):
        assert rule.aggregate(x, 1).dropped == (1,)


@pytest.mark.parametrize("factor", [1e-200, 1.0, 1e100])
def test_an_update_far_too_large_beside_the_others_is_dropped_at_any_scale(factor):
    x = factor * updates(7, 5)
    x[4] = factor * 1e170
    assert Mean().aggregate(x, 1).dropped == (4,)
    np.testing.assert_allclose(Mean()(x, 1), np.delete(x, 4, axis=0).mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("value", [1e170, 1.6e308, np.inf])
def test_a_worker_that_is_dropped_does_not_change_the_unit_of_the_others(value):
    x = updates(7, 5)
    x[4] = value
    space, source, _ = open_space(Matrix(torch.from_numpy(x)), 1, needs_products=True)
    assert source.rows.tolist() == [0, 1, 2, 3, 5, 6]
    assert space.exponent == 0
    np.testing.assert_allclose(space.norms, np.linalg.norm(np.delete(x, 4, 0), axis=1), rtol=1e-9)


def test_zeros_in_float64_are_ordinary():
    x = updates(5, 4)
    x[:2] = 0.0
    assert Mean().aggregate(x, 1).dropped == ()
    assert not Mean()(np.zeros((3, 2)), 1).any()


def test_all_updates_that_are_not_finite_are_too_few():
    with pytest.raises(TooFewUpdates, match="all 3 updates"):
        Mean()(np.full((3, 2), np.inf), 1)


AVERAGES = [entry for entry in PLAIN_RULES if entry.options.get("average", True)]
AVERAGES += [entry for entry in RULES[len(PLAIN_RULES) :] if entry.options.get("average", True)]


@pytest.mark.parametrize("entry", AVERAGES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_updates_come_back_to_the_last_bit(entry, dtype):
    for n in (3, 7, 17):
        if n > entry.most_workers:
            continue
        row = updates(1, 1100, seed=n)[0].astype(dtype)
        x = np.tile(row, (n, 1))
        for f in {0, entry.rule.max_byzantine(n)}:
            np.testing.assert_array_equal(entry.rule(x, f, generator()), row)


SELECTING = [e for e in AVERAGES if e.options.get("agreement", True) and "CAF" not in str(e)]


@pytest.mark.parametrize("entry", SELECTING, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_updates_that_agree_come_back_to_the_last_bit_beside_liars(entry, dtype):
    n = 10
    f = entry.rule.max_byzantine(n)
    row = updates(1, 1100)[0].astype(dtype)
    x = np.tile(row, (n, 1))
    x[:f] += 50 + updates(f, 1100, seed=2).astype(dtype)
    np.testing.assert_array_equal(entry.rule(x, f, generator()), row)
