"""The WoLA loss as a module: transforms, devices, dtypes, saved state."""

import copy
import math

import pytest
import torch

from tests.labels.skewed_worker import COUNTS, Q, batch
from wola.labels import Uniform, WoLALoss, wola_weights


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
