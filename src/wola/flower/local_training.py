"""A client's training in a round: its batches, its loss, and the engine's gradients on them."""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Generator, Tensor

from wola.flower.momentum_memory import MomentumMemory
from wola.flower.recipe import Orders
from wola.flower.samples import Samples
from wola.labels import Loss, Terms, checked_terms, label_counts
from wola.models import FlatModel
from wola.training.batches import Batch, draw_indices
from wola.training.gradients import make_gradients
from wola.training.streams import stream_seed

#: A function that gives the terms of a loss from the labels (B,) of a batch.
BatchTerms: TypeAlias = Callable[[Tensor], Terms]


def local_update(
    model: FlatModel,
    samples: Samples,
    labels: Tensor,
    orders: Orders,
    *,
    terms: BatchTerms,
    worker: int,
    step: int,
) -> tuple[Tensor, Tensor]:
    """The update (d,) of a worker from the model as it is, and its running statistics (s,).

    `labels` (N,) are those trained on and `terms` those of the loss, from `loss_terms`. Everything
    random comes from the streams ("dropout", worker, step) and those of `local_batches`: the same
    numbers as in `wola.simulate`.
    """
    like = model.parameters
    batches = local_batches(
        samples, labels, orders, terms=terms, worker=worker, step=step, like=like
    )
    rows = like.new_zeros(1, model.size)
    statistics = make_gradients(model, orders).updates(batches, [worker], step, orders.lr, rows)
    return rows[0], statistics[0]


def local_batches(
    samples: Samples,
    labels: Tensor,
    orders: Orders,
    *,
    terms: BatchTerms,
    worker: int,
    step: int,
    like: Tensor,
) -> list[Batch]:
    """A worker's batches of a round, one for each local step, where `like` is and in its dtype.

    Samples are drawn from the stream ("batch", worker, step), and for a Dataset that draws while
    it is read ("samples", worker, step).
    """
    device, kind = like.device, like.dtype
    generator = Generator().manual_seed(stream_seed(orders.seed, "batch", worker, step))
    everything = torch.arange(len(labels))
    batches = []
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(stream_seed(orders.seed, "samples", worker, step))
        for _ in range(orders.local_steps):
            indices = draw_indices(everything, orders.batch, generator)
            inputs = samples.take(indices).to(device)
            inputs = inputs.to(kind) if inputs.is_floating_point() else inputs
            chosen = labels[indices]
            made = terms(chosen).to(kind, device).each(lambda part: part[None])
            seen = inputs[None], chosen.to(device)[None]
            batches.append(Batch(*seen, made.weights, made.shifts, made.margins, made.factors))
    return batches


def loss_terms(loss: Loss, labels: Tensor, q: Tensor) -> BatchTerms:
    """A function that gives the terms of a worker's loss towards `q` (C,) in a batch.

    They are the same in every batch, from all its `labels` (N,), unless the loss is one per batch.

    >>> from wola.labels import WoLA, WoLABatch
    >>> half, labels = torch.tensor([0.5, 0.5]), torch.tensor([0, 1, 1, 1])
    >>> loss_terms(WoLA(), labels, half)(labels[:2]).weights
    tensor([2.0000, 0.6667], dtype=torch.float64)
    >>> loss_terms(WoLABatch(), labels, half)(labels[:2]).weights
    tensor([1., 1.], dtype=torch.float64)
    """
    if loss.per_batch:
        return lambda batch: checked_terms(loss, label_counts(batch, len(q)), q)
    whole = checked_terms(loss, label_counts(labels, len(q)), q)
    return lambda _: whole


class NotFinite(ValueError):
    """An honest update with a NaN or an infinity: it is neither sent nor remembered."""


def update_momentum(memory: MomentumMemory, step: int, update: Tensor, beta: float) -> Tensor:
    """The momentum (d,) after the update of round `step`, on disk before anybody sees it."""
    previous = memory.before(step, len(update)) if beta else torch.zeros_like(update)
    momentum = momentum_of(previous, update, beta)
    if not bool(momentum.isfinite().all()):
        raise NotFinite(f"the update of round {step} is not finite")
    if beta:
        memory.keep(step, momentum)
    return momentum


def momentum_of(previous: Tensor, update: Tensor, beta: float) -> Tensor:
    """m <- beta m + (1 - beta) g, as the paper's workers have it: (d,).

    >>> momentum_of(torch.tensor([1.0]), torch.tensor([0.0]), beta=0.75)
    tensor([0.7500])
    """
    return torch.lerp(previous.to(update), update, 1 - beta)
