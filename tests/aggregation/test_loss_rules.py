"""Zeno, LFR, ERR and ByGARS on a quadratic loss, where everything has a closed form."""

import numpy as np
import pytest
import torch

from tests import reference
from tests.aggregation.bowl import LR, Bowl
from wola.aggregation import (
    ERR,
    LFR,
    ByGARS,
    CenteredClipping,
    FLTrust,
    FoolsGold,
    LFRandERR,
    Mean,
    MissingReference,
    ReferenceRows,
    TrimmedMean,
    View,
    Zeno,
)
from wola.mixing import NNM

N, F, D = 9, 3, 12


def made(seed):
    rng = np.random.default_rng(seed)
    theta, lowest = rng.normal(size=D), rng.normal(size=D)
    x = theta - lowest + 0.5 * rng.normal(size=(N, D))
    x[N - F :] = -2 * x[N - F :]
    return x, theta, lowest


def view(theta, lowest):
    return View(Bowl(torch.from_numpy(theta), torch.from_numpy(lowest)))


def loss(theta, lowest):
    return float((theta - lowest) @ (theta - lowest)) / 2


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("rho", "trim"), [(5e-4, None), (0.0, 0), (0.2, 2)])
def test_zeno_has_the_scores_of_its_formula(seed, rho, trim):
    x, theta, lowest = made(seed)
    scores = [LR * row @ (theta - lowest) - (LR**2 / 2 + rho) * row @ row for row in x]
    count = N - (F if trim is None else trim)
    expected = reference.shared([-s for s in scores], count) @ x
    rule = Zeno(rho=rho, trim=trim).at(view(theta, lowest))
    np.testing.assert_allclose(rule(x, F), expected, atol=1e-12)
    if trim == 0:
        np.testing.assert_allclose(expected, x.mean(axis=0), atol=1e-12)


def test_zeno_lets_equal_scores_share():
    x, theta, lowest = made(0)
    x[1:4] = x[0]
    weights = Zeno(trim=N - 2).at(view(theta, lowest)).aggregate(x, F).weights
    top = weights[weights > 0]
    assert top.sum() == pytest.approx(1.0)
    assert len({round(float(w), 12) for w in weights[:4]}) == 1


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("inner", [Mean(), TrimmedMean()], ids=str)
def test_lfr_and_err_leave_out_what_harms_most(seed, inner):
    x, theta, lowest = made(seed)
    seen = view(theta, lowest)

    def aggregate(rows):
        f = min(F, (len(rows) - 1) // 2)
        return rows.mean(axis=0) if inner == Mean() else reference.trimmed_mean(rows, f)

    losses, errors = [], []
    for i in range(N):
        away = theta - LR * aggregate(np.delete(x, i, axis=0)) - lowest
        losses.append(float(away @ away) / 2)
        errors.append(float(np.mean(np.abs(away) > 0.5)))
    by_loss = set(sorted(range(N), key=lambda i: losses[i])[:F])
    by_error = set(sorted(range(N), key=lambda i: (errors[i], losses[i]))[:F])
    for rule, out in (
        (LFR(inner), by_loss),
        (ERR(inner), by_error),
        (LFRandERR(inner), by_loss | by_error),
    ):
        rest = x[[i for i in range(N) if i not in out]]
        np.testing.assert_allclose(rule.at(seen)(x, F), aggregate(rest), atol=1e-12)
    assert F <= len(by_loss | by_error) <= 2 * F


def test_harm_of_the_mean_on_a_bowl_has_a_closed_form():
    x, theta, lowest = made(3)
    everyone = theta - LR * x.mean(axis=0)
    harms = []
    for i in range(N):
        without = (x.sum(axis=0) - x[i]) / (N - 1)
        harms.append(loss(everyone, lowest) - loss(theta - LR * without, lowest))
    assert set(np.argsort(harms)[-F:].tolist()) == {6, 7, 8}
    space, _, _ = LFR(Mean()).at(view(theta, lowest)).opened(*source(x), F)
    assert LFR(Mean()).kept(space, F).tolist() == list(range(6))


def source(x):
    from wola.aggregation.source import Matrix

    return (Matrix(torch.from_numpy(x)),)


@pytest.mark.parametrize("rule", [LFR(), ERR(), LFRandERR(), Zeno(), ByGARS()], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_workers_decides_nothing(rule, seed):
    x, theta, lowest = made(seed)
    x[7] = x[2]
    order = np.random.default_rng(seed).permutation(N)
    bound = rule.at(view(theta, lowest))
    np.testing.assert_allclose(bound(x[order], F), bound(x, F), atol=1e-10)


def test_what_ties_with_one_that_stays_is_not_left_out():
    x, theta, lowest = made(1)
    x[:] = x[0]
    np.testing.assert_allclose(LFR(Mean()).at(view(theta, lowest))(x, F), x[0], atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("steps", [1, 3])
def test_bygars_takes_the_steps_of_its_formula(seed, unit, steps):
    x, theta, lowest = made(seed)
    rows = x / np.linalg.norm(x, axis=1, keepdims=True) if unit else x
    q = np.zeros(N)
    for _ in range(steps):
        gradient = theta - LR * q @ rows - lowest
        if unit:
            gradient = gradient / np.linalg.norm(gradient)
        q = q + 0.05 * LR * rows @ gradient
    rule = ByGARS(steps=steps, unit=unit)
    outcome = rule.at(view(theta, lowest)).aggregate(x, F)
    np.testing.assert_allclose(outcome.update, q @ rows, atol=1e-12)
    np.testing.assert_allclose(outcome.weights @ x, outcome.update, atol=1e-10)


def test_bygars_uses_updates_that_point_the_wrong_way_the_other_way_round():
    x, theta, lowest = made(0)
    x[1:] = -3.0 * (theta - lowest)
    outcome = ByGARS().at(view(theta, lowest)).aggregate(x, 8)
    assert (outcome.weights[1:] < 0).all()
    assert outcome.update @ (theta - lowest) > 0


def test_bygars_can_have_the_length_of_the_servers_gradient():
    x, theta, lowest = made(0)
    result = ByGARS(length="server").at(view(theta, lowest))(x, F)
    assert np.linalg.norm(result) == pytest.approx(np.linalg.norm(theta - lowest))
    own = ByGARS().at(view(theta, lowest))(x, F)
    assert result @ own == pytest.approx(np.linalg.norm(result) * np.linalg.norm(own))


@pytest.mark.parametrize("rule", [LFR(), Zeno(), ByGARS()], ids=str)
def test_they_stand_behind_a_mixing_and_read_column_blocks(rule):
    x, theta, lowest = made(2)
    mixed = NNM()(x, F)
    seen = view(theta, lowest)
    np.testing.assert_allclose((NNM() | rule).at(seen)(x, F), rule.at(seen)(mixed, F), atol=1e-9)
    blocks = [x[:, :5].copy(), x[:, 5:].copy()]
    np.testing.assert_allclose(rule.at(seen).blocks(blocks, F), rule.at(seen)(x, F), atol=1e-12)


@pytest.mark.parametrize("rule", [LFR(), ERR(), Zeno(), ByGARS()], ids=str)
def test_rows_alone_are_not_enough(rule):
    with pytest.raises(MissingReference, match="allowed: a reference with data and a model"):
        rule.at(View(ReferenceRows(mean=torch.zeros(D))))(made(0)[0], F)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Zeno(rho=-1), "rho = -1"),
        (lambda: Zeno(samples=0), "samples = 0"),
        (lambda: Zeno(trim=9).check(9, 1), "allowed: trim < 9"),
        (lambda: ByGARS(steps=0), "steps = 0"),
        (lambda: ByGARS(alpha=0), "alpha = 0"),
        (lambda: ByGARS(length="long"), "length = 'long'"),
        (lambda: LFR(FLTrust()), "allowed: a rule that needs no server data"),
        (lambda: ERR(FoolsGold()), "keeps a memory; allowed: .* that .* keeps no memory"),
        (lambda: LFR(CenteredClipping(history=True)), "keeps a memory; allowed: "),
        (lambda: LFR("mean"), "rule = 'mean' is a str; allowed: a Rule"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
