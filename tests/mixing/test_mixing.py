"""Every mixing: the public battery, the float64 references, and chains of them."""

import numpy as np
import pytest
import torch

from tests.rules import MIXINGS, assert_close, generator, sizes, updates
from wola.aggregation import CoordinateMedian, GeometricMedian, Krum, Mean, MultiKrum, TrimmedMean
from wola.mixing import ARC, NNM, Bucketing, Chain, Clipping, FiniteOnly, FoundationFL, MixingChain
from wola.testing import check_mixing

EVERY_MIXING = pytest.mark.parametrize("entry", MIXINGS, ids=str)


@EVERY_MIXING
def test_the_battery_passes(entry):
    check_mixing(entry.mixing, **entry.options)


@EVERY_MIXING
def test_the_mixtures_are_the_reference_in_float64(entry):
    for n, f, d in sizes():
        x = updates(n, d)
        if accepts(entry.mixing, n, f):
            result = entry.mixing(torch.from_numpy(x), f, generator())
            assert_close(result, entry.reference(x, f), x, 1e-10)


@EVERY_MIXING
def test_the_mixtures_are_the_reference_in_float32_up_to_rounding(entry):
    for n, f, d in sizes():
        x = updates(n, d, seed=1).astype(np.float32)
        if accepts(entry.mixing, n, f):
            result = entry.mixing(x, f, generator())
            assert result.dtype == np.float32
            assert_close(result, entry.reference(x.astype(np.float64), f), x, 2e-6)


def accepts(mixing, n, f):
    try:
        mixing.check(n, f)
    except ValueError:
        return False
    return True


@EVERY_MIXING
@pytest.mark.parametrize("d", [511, 512, 513, 1040, 1041, 8191, 8192, 8193])
def test_the_mixtures_are_the_reference_at_the_edges_of_the_kernels_blocks(entry, d):
    x = updates(6, d)
    result = entry.mixing(torch.from_numpy(x), 1, generator())
    assert_close(result, entry.reference(x, 1), x, 1e-10)


@EVERY_MIXING
@pytest.mark.parametrize("rule", [Mean(), TrimmedMean(), MultiKrum(), GeometricMedian()], ids=str)
def test_a_chain_gives_what_the_rule_makes_of_the_mixtures(entry, rule):
    x = torch.from_numpy(updates(13, 30))
    chain = entry.mixing | rule
    expected = rule(entry.mixing(x, 2, generator()), 2)
    torch.testing.assert_close(chain(x, 2, generator()), expected, rtol=0, atol=1e-8)
    weights = chain.weights(x, 2, generator())
    if weights is not None:
        torch.testing.assert_close(weights @ x, expected, rtol=0, atol=1e-8)


def test_chains_flatten_whichever_way_they_are_bracketed():
    a, b, rule = NNM(), ARC(), Krum()
    assert (a | b) | rule == a | (b | rule) == Chain((a, b), rule)
    assert a | (b | FiniteOnly()) == MixingChain((a, b, FiniteOnly()))
    assert str(a | b | rule) == "NNM() | ARC() | Krum(power=2.0)"
    assert str(a | b) == "NNM() | ARC()"


@pytest.mark.parametrize("other", [3, None, "Mean", Mean])
def test_only_a_mixing_or_a_rule_can_follow(other):
    with pytest.raises(TypeError):
        NNM() | other


def test_a_rule_cannot_be_followed():
    with pytest.raises(TypeError):
        Mean() | NNM()


def test_chain_weights_are_over_the_original_workers_with_zeros_for_dropped_ones():
    x = updates(9, 20)
    x[4, 3] = np.nan
    chain = ARC() | NNM() | Krum()
    weights = chain.weights(x, 3)
    assert weights.shape == (9,)
    assert weights[4] == 0
    kept = np.delete(x, 4, axis=0)
    np.testing.assert_allclose(np.delete(weights, 4) @ kept, chain(kept, 2), atol=1e-12)
    assert chain.aggregate(x, 3).dropped == (4,)


def test_a_chain_ending_in_a_coordinate_wise_rule_has_no_weights():
    assert (NNM() | CoordinateMedian()).weights(updates(5, 3), 1) is None


def test_a_chain_checks_every_part_with_the_count_that_reaches_it():
    chain = Bucketing(size=3) | Krum()
    assert chain.max_byzantine(11) == 1
    with pytest.raises(ValueError, match="11"):
        chain(torch.zeros(11, 2), 2, generator())
    chain.check(11, 1)
    grown = FoundationFL() | TrimmedMean()
    assert grown.max_byzantine(11) == 5


def test_blocks_of_a_chain_that_looks_at_coordinates_twice_give_the_whole():
    x = updates(9, 90)
    chain = NNM() | FoundationFL() | TrimmedMean()
    blocks = np.split(x, [30, 31], axis=1)
    np.testing.assert_allclose(chain.blocks(blocks, 3), chain(x, 3), atol=1e-12)


@EVERY_MIXING
def test_a_mixing_is_a_frozen_value(entry):
    assert hash(entry.mixing) == hash(entry.mixing)
    with pytest.raises(AttributeError):
        entry.mixing.anything = 1


X = torch.arange(15.0).reshape(5, 3)


@pytest.mark.parametrize(
    ("bad", "f", "error", "message"),
    [
        (X[0], 1, ValueError, "updates"),
        (X[:0], 0, ValueError, "n = 0"),
        ([], 0, ValueError, "n = 0"),
        ([X[0], X[1, :2], X[2]], 1, ValueError, r"updates\[1\]"),
        ([X[0], X[1].double(), X[2]], 1, TypeError, r"updates\[1\]"),
        (X.int(), 1, TypeError, "int32"),
        (X.tolist(), 1, TypeError, r"updates\[0\] is a list"),
        (X, -1, ValueError, "f = -1"),
        (X, 1.0, TypeError, "f = 1.0"),
        (X, True, (TypeError, ValueError), "f = True"),
        (X, 3, ValueError, "n = 5.* 3$"),
    ],
    ids=["1-d", "no rows", "no", "ragged", "mixed", "ints", "lists", "-1", "1.0", "True", "3"],
)
def test_bad_input_is_refused_by_name(bad, f, error, message):
    for mixing in (FiniteOnly(), NNM(), ARC(), FoundationFL(), Clipping(), NNM() | ARC()):
        with pytest.raises(error, match=message):
            mixing(bad, f)
        with pytest.raises(error, match=message):
            mixing.matrix(bad, f)
