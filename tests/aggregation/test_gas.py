"""Gradient splitting."""

import numpy as np
import pytest
import torch

from tests import reference, reference_newer_rules
from tests.rules import generator, split_columns, updates
from wola.aggregation import (
    GAS,
    Bulyan,
    ComparativeGradientElimination,
    CoordinateMedian,
    Krum,
    MultiKrum,
    TrimmedMean,
)
from wola.mixing import NNM, FoundationFL

BASES = {
    Krum(): reference.krum,
    MultiKrum(): reference.multi_krum,
    Bulyan(): reference.bulyan,
    CoordinateMedian(): lambda x, f: reference.coordinate_median(x),
    ComparativeGradientElimination(): reference.comparative_gradient_elimination,
    NNM() | TrimmedMean(): lambda x, f: reference.trimmed_mean(reference.nnm(x, f), f),
    FoundationFL() | TrimmedMean(): lambda x, f: reference.trimmed_mean(
        reference.foundation_fl(x), f
    ),
}


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("groups", [1, 4, 30, 1000])
def test_it_is_the_reference_around_any_rule(base, groups):
    for n, f in ((7, 1), (15, 3)):
        x = updates(n, 30, seed=groups)
        split = [np.arange(30)] if groups == 1 else split_columns(x, groups)
        expected = reference_newer_rules.gas(x, f, split, BASES[base])
        result = GAS(base, groups)(x, f, generator())
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("scale", [1e-290, 1e-150, 1e150, 1e290])
def test_the_scale_of_the_updates_changes_no_weight(base, scale):
    x = updates(11, 20)
    expected = GAS(base, 4).weights(x, 2, generator())
    np.testing.assert_array_equal(GAS(base, 4).weights(scale * x, 2, generator()), expected)


@pytest.mark.parametrize("base", BASES, ids=str)
def test_the_split_does_not_depend_on_the_order_of_the_workers_nor_on_the_blocks(base):
    x = torch.from_numpy(updates(11, 300))
    rule = GAS(base, 7)
    expected = rule(x, 2, generator())
    order = torch.randperm(11, generator=generator())
    torch.testing.assert_close(rule(x[order], 2, generator()), expected, rtol=0, atol=1e-12)
    blocks = list(torch.split(x, 37, dim=1))
    torch.testing.assert_close(rule.blocks(blocks, 2, generator()), expected, rtol=0, atol=1e-12)


def test_liars_that_hide_in_the_whole_stand_out_in_the_groups():
    # Each liar is far off in one column alone: no farther, over all columns, than honest updates.
    rng = np.random.default_rng(3)
    x = rng.normal(size=(9, 400))
    x[:2] = 0.0
    x[0, 5], x[1, 9] = 60.0, 60.0
    split = split_columns(x, 40)
    scores = np.zeros(9)
    for group in split:
        base = reference.krum(x[:, group], 2)
        scores += [reference.distance(row, base) for row in x[:, group]]
    kept = np.argsort(scores)[:7]
    np.testing.assert_allclose(GAS(groups=40)(x, 2, generator()), x[kept].mean(axis=0), atol=1e-12)


def test_without_a_generator_it_works_only_where_nothing_is_drawn():
    x = updates(7, 20)
    with pytest.raises(ValueError, match="splits columns and generator is None; allowed"):
        GAS(groups=5)(x, 2)
    for groups in (1, 20, 1000):
        assert np.isfinite(GAS(groups=groups)(x, 2)).all()
    np.testing.assert_allclose(GAS(groups=5)(x, 0), x.mean(axis=0))


def test_it_accepts_what_its_base_rule_accepts():
    assert GAS().max_byzantine(17) == 8
    assert GAS(Bulyan()).max_byzantine(17) == 3
    with pytest.raises(ValueError, match="n = 17 workers allows f <= 3, not f = 4"):
        GAS(Bulyan())(updates(17, 4), 4)


@pytest.mark.parametrize(("name", "value"), [("groups", 0), ("groups", 2.5), ("rule", "krum")])
def test_bad_parameters_are_refused(name, value):
    with pytest.raises((ValueError, TypeError), match=f"{name} = "):
        GAS(**{name: value})
