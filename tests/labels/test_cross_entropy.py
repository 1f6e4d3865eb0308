"""The one formula of every loss against sums in plain Python, and what must not change it."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.labels.cross_entropy import weighted_cross_entropy

WEIGHTS = torch.tensor([0.5, 2.0, 0.0, 1.25], dtype=torch.float64)
SHIFTS = torch.tensor([0.3, -1.5, -math.inf, 2.0], dtype=torch.float64)
SHIFTED = [None, SHIFTS.clamp(min=-3), SHIFTS]


def batch(*shape, seed=7):
    """Logits (B, 4, ...) and targets of classes 0, 1 and 3."""
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(shape, generator=generator, dtype=torch.float64)
    single = shape[1:] if len(shape) == 1 else (shape[0], *shape[2:])
    picked = torch.randint(0, 3, single, generator=generator)
    return logits, torch.tensor([0, 1, 3])[picked]


def soft(logits, seed=8):
    """Soft labels without class 2, classes along the first or only dimension."""
    axis = 0 if logits.ndim == 1 else 1
    generator = torch.Generator().manual_seed(seed)
    shares = torch.rand(logits.shape, generator=generator, dtype=torch.float64)
    shares.select(axis, 2).zero_()
    return shares / shares.sum(axis, keepdim=True)


def rows_of(values):
    """(B, C, ...) or (C,) as a list of lists of C numbers, sample by sample."""
    axis = 0 if values.ndim == 1 else 1
    return np.moveaxis(values.detach().numpy(), axis, -1).reshape(-1, 4).tolist()


def reference(z, share, weights, shifts):
    """sum_c t^c w^c (-log softmax(z + b)^c) in plain Python, classes without a share left out."""
    moved = [
        a + b for a, b in zip(z, [0.0] * 4 if shifts is None else shifts.tolist(), strict=True)
    ]
    total = math.fsum(math.exp(value) for value in moved)
    return math.fsum(
        t * w * (math.log(total) - value)
        for t, w, value in zip(share, weights.tolist(), moved, strict=True)
        if t * w > 0
    )


def one_hot(y):
    return [float(c == y) for c in range(4)]


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("shape", [(9, 4), (3, 4, 2), (2, 4, 3, 2), (4,)])
def test_each_term_is_the_weight_of_its_class_times_the_shifted_cross_entropy(shape, shifts):
    logits, targets = batch(*shape)
    expected = [
        reference(z, one_hot(y), WEIGHTS, shifts)
        for z, y in zip(rows_of(logits), targets.flatten().tolist(), strict=True)
    ]
    terms = weighted_cross_entropy(logits, targets, WEIGHTS, shifts, reduction="none")
    assert terms.shape == targets.shape
    np.testing.assert_allclose(terms.flatten().numpy(), expected, rtol=1e-12)
    total = weighted_cross_entropy(logits, targets, WEIGHTS, shifts, reduction="sum")
    assert float(total) == pytest.approx(sum(expected), rel=1e-12)
    mean = weighted_cross_entropy(logits, targets, WEIGHTS, shifts)
    assert float(mean) == pytest.approx(sum(expected) / len(expected), rel=1e-12)


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("shape", [(9, 4), (2, 4, 3, 2), (4,)])
def test_soft_labels_give_the_expected_term_of_a_label_drawn_from_them(shape, shifts):
    logits, _ = batch(*shape)
    shares = soft(logits)
    expected = [
        reference(z, t, WEIGHTS, shifts)
        for z, t in zip(rows_of(logits), rows_of(shares), strict=True)
    ]
    terms = weighted_cross_entropy(logits, shares, WEIGHTS, shifts, reduction="none")
    np.testing.assert_allclose(terms.flatten().numpy(), expected, rtol=1e-12)
    mean = weighted_cross_entropy(logits, shares, WEIGHTS, shifts)
    assert float(mean) == pytest.approx(sum(expected) / len(expected), rel=1e-12)


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("shape", [(9, 4), (2, 4, 3), (4,)])
@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_smoothing_spreads_its_share_over_the_classes_held(shape, shifts, kind):
    logits, targets = batch(*shape)
    held, s = torch.tensor([True, True, False, True]), 0.2
    given = targets if kind == "hard" else soft(logits)
    labels = [one_hot(y) for y in targets.flatten().tolist()] if kind == "hard" else rows_of(given)
    uniform = [1 / 3, 1 / 3, 0, 1 / 3]
    smooth = [
        [(1 - s) * t + s * u for t, u in zip(label, uniform, strict=True)] for label in labels
    ]
    expected = [
        reference(z, t, WEIGHTS, shifts) for z, t in zip(rows_of(logits), smooth, strict=True)
    ]
    options = {"label_smoothing": s, "held": held, "reduction": "none"}
    terms = weighted_cross_entropy(logits, given, WEIGHTS, shifts, **options)
    np.testing.assert_allclose(terms.flatten().numpy(), expected, rtol=1e-12)


def test_smoothing_without_a_mask_is_that_of_torch():
    logits, targets = batch(9, 4)
    ours = weighted_cross_entropy(logits, targets, torch.ones(4), label_smoothing=0.3)
    theirs = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=0.3)
    torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("ignore_index", [-100, 1])
def test_ignored_samples_have_no_term_and_no_part_in_the_mean(smoothing, ignore_index):
    logits, targets = batch(8, 4, 2)
    kept = targets != 1
    assert 0 < int(kept.sum()) < targets.numel()
    targets = torch.where(kept, targets, ignore_index)
    options = {"ignore_index": ignore_index, "label_smoothing": smoothing}
    terms = weighted_cross_entropy(logits, targets, WEIGHTS, reduction="none", **options)
    assert not terms[~kept].any()
    alone = weighted_cross_entropy(
        logits.movedim(1, -1)[kept], targets[kept], WEIGHTS, label_smoothing=smoothing
    )
    torch.testing.assert_close(weighted_cross_entropy(logits, targets, WEIGHTS, **options), alone)


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("shape", [(3, 4), (2, 4, 2), (4,)])
def test_gradients_are_exact_in_double(shape, smoothing, shifts):
    logits, targets = batch(*shape)
    logits.requires_grad_()
    held = torch.tensor([True, True, False, True])
    for labels in (targets, soft(logits.detach())):

        def loss(z, labels=labels):
            return weighted_cross_entropy(
                z, labels, WEIGHTS, shifts, label_smoothing=smoothing, held=held
            )

        assert torch.autograd.gradcheck(loss, logits)


def test_soft_labels_have_gradients_too_and_a_class_taken_out_has_none():
    logits, _ = batch(3, 4)
    shares = soft(logits).requires_grad_()
    weighted_cross_entropy(logits, shares, torch.ones(4), SHIFTS, reduction="sum").backward()
    losses = -(logits + SHIFTS).log_softmax(1)
    held = [0, 1, 3]
    torch.testing.assert_close(shares.grad[:, held], losses[:, held])
    assert not shares.grad[:, 2].any()


def test_a_class_taken_out_of_the_softmax_gets_no_gradient():
    logits, targets = batch(6, 4)
    logits.requires_grad_()
    weighted_cross_entropy(logits, targets, WEIGHTS, SHIFTS).backward()
    assert logits.grad.isfinite().all()
    assert not logits.grad[:, 2].any()
    assert logits.grad[:, [0, 1, 3]].any()


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.floats(-5, 5), min_size=4, max_size=4),
    st.floats(-20, 20),
    st.floats(0.01, 100),
    st.permutations(range(4)),
)
def test_invariances_of_the_formula(shifts, constant, factor, order):
    logits, targets = batch(5, 4)
    b = torch.tensor(shifts, dtype=torch.float64)
    value = weighted_cross_entropy(logits, targets, WEIGHTS, b)
    # One constant for all classes changes no softmax.
    moved = weighted_cross_entropy(logits, targets, WEIGHTS, b + constant)
    torch.testing.assert_close(moved, value, rtol=1e-9, atol=1e-9)
    # The loss is linear in the weights.
    scaled = weighted_cross_entropy(logits, targets, factor * WEIGHTS, b)
    torch.testing.assert_close(scaled, factor * value, rtol=1e-9, atol=1e-9)
    # The names of the classes carry nothing.
    chosen = torch.tensor(order)
    renamed = chosen.argsort()[targets]
    other = weighted_cross_entropy(logits[:, chosen], renamed, WEIGHTS[chosen], b[chosen])
    torch.testing.assert_close(other, value, rtol=1e-9, atol=1e-9)


def test_no_shifts_and_shifts_of_zero_are_the_same_loss():
    logits, targets = batch(9, 4)
    zeros = torch.zeros(4, dtype=torch.float64)
    plain = weighted_cross_entropy(logits, targets, WEIGHTS)
    assert torch.equal(weighted_cross_entropy(logits, targets, WEIGHTS, zeros), plain)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_logits_are_computed_in_float32(dtype):
    logits, targets = batch(9, 4)
    logits = logits.to(dtype)
    value = weighted_cross_entropy(logits, targets, WEIGHTS, SHIFTS)
    assert value.dtype == torch.float32
    assert torch.equal(value, weighted_cross_entropy(logits.float(), targets, WEIGHTS, SHIFTS))


def test_an_empty_batch_of_soft_labels_gives_zero():
    empty = torch.zeros(0, 4, requires_grad=True)
    assert weighted_cross_entropy(empty, torch.zeros(0, 4), WEIGHTS).item() == 0.0


MARGINS = torch.tensor([1.5, -0.25, 0.0, 100.0], dtype=torch.float64)


def with_margin(z, y, shifts):
    """-log of the share of class y once its margin is taken from its logit, in plain Python."""
    moved = [a + b for a, b in zip(z, shifts, strict=True)]
    moved[y] -= MARGINS[y].item()
    top = max(moved)
    return top + math.log(math.fsum(math.exp(value - top) for value in moved)) - moved[y]


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("shape", [(9, 4), (2, 4, 3, 2), (4,)])
@pytest.mark.parametrize("scale", [1, 400])
def test_a_margin_is_taken_from_the_targets_logit_alone(shape, shifts, scale):
    logits, targets = batch(*shape)
    logits = scale * logits
    added = [0.0] * 4 if shifts is None else shifts.tolist()
    expected = [
        WEIGHTS[y].item() * with_margin(z, y, added)
        for z, y in zip(rows_of(logits), targets.flatten().tolist(), strict=True)
    ]
    terms = weighted_cross_entropy(logits, targets, WEIGHTS, shifts, MARGINS, reduction="none")
    np.testing.assert_allclose(terms.flatten().numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("shape", [(9, 4), (2, 4, 3, 2), (4,)])
@pytest.mark.parametrize("scale", [1, 400])
def test_soft_labels_give_each_class_its_own_margin(shape, shifts, scale):
    logits, _ = batch(*shape)
    logits = scale * logits
    shares = soft(logits)
    added = [0.0] * 4 if shifts is None else shifts.tolist()
    expected = [
        math.fsum(
            t * w * with_margin(z, c, added)
            for c, (t, w) in enumerate(zip(share, WEIGHTS.tolist(), strict=True))
            if t * w > 0
        )
        for z, share in zip(rows_of(logits), rows_of(shares), strict=True)
    ]
    terms = weighted_cross_entropy(logits, shares, WEIGHTS, shifts, MARGINS, reduction="none")
    np.testing.assert_allclose(terms.flatten().numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_gradients_with_margins_are_exact_in_double(shifts, smoothing):
    logits, targets = batch(5, 4)
    logits.requires_grad_()
    held = torch.tensor([True, True, False, True])
    for labels in (targets, soft(logits.detach())):

        def loss(z, labels=labels):
            return weighted_cross_entropy(
                z, labels, WEIGHTS, shifts, MARGINS / 9, label_smoothing=smoothing, held=held
            )

        assert torch.autograd.gradcheck(loss, logits)


FACTORS = torch.tensor([1.0, 0.5, 0.0, 2.0], dtype=torch.float64)


@pytest.mark.parametrize("shifts", SHIFTED, ids=["none", "finite", "infinite"])
@pytest.mark.parametrize("shape", [(9, 4), (2, 4, 3, 2), (4,)])
@pytest.mark.parametrize("kind", ["hard", "soft"])
def test_a_factor_multiplies_the_logit_of_its_class_first(shape, shifts, kind):
    logits, targets = batch(*shape)
    along = min(logits.ndim - 1, 1)
    scaled = logits * FACTORS.view(-1, *[1] * (logits.ndim - 1 - along))
    labels = targets if kind == "hard" else soft(logits)
    with_factors, by_hand = (
        weighted_cross_entropy(z, labels, WEIGHTS, shifts, MARGINS, g, reduction="none")
        for z, g in ((logits, FACTORS), (scaled, None))
    )
    assert torch.equal(with_factors, by_hand)
    plain = weighted_cross_entropy(logits, labels, WEIGHTS, shifts, MARGINS, reduction="none")
    assert not torch.allclose(with_factors, plain)


def test_gradients_with_factors_are_exact_in_double():
    logits, targets = batch(5, 4)
    logits.requires_grad_()
    for labels in (targets, soft(logits.detach())):

        def loss(z, labels=labels):
            return weighted_cross_entropy(z, labels, WEIGHTS, None, MARGINS / 9, FACTORS)

        assert torch.autograd.gradcheck(loss, logits)


def test_a_class_that_is_alone_costs_nothing_whatever_its_margin():
    only = torch.tensor([-math.inf, 0.0, -math.inf, -math.inf])
    logits = torch.randn(3, 4, generator=torch.Generator().manual_seed(1)).requires_grad_()
    labels = torch.tensor([1, 1, 1])
    for targets in (labels, torch.nn.functional.one_hot(labels, 4).float()):
        loss = weighted_cross_entropy(logits, targets, torch.ones(4), only, MARGINS)
        (gradient,) = torch.autograd.grad(loss, logits)
        assert float(loss.detach()) == 0
        assert torch.equal(gradient, torch.zeros(3, 4))
