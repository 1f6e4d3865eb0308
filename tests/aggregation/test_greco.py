"""GReco against its definition, and what must always hold."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import label_reference as reference
from tests.aggregation.label_skew import skewed_workers
from wola.aggregation import GReco, MissingReference, View
from wola.aggregation.greco import representatives
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.mixing import ARC, NNM


def at(reports, rule=None):
    return (rule or GReco()).at(View(labels=reports))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("n", "classes", "d"), [(7, 3, 2), (11, 4, 30), (17, 10, 60), (9, 2, 30)])
def test_it_is_its_definition(seed, n, classes, d):
    x, reports = skewed_workers(n, classes, d=d, seed=seed)
    for f in (0, 1, (n - 1) // 2):
        for count in (1, 4, 6):
            result = at(reports, GReco(count))(x, f)
            expected = reference.greco(x, f, reports, count) if f else x.mean(axis=0)
            np.testing.assert_allclose(result, expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_the_representatives_are_those_of_plain_projections(seed):
    x, reports = skewed_workers(9, 4, seed=seed)
    chosen = representatives(Space(Matrix(torch.from_numpy(x))), reports, 4)
    assert chosen.argmax(axis=1).tolist() == reference.greco_representatives(x, 4)
    assert chosen.sum(axis=1).tolist() == [1.0] * 4


def test_no_more_representatives_than_the_updates_span():
    x, reports = skewed_workers(9, 4, d=2)
    assert len(representatives(Space(Matrix(torch.from_numpy(x))), reports, 4)) == 2
    nothing = Space(Matrix(torch.zeros(9, 2, dtype=torch.float64)))
    assert len(representatives(nothing, reports, 4)) == 0


@pytest.mark.parametrize("seed", range(5))
def test_updates_that_their_reports_explain_are_kept_and_sign_flips_are_not(seed):
    x, reports = skewed_workers(17, 4, liars=4, noise=0.0, seed=seed)
    weights = at(reports).weights(x, 4)
    np.testing.assert_allclose(weights[:4], 0)
    np.testing.assert_allclose(weights[4:], 1 / 13)


def test_a_lie_about_labels_moves_the_worker_and_nobody_else():
    x, reports = skewed_workers(11, 3, noise=0.0)
    shortest = int(np.argmin((x**2).sum(axis=1)))
    reports[shortest] = np.eye(3)[reports[shortest].argmin()]
    weights = at(reports).weights(x, 1)
    assert weights[shortest] == 0
    np.testing.assert_allclose(np.delete(weights, shortest), 0.1)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 999), st.permutations(range(9)))
def test_the_order_of_the_workers_decides_nothing_where_updates_and_reports_tie(seed, order):
    rng = np.random.default_rng(seed)
    x = rng.integers(-1, 2, (9, 3)).astype(float)
    reports = np.eye(2)[rng.integers(0, 2, 9)]
    one, other = at(reports).weights(x, 3), at(reports[order]).weights(x[order], 3)
    np.testing.assert_allclose(one[order], other, atol=1e-12)


def test_mixings_mix_the_reports_too():
    x, reports = skewed_workers(11, 3)
    matrix = NNM().matrix(x, 3)
    chain = at(reports, NNM() | GReco())(x, 3)
    np.testing.assert_allclose(chain, at(matrix @ reports)(matrix @ x, 3), atol=1e-10)
    outcome = at(reports, NNM() | GReco()).aggregate(x, 3)
    np.testing.assert_allclose(outcome.weights @ x, outcome.update, atol=1e-12)


def test_lengths_bounded_first_keep_a_liar_with_a_huge_update_from_carrying_it_off():
    x, reports = skewed_workers(11, 3, liars=2)
    x[:2] *= 1e6
    honest = x[2:].mean(axis=0)
    alone = np.linalg.norm(at(reports)(x, 2) - honest)
    bounded = np.linalg.norm(at(reports, ARC() | GReco())(x, 2) - honest)
    assert bounded < 1 < 1e3 < alone


def test_zero_updates_are_kept_only_where_there_is_nothing_better():
    x, reports = skewed_workers(9, 3, noise=0.0)
    x[4] = 0.0
    weights = at(reports).weights(x, 1)
    assert weights[4] == 0
    assert not at(reports)(np.zeros((9, 5)), 4).any()


def test_reports_are_asked_for_in_words():
    x, reports = skewed_workers(5, 3)
    message = r"needs the label distributions .* allowed: rule.at\(View\(labels=...\)\)"
    with pytest.raises(MissingReference, match=message):
        GReco()(x, 1)
    with pytest.raises(MissingReference, match=message):
        GReco().at(View())
    with pytest.raises(ValueError, match=r"labels has shape \(5,\); allowed: \(n, C\)"):
        GReco().at(View(labels=reports[:, 0]))
    with pytest.raises(ValueError, match=r"labels has shape \(4, 3\); allowed: \(5, C\)"):
        at(reports[:4])(x, 1)
    with pytest.raises(ValueError, match="representatives = 0"):
        GReco(representatives=0)
