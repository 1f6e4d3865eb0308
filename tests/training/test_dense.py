"""The derivative written out for dense networks against autograd of the one formula."""

import copy
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from wola.labels import LOSSES, LogitAdjusted, Loss, Terms, checked_terms
from wola.labels.cross_entropy import weighted_cross_entropy
from wola.models import FlatModel
from wola.training.batches import Batch
from wola.training.dense import DenseGradients

CLASSES, SIZE = 4, 9
COUNTS = torch.tensor([[5, 1, 0, 14], [3, 9, 3, 1], [0, 0, 9, 1]])
WORKERS = len(COUNTS)
Q = torch.tensor([0.4, 0.3, 0.1, 0.2], dtype=torch.float64)


@dataclass(frozen=True)
class Adjusted(Loss):
    """Weights and finite shifts, other ones for every worker."""

    def terms(self, counts, q):
        return Terms((1 + counts).sqrt(), ((1 + counts) / (4 + counts.sum())).log())


@dataclass(frozen=True)
class Restricted(Loss):
    """Log p: shifts of -inf for the classes that a worker lacks."""

    def terms(self, counts, q):
        return Terms(1 + q, (counts / counts.sum()).log())


EVERY = {**{name: loss() for name, loss in LOSSES.items()}, "a": Adjusted(), "r": Restricted()}


def network(layers, seed=3):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        parts = [nn.Flatten()]
        for _ in range(layers - 1):
            parts += [nn.Linear(6, 6), nn.Tanh()]
        return nn.Sequential(*parts, nn.Linear(6, CLASSES)).double()


def batch(loss):
    """Inputs, labels of classes that each worker holds, and the terms of its loss."""
    generator = torch.Generator().manual_seed(2)
    inputs = torch.randn(WORKERS, SIZE, 2, 3, generator=generator, dtype=torch.float64)
    labels = torch.multinomial(COUNTS.double(), SIZE, replacement=True, generator=generator)
    counts = torch.stack([torch.bincount(row, minlength=CLASSES) for row in labels])
    terms = checked_terms(loss, counts if loss.per_batch else COUNTS, Q)
    return Batch(inputs, labels, terms.weights, terms.shifts, terms.margins, terms.factors)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("own", [False, True], ids=["one model", "a model for each"])
def test_every_workers_gradient_is_that_of_autograd(name, layers, own):
    module, given = network(layers), batch(EVERY[name])
    model = FlatModel(copy.deepcopy(module))
    parameters = model.parameters.clone()
    if own:
        noise = torch.Generator().manual_seed(4)
        parameters = parameters + torch.randn(
            WORKERS, model.size, generator=noise, dtype=torch.float64
        )
    rows = torch.full((WORKERS, model.size), torch.nan, dtype=torch.float64)
    with torch.no_grad():
        DenseGradients(model).store(parameters, given, rows)
    for i in range(WORKERS):
        plain = copy.deepcopy(module)
        mine = parameters[i] if own else parameters
        nn.utils.vector_to_parameters(mine, plain.parameters())
        loss = weighted_cross_entropy(
            plain(given.inputs[i]),
            given.labels[i],
            given.weights[i],
            None if given.shifts is None else given.shifts[i],
            None if given.margins is None else given.margins[i],
            None if given.factors is None else given.factors[i],
        )
        parts = torch.autograd.grad(loss, list(plain.parameters()))
        expected = torch.cat([part.flatten() for part in parts])
        assert expected.abs().max() > 1e-3
        torch.testing.assert_close(rows[i], expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["a", "r", "fedlc", "fedrs", "dmfl", "logit-adjusted"])
def test_what_is_done_to_logits_changes_the_gradient(name):
    given, model = batch(EVERY[name]), FlatModel(network(2))
    with_shifts, without = (torch.empty(WORKERS, model.size, dtype=torch.float64) for _ in range(2))
    with torch.no_grad():
        DenseGradients(model).store(model.parameters, given, with_shifts)
        plain = Batch(given.inputs, given.labels, given.weights)
        DenseGradients(model).store(model.parameters, plain, without)
    touched = (COUNTS == 0).any(1) if name == "fedrs" else torch.ones(WORKERS, dtype=torch.bool)
    assert touched.any()
    assert torch.equal((with_shifts - without).abs().amax(1) > 1e-3, touched)


def test_a_class_that_a_worker_lacks_gets_no_gradient_where_it_is_taken_out():
    model = FlatModel(network(1))
    rows = torch.empty(WORKERS, model.size, dtype=torch.float64)
    with torch.no_grad():
        DenseGradients(model).store(model.parameters, batch(Restricted()), rows)
    gradients = rows[:, : CLASSES * 6].view(WORKERS, CLASSES, 6)
    assert rows.isfinite().all()
    assert torch.equal(gradients.any(2), COUNTS > 0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_worker_of_one_class_has_a_gradient_of_zero_under_adjusted_logits(dtype):
    given = batch(LogitAdjusted())
    terms = checked_terms(LogitAdjusted(), torch.tensor([[0, 4, 0, 0]] * WORKERS), Q)
    alone = Batch(
        given.inputs.to(dtype),
        torch.ones_like(given.labels),
        terms.weights.to(dtype),
        terms.shifts.to(dtype),
    )
    model = FlatModel(network(2).to(dtype))
    rows = torch.full((WORKERS, model.size), torch.nan, dtype=dtype)
    with torch.no_grad():
        DenseGradients(model).store(model.parameters, alone, rows)
    assert torch.equal(rows, torch.zeros_like(rows))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_finite_in_every_precision(name, dtype):
    given = batch(EVERY[name])
    terms = Terms(given.weights, given.shifts, given.margins, given.factors).to(dtype, "cpu")
    inputs = 10 * given.inputs.to(dtype)
    model = FlatModel(network(2).to(dtype))
    rows = torch.full((WORKERS, model.size), torch.nan, dtype=dtype)
    cast = Batch(inputs, given.labels, terms.weights, terms.shifts, terms.margins, terms.factors)
    with torch.no_grad():
        DenseGradients(model).store(model.parameters, cast, rows)
    assert rows.isfinite().all()
    assert rows.any(1).all()
