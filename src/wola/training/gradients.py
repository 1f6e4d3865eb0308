"""Honest updates: every worker's gradient, with l2 and clipping, over one or more local steps."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from wola.labels import Terms
from wola.labels.cross_entropy import weighted_cross_entropy
from wola.models import FlatModel
from wola.training.batches import Batch
from wola.training.dense import DenseGradients
from wola.training.streams import stream_seed


class Gradients(Protocol):
    """What computes the updates of some workers, (m, d), and their running statistics, (m, s)."""

    def updates(
        self, batches: Sequence[Batch], workers: Sequence[int], step: int, lr: float, rows: Tensor
    ) -> Tensor:
        """Writes each worker's update from the current model to `rows`; the statistics (m, s)."""


class Settings(Protocol):
    """What an update depends on beside its batches: a scenario has it, and a client's orders."""

    @property
    def l2(self) -> float:
        """Weight decay, added to the gradient."""

    @property
    def clip(self) -> float:
        """Largest norm of a gradient; 0: as it is."""

    @property
    def seed(self) -> int:
        """Decides all that is random."""


def make_gradients(model: FlatModel, settings: Settings) -> Gradients:
    """All workers stacked where the network allows it, else worker by worker."""
    if DenseGradients.fits(model.module):
        return StackedUpdates(model, settings)
    return WorkerUpdates(model, settings)


def regularise(rows: Tensor, parameters: Tensor, *, l2: float, clip: float) -> None:
    """g <- g + l2 theta, then g <- g min(1, clip / ||g||), for each row of (m, d), in place.

    A clip of 0 stands for none.

    >>> rows = torch.tensor([[3.0, 4.0]])
    >>> regularise(rows, torch.zeros(2), l2=0.1, clip=1.0)
    >>> rows
    tensor([[0.6000, 0.8000]])
    """
    if l2:
        rows.add_(parameters, alpha=l2)
    if clip:
        norms = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        rows.mul_((clip / norms).clamp(max=1.0))


class StackedUpdates:
    """Updates of all workers in one batched product per layer: see `DenseGradients`."""

    def __init__(self, model: FlatModel, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.gradients = DenseGradients(model)

    def updates(
        self, batches: Sequence[Batch], workers: Sequence[int], step: int, lr: float, rows: Tensor
    ) -> Tensor:
        """Writes each worker's update to `rows` (m, d)."""
        start = self.model.parameters
        with torch.no_grad():
            local = start
            for k, batch in enumerate(batches):
                if k > 0:
                    local = local - lr * rows
                self.gradients.store(local, batch, rows)
                regularise(rows, local, l2=self.settings.l2, clip=self.settings.clip)
            if len(batches) > 1:
                # (theta - theta_i) / lr, so that one local step gives the gradient.
                torch.sub(start, local - lr * rows, out=rows).div_(lr)
        return rows.new_empty(len(workers), 0)


class WorkerUpdates:
    """Updates worker by worker on one shared model, convolutions in channels-last order.

    Dropout draws from the stream ("dropout", worker, step). Every worker starts from the server's
    running statistics and returns its own.
    """

    def __init__(self, model: FlatModel, settings: Settings) -> None:
        self.model, self.settings = model, settings
        self.device = model.parameters.device

    def updates(
        self, batches: Sequence[Batch], workers: Sequence[int], step: int, lr: float, rows: Tensor
    ) -> Tensor:
        """Writes each worker's update to `rows` (m, d); the statistics (m, s)."""
        model = self.model
        start, statistics = model.parameters.clone(), model.statistics.clone()
        collected = statistics.repeat(len(workers), 1)
        model.module.train()
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            for i, worker in enumerate(workers):
                model.load(start, statistics)
                model.reset_counters()
                self._seed(stream_seed(self.settings.seed, "dropout", worker, step))
                self._work([_one(batch, i) for batch in batches], lr, rows[i])
                collected[i] = model.statistics
        model.load(start, statistics)
        model.reset_counters()
        return collected

    def _work(self, batches: Sequence[Batch], lr: float, row: Tensor) -> None:
        model = self.model
        start = model.parameters.clone() if len(batches) > 1 else model.parameters
        for k, batch in enumerate(batches):
            inputs = batch.inputs
            if inputs.ndim == 4:
                inputs = inputs.to(memory_format=torch.channels_last)
            logits = model.module(inputs)
            loss = weighted_cross_entropy(
                logits,
                batch.labels,
                batch.weights,
                batch.shifts,
                batch.margins,
                batch.factors,
            )
            model.store_gradients(loss, row)
            regularise(row[None], model.parameters, l2=self.settings.l2, clip=self.settings.clip)
            if len(batches) > 1:
                model.parameters.sub_(row, alpha=lr)
            if k == len(batches) - 1 and k > 0:
                torch.sub(start, model.parameters, out=row).div_(lr)

    def _seed(self, seed: int) -> None:
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(seed)


def _one(batch: Batch, i: int) -> Batch:
    terms = Terms(batch.weights, batch.shifts, batch.margins, batch.factors)
    own = terms.each(lambda part: part[i])
    return Batch(
        batch.inputs[i], batch.labels[i], own.weights, own.shifts, own.margins, own.factors
    )
