"""FLTrust, Zeno++ and BOBA against plain references and against what must always hold."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests import server_reference as reference
from tests.aggregation.server_rules import (
    BOUND,
    CLASSES,
    D,
    F,
    N,
    class_rows,
    label_mixes,
    rows_of,
    skewed,
    view,
)
from wola.aggregation import (
    BOBA,
    FLTrust,
    MissingReference,
    ReferenceRows,
    View,
    ZenoPlusPlus,
)

SMALL = arrays(np.float64, (7, 3), elements=st.integers(-2, 2).map(float))


def seen(mean=None, classes=None, lr=1.0):
    rows = {"mean": mean, "classes": classes}
    given_rows = {k: torch.from_numpy(v) for k, v in rows.items() if v is not None}
    return View(ReferenceRows(**given_rows, lr=lr))


@pytest.mark.parametrize("seed", range(20))
def test_each_is_its_definition(seed):
    x = skewed(seed=seed)
    mean, classes = rows_of(x)
    plain, own, rows = x.numpy(), mean[0].numpy(), classes.numpy()
    bound = View(ReferenceRows(mean=mean, classes=classes, lr=0.1))
    expected = reference.fltrust(plain, own)
    np.testing.assert_allclose(FLTrust().at(bound)(x, F), expected, atol=1e-12)
    for rho, epsilon in ((1e-3, 0.0), (0.05, 0.0), (0.02, 0.7)):
        expected = reference.zeno_plus_plus(plain, own, lr=0.1, rho=rho, epsilon=epsilon)
        rule = ZenoPlusPlus(rho=rho, epsilon=epsilon).at(bound)
        np.testing.assert_allclose(rule(x, F), expected, atol=1e-12)
    for f in range(5):
        expected = reference.boba(plain, f, rows)
        np.testing.assert_allclose(BOBA().at(bound)(x, f), expected, atol=1e-8)
        mixes, _, _ = reference.boba_mixes(plain, f, rows)
        np.testing.assert_allclose(BOBA().mixes(x, f, bound), mixes, atol=1e-7)


@given(SMALL, arrays(np.float64, (1, 3), elements=st.integers(-2, 2).map(float)))
def test_fltrust_keeps_its_four_facts(x, own):
    rule = FLTrust().at(seen(mean=own))
    result = rule(x, 2)
    length = np.linalg.norm(own)
    assert np.linalg.norm(result) <= length * (1 + 1e-12)
    assert result @ own[0] >= -1e-12
    louder = x.copy()
    louder[0] *= 7
    np.testing.assert_allclose(rule(louder, 2), result, atol=1e-12)
    np.testing.assert_allclose(rule(np.repeat(own, 7, axis=0), 2), own[0], atol=1e-12)


@given(SMALL, arrays(np.float64, (1, 3), elements=st.integers(-2, 2).map(float)))
def test_zeno_plus_plus_is_a_threshold_of_the_cosine(x, own):
    lr, rho = 0.1, 0.04
    length = np.linalg.norm(own)
    result = ZenoPlusPlus(rho=rho).at(seen(mean=own, lr=lr))(x, 2)
    if not length:
        assert not result.any()
        return
    norms = np.linalg.norm(x, axis=1)
    cosines = np.array(
        [a @ own[0] / b / length if b else -1.0 for a, b in zip(x, norms, strict=True)]
    )
    passed = cosines >= rho / lr - 1e-9
    kept = x[passed] / norms[passed, None] * length
    expected = kept.mean(axis=0) if passed.any() else np.zeros(3)
    np.testing.assert_allclose(result, expected, atol=1e-12)


@pytest.mark.parametrize("f", [0, 2, 5])
def test_boba_finds_the_label_mixes_where_there_is_no_noise(f):
    x = label_mixes() @ class_rows()
    bound = View(ReferenceRows(classes=class_rows()))
    np.testing.assert_allclose(BOBA().mixes(x, f, bound), label_mixes(), atol=1e-9)
    np.testing.assert_allclose(BOBA().at(bound)(x, f), x.mean(dim=0), atol=1e-12)


def test_boba_moves_with_a_common_shift_and_its_weights_sum_to_one():
    x, (_, classes) = skewed(), rows_of(skewed())
    shift = torch.linspace(-50, 50, D, dtype=torch.float64)
    moved = BOBA().at(View(ReferenceRows(classes=classes + shift)))(x + shift, F)
    outcome = BOBA().at(view()).aggregate(x, F)
    assert torch.allclose(moved, outcome.update + shift, atol=1e-9)
    assert outcome.weights.sum() == pytest.approx(1.0)


def test_boba_leaves_liars_outside_the_plane_at_their_projection():
    x = skewed(noise=0.01)
    x[N - F :] = -100 * x[: N - F].mean(dim=0)
    honest = x[: N - F].mean(dim=0)
    error = (BOBA().at(view())(x, F) - honest).norm() / honest.norm()
    assert error < 0.3 < (x.mean(dim=0) - honest).norm() / honest.norm()


@pytest.mark.parametrize(("n", "f"), [(3, 0), (5, 2)])
def test_boba_needs_as_many_workers_as_classes(n, f):
    message = rf"C = {CLASSES} classes needs C >= 2 and n - f >= C workers; n = {n}, f = {f} leaves"
    with pytest.raises(ValueError, match=message):
        BOBA().at(view())(skewed()[:n], f)


def test_a_bound_boba_says_how_many_liars_its_classes_leave_room_for():
    bound = BOBA().at(view())
    assert [bound.max_byzantine(n) for n in (3, 4, 5, 6, 9, 11)] == [-1, 0, 1, 2, 4, 5]
    with pytest.raises(ValueError, match="n = 5, f = 2 leaves 3"):
        bound.check(5, 2)
    with pytest.raises(MissingReference, match="the reference has no classes"):
        BOBA().at(View(ReferenceRows(mean=class_rows()[0]))).max_byzantine(9)


def test_bobas_plane_has_all_directions_that_tie_for_its_last_one():
    x = torch.eye(N, dtype=torch.float64)
    rows = torch.cos(torch.arange(2 * N, dtype=torch.float64)).reshape(2, N)
    bound = BOBA().at(View(ReferenceRows(classes=rows)))
    expected = bound(x, 5)
    for seed in range(5):
        order = torch.randperm(N, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(bound(x[order], 5), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("rule", BOUND, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_workers_decides_nothing(rule, seed):
    x = skewed()
    x[5] = x[2]
    x[9] = x[10]
    order = torch.randperm(N, generator=torch.Generator().manual_seed(seed))
    one, other = rule.aggregate(x, F), rule.aggregate(x[order], F)
    assert torch.allclose(one.update, other.update, atol=1e-9)
    assert torch.allclose(one.weights[order], other.weights, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ZenoPlusPlus(rho=-1), "rho = -1"),
        (lambda: ZenoPlusPlus(epsilon=float("nan")), "epsilon = nan"),
        (lambda: BOBA(iterations=0), "iterations = 0"),
        (lambda: BOBA(least=float("inf")), "least = inf"),
        (lambda: ReferenceRows(lr=0), "lr = 0"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()
