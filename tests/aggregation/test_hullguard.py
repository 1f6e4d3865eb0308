"""HullGuard against its definition, its draws, and what it refuses."""

import numpy as np
import pytest
import torch

from tests import label_reference as reference
from tests.aggregation.label_skew import generator, skewed_workers
from wola.aggregation import FLTrust, HullGuard, Mean, TooFewUpdates, TrimmedMean, View, hullguard
from wola.aggregation.hullguard import shares_of_smaller
from wola.mixing import Bucketing

SMALL = HullGuard(subsets=60)
WEIGHING = HullGuard(subsets=60, bucket=1, rule=Mean())


def at(reports, rule=SMALL, names=None):
    return rule.at(View(labels=reports, workers=names))


def drawn(n, rule=SMALL):
    # Names are compared as texts: 10 comes before 2.
    ranks = np.argsort(np.argsort([str(i) for i in range(n)]))
    one, two, three = reference.hullguard_draws(n, rule.subsets, rule.estimates, generator())
    return one[:, ranks], two[..., ranks], three[ranks]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "classes"), [(11, 2), (14, 3)])
def test_it_is_its_definition(seed, n, classes):
    x, reports = skewed_workers(n, classes, liars=3, seed=seed)
    for f in (1, 4):
        draws = drawn(n)
        np.testing.assert_allclose(
            at(reports)(x, f, generator()), reference.hullguard(x, f, reports, draws), atol=1e-10
        )
        kept = reference.hullguard_kept(x, f, reports, draws)
        weights = at(reports, WEIGHING).weights(x, f, generator())
        assert np.flatnonzero(weights).tolist() == sorted(kept)
        np.testing.assert_allclose(weights[kept], 1 / (n - f))


def test_all_are_kept_where_nobody_lies():
    x, reports = skewed_workers(9, 2)
    np.testing.assert_allclose(at(reports, WEIGHING)(x, 0, generator()), x.mean(axis=0))
    draws = reference.hullguard_draws(9, 0, 0, generator())
    expected = reference.hullguard(x, 0, reports, draws, bucket=3)
    result = at(reports, HullGuard(bucket=3))(x, 0, generator())
    np.testing.assert_allclose(result, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_spread_does_not_depend_on_how_many_subsets_are_looked_at_together(monkeypatch, seed):
    x, reports = skewed_workers(11, 2, liars=3, seed=seed)
    whole = at(reports, WEIGHING).weights(x, 3, generator())
    monkeypatch.setattr(hullguard, "BATCH", 7 * 5 * 11 * 2)
    # The draws are the same numbers, in the same order, whatever is looked at together.
    assert np.array_equal(at(reports, WEIGHING).weights(x, 3, generator()), whole)


def test_liars_score_low():
    share = []
    for seed in range(5):
        x, reports = skewed_workers(18, 3, liars=4, noise=0.01, seed=seed)
        rule = HullGuard(subsets=300, bucket=1, rule=Mean())
        share.append(at(reports, rule).weights(x, 4, generator(seed))[:4].sum())
    assert np.mean(share) < 0.5 * 4 / 18


def test_updates_that_share_a_huge_common_part_are_told_apart():
    x, reports = skewed_workers(11, 2, liars=3)
    moved = at(reports, WEIGHING).weights(x + 1e6, 3, generator())
    assert np.array_equal(moved, at(reports, WEIGHING).weights(x, 3, generator()))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rule", [SMALL, WEIGHING], ids=str)
def test_with_names_the_order_of_the_rows_decides_nothing(rule, seed):
    x, reports = skewed_workers(11, 2, liars=3, seed=seed)
    order = np.random.default_rng(seed).permutation(11)
    names = [f"site {i}" for i in range(11)]
    one = at(reports, rule, names)(x, 3, generator())
    other = at(reports[order], rule, [names[i] for i in order])(x[order], 3, generator())
    np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_same_generator_draws_the_same_and_another_one_others():
    x, reports = skewed_workers(12, 2, noise=1.0)
    rule = at(reports, HullGuard(subsets=10, bucket=1, rule=Mean()))
    found = {tuple(rule.weights(x, 3, generator(seed)).tolist()) for seed in range(20)}
    assert len(found) > 3
    assert np.array_equal(rule(x, 3, generator(1)), rule(x, 3, generator(1)))
    with pytest.raises(ValueError, match="draws workers and generator is None; allowed: a torch"):
        rule(x, 3)


@pytest.mark.parametrize(("n", "f", "least"), [(8, 3, 6), (6, 0, 6), (17, 8, 20)])
def test_too_few_workers_are_refused_with_the_reason(n, f, least):
    classes = least // 2
    x, reports = skewed_workers(n, classes)
    message = (
        rf"C = {classes} classes needs n - f > 2 C = {least} workers, since its estimates are from "
        rf"2 C of n - f workers and must differ; n = {n}, f = {f} leaves {n - f}"
    )
    with pytest.raises(ValueError, match=message):
        at(reports)(x, f, generator())
    assert at(reports).max_byzantine(n) < f


def test_the_largest_f_leaves_more_than_two_workers_for_each_class():
    bound = at(np.full((20, 3), 1 / 3))
    assert [bound.max_byzantine(n) for n in (6, 7, 8, 9, 13, 14, 20)] == [-1, 0, 1, 2, 6, 6, 9]
    chain = at(np.full((20, 3), 1 / 3), Bucketing(size=2) | SMALL)
    assert chain.max_byzantine(20) == 3


def test_too_many_broken_workers_are_too_few_updates():
    x, reports = skewed_workers(8, 3)
    x[:2] = np.nan
    with pytest.raises(TooFewUpdates, match="n = 6, f = 0 leaves 6"):
        at(reports)(x, 1, generator())


@pytest.mark.parametrize("seed", range(5))
def test_shares_count_pairs_with_halves_for_ties(seed):
    rng = np.random.default_rng(seed)
    members, spreads = rng.random((12, 5)) < 0.6, rng.integers(0, 4, 12).astype(float)
    members[:, 4] = True
    sets = [set(np.flatnonzero(row).tolist()) for row in members]
    expected = reference.hullguard_scores(5, sets, spreads.tolist())
    np.testing.assert_allclose(shares_of_smaller(members, spreads, np.zeros(12)), expected)
    noise = 1e-6 * rng.random(12)
    found = shares_of_smaller(members, spreads + noise, np.full(12, 1e-6))
    np.testing.assert_allclose(found, expected)


def test_the_last_rule_may_be_another():
    x, reports = skewed_workers(11, 2, liars=3)
    rule = at(reports, HullGuard(subsets=60, bucket=1, rule=TrimmedMean()))
    draws = drawn(11)
    kept = x[reference.hullguard_kept(x, 3, reports, draws)]
    expected = np.sort(kept, axis=0)[3:-3].mean(axis=0)
    np.testing.assert_allclose(rule(x, 3, generator()), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"subsets": 0}, ValueError, "subsets = 0"),
        ({"estimates": 1}, ValueError, "estimates = 1; allowed: an int >= 2"),
        ({"bucket": 0}, ValueError, "bucket = 0"),
        ({"rule": "mean"}, TypeError, "rule = 'mean' is a str; allowed: a Rule"),
        ({"rule": FLTrust()}, ValueError, "allowed: a rule that needs nothing"),
    ],
)
def test_bad_parameters_are_named(fields, error, message):
    with pytest.raises(error, match=message):
        HullGuard(**fields)


def test_float32_tensors_come_back_as_they_came():
    x, reports = skewed_workers(11, 2)
    result = at(torch.from_numpy(reports))(torch.from_numpy(x).float(), 3, generator())
    assert result.dtype == torch.float32
