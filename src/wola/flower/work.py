"""A client's own work in a round: batches, WoLA weights, and the engine's gradients on them."""

import torch
from torch import Generator, Tensor

from wola.flower.momentum import Memory
from wola.flower.recipe import Orders
from wola.flower.samples import Samples
from wola.labels import label_counts, wola_weights
from wola.models import FlatModel
from wola.training.batches import Batch, draw_indices
from wola.training.gradients import make_gradients
from wola.training.streams import stream_seed


def local_update(
    model: FlatModel,
    samples: Samples,
    labels: Tensor,
    orders: Orders,
    *,
    weights: Tensor,
    worker: int,
    step: int,
) -> tuple[Tensor, Tensor]:
    """The update (d,) of a worker from the model as it is, and its running statistics (s,).

    `labels` (N,) are those trained on and `weights` (C,) those of the classes. Everything random
    comes from the streams ("batch", worker, step), ("dropout", worker, step) and, for a Dataset
    that draws while it is read, ("samples", worker, step): the same numbers as in `wola.simulate`.
    """
    device, kind = model.parameters.device, model.parameters.dtype
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
            each = weights.to(kind)[chosen].to(device)
            batches.append(Batch(inputs[None], chosen.to(device)[None], each[None]))
    rows = model.parameters.new_zeros(1, model.size)
    statistics = make_gradients(model, orders).updates(batches, [worker], step, orders.lr, rows)
    return rows[0], statistics[0]


def loss_weights(labels: Tensor, orders: Orders, q: Tensor) -> Tensor:
    """The weight of each class (C,) in a worker's loss: WoLA's towards `q` (C,), or ones.

    >>> from wola.flower.recipe import Recipe
    >>> half = torch.tensor([0.5, 0.5])
    >>> loss_weights(torch.tensor([0, 1, 1, 1]), Recipe().orders(1), half)
    tensor([2.0000, 0.6667], dtype=torch.float64)
    """
    if orders.loss == "cross-entropy":
        return torch.ones(len(q), dtype=torch.float64)
    return wola_weights(label_counts(labels, len(q)), q)


class NotFinite(ValueError):
    """An honest update with a NaN or an infinity: it is neither sent nor remembered."""


def take_momentum(memory: Memory, step: int, update: Tensor, beta: float) -> Tensor:
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
