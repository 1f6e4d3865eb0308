"""FoolsGold against its definition, and what it makes of those who are alike."""

import numpy as np
import pytest
import torch

from tests import memory_reference as reference
from tests.aggregation.memory_rules import D, N, rounds
from tests.aggregation.test_bygars_plus_plus import steps_with_changing_workers
from wola.aggregation import FoolsGold, View


@pytest.mark.parametrize("kappa", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("eps", [0.0, 1e-5, 0.1])
@pytest.mark.parametrize("total", [False, True])
def test_rounds_are_the_definition(kappa, eps, total):
    plain = reference.FoolsGold(kappa, eps, total=total)
    steps = steps_with_changing_workers(6)
    rule = FoolsGold(kappa=kappa, eps=eps, total=total)
    for (x, _, names), outcome in zip(steps, rounds(rule, steps, f=1), strict=True):
        np.testing.assert_allclose(outcome.update, plain.round(names, x), atol=1e-9)
        np.testing.assert_allclose(outcome.weights @ x, outcome.update, atol=1e-10)
        assert outcome.memory.keys() == plain.sums.keys()
        for name, total_of in outcome.memory.items():
            np.testing.assert_allclose(total_of, plain.sums[name], atol=1e-12)


def test_orthogonal_updates_all_count_in_full():
    assert FoolsGold(total=True).weights(3.0 * np.eye(6), 2).tolist() == [1.0] * 6
    assert FoolsGold().weights(np.eye(6), 2) == pytest.approx(np.full(6, 1 / 6))


def test_equal_updates_among_others_count_nothing():
    x = np.eye(6, 9)
    x[3:] = x[3]
    assert FoolsGold(total=True).weights(x, 3).tolist() == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("seed", range(20))
def test_updates_that_are_all_alike_give_zero(seed):
    row = np.random.default_rng(seed).normal(size=200)
    lengths = np.random.default_rng(seed).uniform(0.1, 10, size=(7, 1))
    assert not FoolsGold()(lengths * row, 3).any()
    assert not FoolsGold()(np.tile(row.astype(np.float32), (7, 1)), 3).any()


def test_the_history_of_equal_rounds_gives_the_weights_of_one():
    x = np.random.default_rng(2).normal(0.4, 1.0, size=(N, D))
    outcomes = rounds(FoolsGold(), [(x, x[0], range(N))] * 5)
    for outcome in outcomes[1:]:
        np.testing.assert_allclose(outcome.weights, outcomes[0].weights, atol=1e-10)


def test_one_round_of_difference_does_not_hide_a_history_of_sybils():
    rng = np.random.default_rng(4)
    honest = rng.normal(size=(6, 400))
    steps = []
    for _ in range(10):
        x = np.concatenate([honest + rng.normal(size=honest.shape), np.ones((3, 400))])
        steps.append((x, x[0], range(9)))
    apart = np.concatenate([honest, rng.normal(size=(3, 400))])
    *_, last = rounds(FoolsGold(), [*steps, (apart, apart[0], range(9))])
    assert last.weights[6:].max() < 0.01
    assert FoolsGold().weights(apart, 3)[6:].min() > 0.05


def alike(n, cosine, d, seed):
    """n updates whose pairwise cosines are near `cosine`."""
    rng = np.random.default_rng(seed)
    common, own = rng.normal(size=d), rng.normal(size=(n, d))
    return np.sqrt(cosine) * common + np.sqrt(1 - cosine) * own


@pytest.mark.parametrize(
    ("cosine", "sybils", "honest_weight", "liars_weight"),
    [(0.9, False, 0.0, 1.0), (0.3, False, 1.0, 1.0), (0.9, True, 1.0, 0.0)],
)
def test_it_takes_alike_for_sybil(cosine, sybils, honest_weight, liars_weight):
    honest = alike(13, cosine, 5000, seed=1)
    liars = np.random.default_rng(2).normal(size=(4, 5000))
    liars = np.repeat(liars[:1], 4, axis=0) if sybils else liars
    weights = FoolsGold(total=True).weights(np.concatenate([honest, liars]), 4)
    np.testing.assert_allclose(weights[:13], honest_weight, atol=1e-12)
    np.testing.assert_allclose(weights[13:], liars_weight, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_history_that_would_overflow_keeps_its_direction_and_harms_no_other(dtype):
    largest = np.finfo(dtype).max
    x = np.array([[0.9, 0.3], [0.0, 0.5], [0.01, 0.02]], dtype=dtype) * dtype(largest)
    before = np.array([[0.9, -0.3], [0.0, -0.25], [0.02, 0.0]], dtype=dtype) * dtype(largest)
    memory = {i: torch.from_numpy(row) for i, row in enumerate(before)}
    kept = FoolsGold().at(View(memory=memory)).aggregate(x, 1).memory
    long = kept[0].double().numpy() / largest
    assert np.isfinite(long).all()
    np.testing.assert_allclose(long / np.linalg.norm(long), [1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(kept[1].double() / largest, [0.0, 0.25], atol=1e-6)
    np.testing.assert_allclose(kept[2].double() / largest, [0.03, 0.02], atol=1e-6)


def test_a_single_worker_has_all_the_weight():
    assert FoolsGold(total=True).weights(np.ones((1, 3)), 0).tolist() == [1.0]
    assert FoolsGold().max_byzantine(9) == 8


def test_a_small_kappa_gives_tied_workers_one_weight():
    x = np.random.default_rng(3).normal(size=(4, 4))
    x = np.linalg.qr(x)[0] * 3.0
    weights = FoolsGold(kappa=0.1, total=True).weights(x, 1)
    np.testing.assert_allclose(weights, 0.1 * (np.log(99 + 1e-5) + 0.5), rtol=1e-9)


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"kappa": 0}, "kappa = 0"), ({"eps": -1e-9}, "eps = -1e-09; allowed: .* >= 0")],
)
def test_bad_parameters_are_named(fields, message):
    with pytest.raises(ValueError, match=message):
        FoolsGold(**fields)
