"""What rules that read label reports share: reports that are none, and estimates of classes."""

import numpy as np
import pytest
import torch

from tests.aggregation.label_skew import generator, skewed_workers
from wola.aggregation import GReco, HullGuard, Mean, TooFewUpdates, View
from wola.aggregation.label_rule import class_estimates, reports_of
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.attacks import OptimalALIE, WorstOf
from wola.mixing import NNM

RULES = [GReco(), HullGuard(subsets=20, bucket=1, rule=Mean()), NNM() | GReco()]
NO_REPORTS = [[np.nan, 0.5, 0.5], [np.inf, 0.0, 0.0], [1.5, -0.5, 0.0], [0.5, 0.5, 0.1]]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("bad", NO_REPORTS, ids=str)
@pytest.mark.parametrize("worker", [0, 5, 11])
def test_a_worker_whose_report_is_none_is_dropped_and_changes_nothing_but_n_and_f(
    rule, bad, worker
):
    x, reports = skewed_workers(12, 3)
    reports[worker] = bad
    names = [f"w{i:02}" for i in range(12)]
    outcome = rule.at(View(labels=reports, workers=names)).aggregate(x, 3, generator())
    others = [i for i in range(12) if i != worker]
    left = View(labels=reports[others], workers=[names[i] for i in others])
    expected = rule.at(left).aggregate(x[others], 2, generator())
    assert outcome.dropped == (worker,)
    np.testing.assert_array_equal(outcome.update, expected.update)
    assert outcome.weights[worker] == 0
    np.testing.assert_array_equal(outcome.weights[others], expected.weights)


def test_a_bad_report_and_a_bad_update_are_both_dropped():
    x, reports = skewed_workers(12, 3)
    reports[2] = 0.0
    x[7, 1] = np.nan
    outcome = GReco().at(View(labels=reports)).aggregate(x, 3)
    others = [i for i in range(12) if i not in (2, 7)]
    expected = GReco().at(View(labels=reports[others]))(x[others], 1)
    assert outcome.dropped == (2, 7)
    np.testing.assert_array_equal(outcome.update, expected)
    blocks = [x[:, :11], x[:, 11:]]
    result = GReco().at(View(labels=reports)).blocks(blocks, 3)
    np.testing.assert_allclose(result, expected, atol=1e-12)


def test_if_nobody_reports_there_is_nothing_to_aggregate():
    x, reports = skewed_workers(5, 3)
    with pytest.raises(TooFewUpdates, match="none of 5 workers reports a label distribution"):
        GReco().at(View(labels=2 * reports))(x, 1)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shape", [(3, 4), (8, 4), (1, 2), (0, 3)])
def test_class_estimates_are_pseudo_inverses(seed, shape):
    rng = np.random.default_rng(seed)
    reports = rng.dirichlet(np.ones(shape[1]), size=(2, shape[0]))
    reports[0, shape[0] // 2 :] = reports[0, :1]
    estimates, rounded = class_estimates(reports)
    expected = np.linalg.pinv(reports, rcond=1e-9)
    np.testing.assert_allclose(
        estimates, expected, atol=1e-9 * (1 + np.abs(expected).max(initial=0))
    )
    assert rounded.shape == (2,)
    assert (rounded < 1e-5).all()


def test_reports_that_differ_by_rounding_alone_are_not_told_apart():
    reports = np.array([[0.3, 0.7], [0.3 + 1e-13, 0.7 - 1e-13]])
    assert np.abs(class_estimates(reports)[0]).max() < 2


def test_reports_are_mixed_with_the_points():
    x, reports = skewed_workers(5, 3)
    space = Space(Matrix(torch.from_numpy(x)), view=View(labels=reports))
    matrix = np.random.default_rng(1).random((3, 5))
    np.testing.assert_allclose(reports_of(space.mix(matrix)), matrix @ reports)
    with pytest.raises(ValueError, match=r"labels has shape \(5, 3\); allowed: \(3, C\)"):
        reports_of(space.mix(matrix, View(labels=reports)))


@pytest.mark.parametrize("rule", RULES[:2], ids=str)
@pytest.mark.parametrize("attack", [OptimalALIE(evaluations=6), WorstOf()], ids=["search", "worst"])
@pytest.mark.parametrize("broken", [False, True])
def test_an_attack_that_optimises_against_the_rule_sees_the_reports(rule, attack, broken):
    x, reports = skewed_workers(13, 3)
    x[0] = np.nan
    rows = range(0 if broken else 1, 13)
    bound = rule.at(View(labels=reports).of_rows(rows))
    lies = attack(torch.from_numpy(x[:10])[0 if broken else 1 :], 3, bound, generator())
    bound, honest = rule.at(View(labels=reports[1:])), torch.from_numpy(x[1:10])
    moved = bound(torch.cat([honest, lies]), 3, generator()) - honest.mean(0)
    alike = honest.mean(0).expand(3, -1)
    silent = bound(torch.cat([honest, alike]), 3, generator()) - honest.mean(0)
    assert moved.norm() >= silent.norm() * (1 - 1e-9)
