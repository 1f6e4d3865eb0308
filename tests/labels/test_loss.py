"""The WoLA loss against sums written from its definition, and in the settings it is used in."""

import copy
import math

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from wola.labels import Prior, Shared, Uniform, WoLALoss, wola_loss, wola_weights

COUNTS = [5, 1, 0, 14]
Q = [0.4, 0.3, 0.1, 0.2]


def batch(size: int = 12, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(7)
    logits = torch.randn(size, 4, generator=generator, dtype=torch.float64).to(dtype)
    held = torch.tensor([0, 1, 3])
    return logits, held[torch.randint(0, 3, (size,), generator=generator)]


def soft_labels(size: int = 12) -> torch.Tensor:
    shares = torch.rand(size, 4, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
    shares[:, 2] = 0
    return shares / shares.sum(1, keepdim=True)


def cross_entropies(logits: torch.Tensor) -> np.ndarray:
    """-log softmax of every class, (B, C)."""
    x = logits.detach().double().numpy()
    return np.log(np.exp(x).sum(1, keepdims=True)) - x


def reference_terms(logits, targets, counts, q) -> list[float]:
    losses, total = cross_entropies(logits), sum(counts)
    return [q[y] / (counts[y] / total) * losses[k, y] for k, y in enumerate(targets.tolist())]


def test_the_mean_divides_by_the_batch_size():
    logits, targets = batch()
    terms = reference_terms(logits, targets, COUNTS, Q)
    assert float(WoLALoss(COUNTS, Q)(logits, targets)) == pytest.approx(sum(terms) / 12, rel=1e-12)
    weights = wola_weights(COUNTS, Q)
    by_sum_of_weights = float(F.cross_entropy(logits, targets, weight=weights))
    assert abs(by_sum_of_weights - sum(terms) / 12) > 1e-2


def test_sum_and_none_do_not_divide():
    logits, targets = batch()
    terms = reference_terms(logits, targets, COUNTS, Q)
    none = WoLALoss(COUNTS, Q, reduction="none")(logits, targets)
    np.testing.assert_allclose(none.numpy(), terms, rtol=1e-12)
    total = WoLALoss(COUNTS, Q, reduction="sum")(logits, targets)
    assert float(total) == pytest.approx(sum(terms), rel=1e-12)


def test_over_the_whole_local_data_every_class_weighs_as_in_q():
    targets = torch.repeat_interleave(torch.arange(4), torch.tensor(COUNTS))
    logits = torch.randn(20, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    losses = cross_entropies(logits)
    expected = sum(Q[c] * losses[targets == c, c].mean() for c in (0, 1, 3))
    for level in ("dataset", "batch"):
        assert float(WoLALoss(COUNTS, Q, level=level)(logits, targets)) == pytest.approx(expected)


def test_a_worker_that_follows_q_has_the_plain_cross_entropy():
    logits, targets = batch()
    loss = WoLALoss([1, 1, 1, 1], Uniform())
    torch.testing.assert_close(loss(logits, targets), F.cross_entropy(logits, targets))


def test_prior_uniform_and_plain_vectors_give_the_same_weights():
    assert torch.equal(WoLALoss(COUNTS, Prior(Q)).weights, WoLALoss(COUNTS, Q).weights)
    uniform = WoLALoss(COUNTS, torch.full((4,), 0.25))
    assert torch.equal(WoLALoss(COUNTS, Uniform()).weights, uniform.weights)


def test_the_batch_level_uses_the_classes_of_the_batch():
    logits, _ = batch(5)
    targets = torch.tensor([0, 0, 3, 0, 3])
    losses = cross_entropies(logits)
    plain = Q[0] * losses[[0, 1, 3], 0].mean() + Q[3] * losses[[2, 4], 3].mean()
    loss = WoLALoss(COUNTS, Q, level="batch")
    assert float(loss(logits, targets)) == pytest.approx(plain, rel=1e-12)
    named = WoLALoss(COUNTS, Q, level="batch", renormalise=True)
    assert float(named(logits, targets)) == pytest.approx(plain / (Q[0] + Q[3]), rel=1e-12)


def test_renormalising_at_the_level_of_the_data_set_divides_by_the_mass_held():
    logits, targets = batch()
    plain = WoLALoss(COUNTS, Q)(logits, targets)
    named = WoLALoss(COUNTS, Q, renormalise=True)(logits, targets)
    assert float(named) == pytest.approx(float(plain) / 0.9, rel=1e-12)


def test_a_batch_without_any_mass_gives_zero_and_a_zero_gradient():
    logits = torch.randn(2, 2, generator=torch.Generator().manual_seed(1), requires_grad=True)
    loss = WoLALoss([1, 1], [1.0, 0.0], level="batch", renormalise=True)
    value = loss(logits, torch.tensor([1, 1]))
    value.backward()
    assert value.item() == 0.0
    assert not logits.grad.any()


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("ignore_index", [-100, 1, 2])
def test_ignored_samples_count_nowhere(level, ignore_index):
    logits, targets = batch()
    kept = targets != 1
    targets = torch.where(kept, targets, ignore_index)
    options = {"level": level, "ignore_index": ignore_index}
    whole = WoLALoss(COUNTS, Q, **options)(logits, targets)
    alone = WoLALoss(COUNTS, Q, level=level)(logits[kept], targets[kept])
    assert 0 < int(kept.sum()) < 12
    torch.testing.assert_close(whole, alone)
    none = WoLALoss(COUNTS, Q, reduction="none", **options)(logits, targets)
    assert none.shape == (12,)
    assert not none[~kept].any()


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("size", [0, 3])
def test_a_batch_of_nothing_but_ignored_samples_gives_zero(level, size):
    logits = torch.zeros(size, 4, requires_grad=True)
    value = WoLALoss(COUNTS, Q, level=level)(logits, torch.full((size,), -100))
    value.backward()
    assert value.item() == 0.0
    assert not logits.grad.any()


def test_soft_labels_give_the_expected_loss():
    logits, _ = batch()
    shares, weights = soft_labels(), wola_weights(COUNTS, Q).numpy()
    expected = (shares.numpy() * weights * cross_entropies(logits)).sum(1)
    loss = WoLALoss(COUNTS, Q, reduction="none")
    np.testing.assert_allclose(loss(logits, shares).numpy(), expected, rtol=1e-12)
    mean = WoLALoss(COUNTS, Q)(logits, shares)
    assert float(mean) == pytest.approx(expected.mean(), rel=1e-12)


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("renormalise", [False, True])
def test_one_hot_soft_labels_are_hard_labels(level, renormalise):
    logits, targets = batch(5)
    loss = WoLALoss(COUNTS, Q, level=level, renormalise=renormalise)
    soft = F.one_hot(targets, 4).to(torch.float32)
    torch.testing.assert_close(loss(logits, soft), loss(logits, targets))


def smoothed_reference(logits, labels, weights, s) -> np.ndarray:
    """sum_c t^c w^c (-log softmax(z)^c), t = (1 - s) label + s u over classes 0, 1 and 3."""
    t = (1 - s) * labels + s * np.array([1, 1, 0, 1]) / 3
    return (t * weights * cross_entropies(logits)).sum(1)


@pytest.mark.parametrize("s", [0.0, 0.1, 1.0])
def test_label_smoothing_spreads_over_the_classes_held(s):
    logits, targets = batch()
    p = np.array(COUNTS) / 20
    weights = np.array([q / share if share else 0 for q, share in zip(Q, p, strict=True)])
    loss = WoLALoss(COUNTS, Q, label_smoothing=s, reduction="none")
    expected = smoothed_reference(logits, np.eye(4)[targets], weights, s)
    np.testing.assert_allclose(loss(logits, targets).numpy(), expected, rtol=1e-12)
    shares = soft_labels()
    expected = smoothed_reference(logits, shares.numpy(), weights, s)
    np.testing.assert_allclose(loss(logits, shares).numpy(), expected, rtol=1e-12)


def test_smoothing_at_batch_level_leaves_classes_absent_from_the_batch_without_weight():
    logits, _ = batch(5)
    targets = torch.tensor([0, 0, 3, 0, 3])
    weights = np.array([Q[0] * 5 / 3, 0, 0, Q[3] * 5 / 2])
    expected = smoothed_reference(logits, np.eye(4)[targets], weights, 0.3).mean()
    loss = WoLALoss(COUNTS, Q, level="batch", label_smoothing=0.3)
    assert float(loss(logits, targets)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("soft", [False, True])
def test_every_position_of_an_image_is_a_sample(level, smoothing, soft):
    flat, targets = batch(24)
    targets = soft_labels(24) if soft else targets
    loss = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing)
    # (B d1 d2, C) -> (B, d1, d2, C) -> (B, C, d1, d2)
    logits = flat.view(2, 4, 3, 4).movedim(-1, 1)
    labels = targets.view(2, 4, 3, 4).movedim(-1, 1) if soft else targets.view(2, 4, 3)
    torch.testing.assert_close(loss(logits, labels), loss(flat, targets), rtol=1e-12, atol=0)
    terms = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing, reduction="none")
    assert terms(logits, labels).shape == (2, 4, 3)
    torch.testing.assert_close(terms(logits, labels).flatten(), terms(flat, targets))


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("soft", [False, True])
def test_one_sample_without_a_batch_is_a_batch_of_one(level, soft):
    logits, targets = batch(1)
    targets = soft_labels(1) if soft else targets
    for reduction in ("mean", "sum", "none"):
        loss = WoLALoss(COUNTS, Q, level=level, reduction=reduction)
        alone = loss(logits[0], targets[0])
        assert alone.shape == ()
        torch.testing.assert_close(alone, loss(logits, targets).squeeze())


def test_absent_classes_are_found_wherever_they_are_in_an_image():
    targets = torch.zeros(2, 3, 3, dtype=torch.int64)
    targets[1, 2, 0] = 2
    shares = F.one_hot(targets, 4).movedim(-1, 1).double()
    for labels in (targets, shares):
        with pytest.raises(ValueError, match="got class 2 with a count of 0"):
            WoLALoss(COUNTS, Q)(torch.zeros(2, 4, 3, 3), labels)


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_gradients_are_exact_in_double(level, smoothing):
    logits, targets = batch(4)
    logits.requires_grad_()
    for labels in (targets, soft_labels(4)):
        loss = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing)
        assert torch.autograd.gradcheck(lambda x, t=labels, f=loss: f(x, t), logits)


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_it_runs_under_vmap_and_grad(level, smoothing):
    logits, targets = batch(6)
    loss = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing)

    def of_one(x, y):
        return loss(x.unsqueeze(0), y.unsqueeze(0))

    grads = torch.func.vmap(torch.func.grad(of_one))(logits, targets)
    for k in range(6):
        x = logits[k].clone().requires_grad_()
        of_one(x, targets[k]).backward()
        torch.testing.assert_close(grads[k], x.grad)


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_it_compiles_to_one_graph(level, smoothing):
    logits, targets = batch(6)
    loss = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing)
    compiled = torch.compile(loss, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(logits, targets), loss(logits, targets))


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_no_value_is_read_on_another_device(level, smoothing):
    # The meta device has no values at all: a read would raise.
    loss = WoLALoss(COUNTS, Q, level=level, label_smoothing=smoothing).to("meta")
    targets = torch.zeros(3, dtype=torch.int64, device="meta")
    assert loss(torch.zeros(3, 4, device="meta"), targets).device.type == "meta"
    assert loss(torch.zeros(3, 4, device="meta"), torch.zeros(3, 4, device="meta")).ndim == 0


@pytest.mark.parametrize("level", ["dataset", "batch"])
def test_weights_left_on_the_cpu_go_to_the_device_of_the_logits(level):
    targets = torch.zeros(3, dtype=torch.int64, device="meta")
    value = WoLALoss(COUNTS, Q, level=level)(torch.zeros(3, 4, device="meta"), targets)
    assert value.device.type == "meta"


@pytest.mark.parametrize("level", ["dataset", "batch"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_logits_are_computed_in_float32(level, dtype):
    logits, targets = batch(dtype=dtype)
    loss = WoLALoss(COUNTS, Q, level=level)
    value = loss(logits, targets)
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, loss(logits.float(), targets))


def test_a_weight_beyond_half_precision_stays_finite():
    loss = WoLALoss([1, 999_999], [1.0, 0.0])
    value = loss(torch.zeros(1, 2, dtype=torch.float16), torch.tensor([0]))
    assert float(value) == pytest.approx(1e6 * math.log(2))


@pytest.mark.parametrize("level", ["dataset", "batch"])
def test_it_runs_under_autocast(level):
    layer = torch.nn.Linear(3, 4)
    inputs = torch.randn(5, 3, generator=torch.Generator().manual_seed(2))
    targets = torch.tensor([0, 1, 3, 3, 0])
    loss = WoLALoss(COUNTS, Q, level=level)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = layer(inputs)
        value = loss(logits, targets)
    assert logits.dtype == torch.bfloat16
    assert value.dtype == torch.float32
    value.backward()
    assert layer.weight.grad.isfinite().all()


def test_float32_logits_keep_their_dtype_and_inputs_stay_as_they_were():
    logits, targets = batch(dtype=torch.float32)
    before = logits.clone(), targets.clone()
    assert WoLALoss(COUNTS, Q)(logits, targets).dtype == torch.float32
    assert torch.equal(logits, before[0])
    assert torch.equal(targets, before[1])


def test_every_integer_dtype_of_targets_is_taken():
    logits, targets = batch()
    loss = WoLALoss(COUNTS, Q)
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32):
        assert torch.equal(loss(logits, targets.to(dtype)), loss(logits, targets))


def test_weights_are_buffers_in_float64_that_survive_a_round_trip():
    loss = WoLALoss(COUNTS, Q)
    assert loss.weights.dtype == torch.float64
    assert not list(loss.parameters())
    other = WoLALoss([1, 1, 1, 1], Uniform())
    other.load_state_dict(loss.state_dict())
    logits, targets = batch()
    for twin in (other, copy.deepcopy(loss)):
        assert torch.equal(twin(logits, targets), loss(logits, targets))
        assert torch.equal(twin.counts, loss.counts)


CASTS = {
    "half": lambda module: module.half(),
    "bfloat16": lambda module: module.bfloat16(),
    "float": lambda module: module.float(),
    "to": lambda module: module.to(torch.float16),
    "type": lambda module: module.type(torch.float16),
    "both": lambda module: module.to("cpu", torch.bfloat16),
}


@pytest.mark.parametrize("cast", CASTS.values(), ids=CASTS)
@pytest.mark.parametrize("level", ["dataset", "batch"])
def test_a_cast_of_the_model_leaves_the_weights_as_they_are(cast, level):
    counts, q = [1, 999_999, 3], [0.7, 0.1, 0.2]
    loss, plain = (WoLALoss(counts, q, level=level) for _ in range(2))
    layer = torch.nn.Linear(2, 3)
    model = cast(torch.nn.ModuleDict({"layer": layer, "loss": loss}))
    assert model["loss"] is loss
    for name, buffer in plain.named_buffers():
        assert torch.equal(loss.get_buffer(name), buffer)
        assert loss.get_buffer(name).dtype == buffer.dtype
    logits = torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.5, -1.0]])
    targets = torch.tensor([0, 1])
    assert torch.equal(loss(logits, targets), plain(logits, targets))


def test_a_cast_casts_what_else_a_subclass_holds():
    class Scaled(WoLALoss):
        def __init__(self) -> None:
            super().__init__(COUNTS, Q)
            self.layer = torch.nn.Linear(2, 2)

    loss = Scaled().half()
    assert loss.layer.weight.dtype == torch.float16
    assert loss.weights.dtype == torch.float64


def test_a_move_with_a_cast_moves_and_does_not_cast():
    loss = WoLALoss(COUNTS, Q).to("meta", torch.float16)
    buffers = dict(loss.named_buffers())
    assert {buffer.device.type for buffer in buffers.values()} == {"meta"}
    assert buffers["weights"].dtype == buffers["q"].dtype == torch.float64
    assert buffers["counts"].dtype == torch.int64


def test_a_state_saved_after_a_cast_restores_the_weights(tmp_path):
    loss = WoLALoss(COUNTS, Q).half()
    torch.save(loss.state_dict(), tmp_path / "loss.pt")
    other = WoLALoss([1, 1, 1, 1], Uniform()).bfloat16()
    other.load_state_dict(torch.load(tmp_path / "loss.pt", weights_only=True))
    assert torch.equal(other.weights, wola_weights(COUNTS, Q))
    assert torch.equal(other.q, torch.tensor(Q, dtype=torch.float64))


def test_later_changes_to_the_counts_do_not_reach_the_loss():
    counts = torch.tensor(COUNTS)
    loss = WoLALoss(counts, Q)
    counts[0] = 0
    assert loss.counts.tolist() == COUNTS


def test_the_representation_names_the_settings():
    loss = WoLALoss(COUNTS, Q, level="batch", reduction="sum", renormalise=True)
    assert "classes=4, level='batch', reduction='sum', renormalise=True" in repr(loss)
    assert "label_smoothing=0.1" in repr(WoLALoss(COUNTS, Q, label_smoothing=0.1))


def test_an_objective_that_needs_reports_must_be_evaluated_first():
    with pytest.raises(TypeError, match=r"got Shared\(.*evaluate one that needs reports first"):
        WoLALoss(COUNTS, Shared())
    with pytest.raises(TypeError, match="objective must be a distribution"):
        WoLALoss(COUNTS, Uniform)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"counts": [1, -1, 0, 2]}, ValueError, "counts must be non-negative"),
        ({"counts": [0, 0, 0, 0]}, ValueError, "counts must have at least one positive"),
        ({"counts": [0.5] * 4}, TypeError, "counts must hold integers"),
        ({"objective": [0.5, 0.5]}, ValueError, "objective must have one entry for each of 4"),
        ({"objective": Prior([0.5, 0.5])}, ValueError, "one entry for each of 4 classes"),
        ({"objective": [0.5] * 4}, ValueError, "objective must sum to 1"),
        ({"objective": [1.5, -0.5, 0, 0]}, ValueError, "objective must be non-negative"),
        ({"objective": [math.nan, 1, 0, 0]}, ValueError, "objective must be finite"),
        ({"level": "epoch"}, ValueError, "level must be one of dataset, batch, got 'epoch'"),
        ({"reduction": "avg"}, ValueError, "reduction must be one of mean, sum, none"),
        ({"renormalise": 1}, TypeError, "renormalise must be a bool, got 1"),
        ({"ignore_index": 1.5}, TypeError, "ignore_index must be an int, got 1.5"),
        ({"label_smoothing": 1.5}, ValueError, "label_smoothing = 1.5; allowed: a number from 0"),
        ({"label_smoothing": -0.1}, ValueError, "label_smoothing = -0.1; allowed"),
        ({"label_smoothing": math.nan}, ValueError, "label_smoothing = nan; allowed"),
        ({"label_smoothing": True}, ValueError, "label_smoothing = True; allowed"),
        ({"label_smoothing": "0.1"}, ValueError, "label_smoothing = '0.1'; allowed"),
    ],
)
def test_bad_settings_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        WoLALoss(**({"counts": COUNTS, "objective": Q} | arguments))


SOFT_ABSENT = [[0.5, 0.0, 0.5, 0.0]] * 2


@pytest.mark.parametrize(
    ("logits", "targets", "error", "words"),
    [
        (torch.zeros(2, 4), [0, 1], TypeError, "targets must be a tensor, got list"),
        ([[0.0] * 4], torch.tensor([0]), TypeError, "logits must be a tensor, got list"),
        (torch.zeros(2, 4).long(), torch.tensor([0, 1]), TypeError, "logits must be floating"),
        (torch.zeros(2, 3), torch.tensor([0, 1]), ValueError, r"\(B, 4, ...\) .* got \(2, 3\)"),
        (torch.zeros(()), torch.tensor(0), ValueError, r"logits must have shape \(B, 4, ...\)"),
        (torch.zeros(3), torch.tensor(0), ValueError, r"or \(4,\) for 4 classes, got \(3,\)"),
        (torch.zeros(4), torch.tensor([0]), ValueError, r"must have shape \(\) .* got \(1,\)"),
        (torch.zeros(2, 5, 4), torch.zeros(2, 5).long(), ValueError, r"got \(2, 5, 4\)"),
        (torch.zeros(2, 4, 5), torch.zeros(2, 4).long(), ValueError, r"have shape \(2, 5\)"),
        (torch.zeros(2, 4, 5), torch.zeros(2, 5, 4), ValueError, r"have shape \(2, 4, 5\)"),
        (torch.zeros(2, 4), torch.tensor([0]), ValueError, r"must have shape \(2,\) .* got \(1,\)"),
        (torch.zeros(2, 4), torch.zeros(2), ValueError, r"must have shape \(2, 4\)"),
        (torch.zeros(2, 4), torch.tensor([True, False]), TypeError, "got dtype torch.bool"),
        (torch.zeros(2, 4), torch.tensor([0, 4]), ValueError, "between 0 and 3 .* got 4"),
        (torch.zeros(2, 4), torch.tensor([0, -1]), ValueError, "ignore_index -100, got -1"),
        (torch.zeros(2, 4), torch.tensor([0, 2]), ValueError, "got class 2 with a count of 0"),
        (torch.zeros(2, 4), torch.tensor(SOFT_ABSENT), ValueError, "got class 2 with a count"),
        (torch.zeros(2, 4), torch.full((2, 4), 0.5), ValueError, "soft labels must be finite"),
        (torch.zeros(1, 4), torch.tensor([[1.5, -0.5, 0, 0]]), ValueError, "soft labels must"),
        (torch.zeros(1, 4), torch.full((1, 4), math.nan), ValueError, "soft labels must"),
    ],
)
@pytest.mark.parametrize("level", ["dataset", "batch"])
def test_bad_batches_are_refused(logits, targets, error, words, level):
    with pytest.raises(error, match=words):
        WoLALoss(COUNTS, Q, level=level)(logits, targets)


def test_the_plain_function_is_the_loss_of_the_class():
    logits, targets = batch()
    weights = wola_weights(COUNTS, Q)
    for reduction in ("mean", "sum", "none"):
        expected = WoLALoss(COUNTS, Q, reduction=reduction)(logits, targets)
        assert torch.equal(wola_loss(logits, targets, weights, reduction=reduction), expected)


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1.0, 1.0], TypeError, r"weights must be a floating-point tensor, got \[1.0, 1.0\]"),
        (torch.ones(2).long(), TypeError, "weights must be a floating-point tensor"),
        (torch.ones(1, 2), ValueError, r"weights must have shape \(C,\), got \(1, 2\)"),
        (torch.tensor([1.0, -1.0]), ValueError, "weights must be finite and non-negative"),
        (torch.tensor([1.0, math.nan]), ValueError, "weights must be finite and non-negative"),
        (torch.ones(3), ValueError, r"logits must have shape \(B, 3, ...\)"),
    ],
)
def test_bad_weights_are_refused(weights, error, words):
    with pytest.raises(error, match=words):
        wola_loss(torch.zeros(1, 2), torch.tensor([0]), weights)


def test_the_plain_function_refuses_bad_targets_and_reductions():
    with pytest.raises(ValueError, match="targets must lie between 0 and 1"):
        wola_loss(torch.zeros(1, 2), torch.tensor([2]), torch.ones(2))
    with pytest.raises(ValueError, match="reduction must be one of"):
        wola_loss(torch.zeros(1, 2), torch.tensor([1]), torch.ones(2), reduction="max")


def test_shifts_are_added_to_the_logits_and_minus_infinity_takes_a_class_out():
    logits, targets = batch()
    weights = wola_weights(COUNTS, Q)
    shifts = torch.tensor([0.5, -1.0, -math.inf, 2.0], dtype=torch.float64)
    kept = [0, 1, 3]
    losses = cross_entropies((logits + shifts)[:, kept])
    column = {0: 0, 1: 1, 3: 2}
    expected = [float(weights[y]) * losses[k, column[y]] for k, y in enumerate(targets.tolist())]
    terms = wola_loss(logits, targets, weights, shifts, reduction="none")
    np.testing.assert_allclose(terms.numpy(), expected, rtol=1e-12)
    soft = wola_loss(logits, soft_labels(), weights, shifts)
    by_hand = (soft_labels()[:, kept].numpy() * weights[kept].numpy() * losses).sum(1).mean()
    assert float(soft) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(
    ("shifts", "error", "words"),
    [
        ([0.0, 0.0], TypeError, r"shifts = \[0.0, 0.0\]; allowed: None or a floating-point tensor"),
        (torch.zeros(2).long(), TypeError, "allowed: None or a floating-point tensor"),
        (torch.zeros(3), ValueError, r"shifts of shape \(3,\); allowed: \(2,\)"),
        (torch.tensor([0.0, math.nan]), ValueError, "allowed: finite numbers or -inf"),
        (torch.tensor([0.0, math.inf]), ValueError, "allowed: finite numbers or -inf"),
        (torch.tensor([-math.inf, 0.0]), ValueError, "targets hold class 0; allowed: classes with"),
    ],
)
@pytest.mark.parametrize("targets", [torch.tensor([1, 0]), torch.full((2, 2), 0.5)])
def test_bad_shifts_are_refused(shifts, error, words, targets):
    with pytest.raises(error, match=words):
        wola_loss(torch.zeros(2, 2), targets, torch.ones(2), shifts)
