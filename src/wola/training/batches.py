"""The batches of a round: which samples each worker looks at, and the terms of its loss there."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.labels import Terms, checked_terms
from wola.training.federation import Federation, loss_of
from wola.training.scenario import Scenario
from wola.training.streams import stream, stream_seed


@dataclass(frozen=True, eq=False)
class Batch:
    """One batch for each of m workers: `inputs` (m, B, ...) and `labels` (m, B).

    `weights`, `shifts`, `margins` and `factors` (m, C), None for none, are those of the classes in
    their losses.
    """

    inputs: Tensor
    labels: Tensor
    weights: Tensor
    shifts: Tensor | None = None
    margins: Tensor | None = None
    factors: Tensor | None = None


def draw_indices(shard: Tensor, size: int, generator: Generator) -> Tensor:
    """`size` samples of a shard, without replacement; with it if the shard is smaller.

    >>> draw_indices(torch.tensor([4, 7]), 2, torch.Generator().manual_seed(0)).sort().values
    tensor([4, 7])
    """
    if len(shard) < size:
        return shard[torch.randint(len(shard), (size,), generator=generator)]
    return shard[torch.randperm(len(shard), generator=generator)[:size]]


def draw_batches(
    federation: Federation, scenario: Scenario, workers: Sequence[int], step: int
) -> list[Batch]:
    """The batches of these workers in a round, one for each local step.

    Worker i draws from the stream ("batch", i, step), whoever else takes part.
    """
    if not workers:
        return []
    generator = Generator()
    drawn = []
    for worker in workers:
        generator.manual_seed(stream_seed(scenario.seed, "batch", worker, step))
        shard = federation.shards[worker]
        drawn += [
            draw_indices(shard, scenario.batch, generator) for _ in range(scenario.local_steps)
        ]
    # (m, local steps, B): a worker's draws lie together, a local step takes one of each.
    indices = torch.stack(drawn).view(len(workers), scenario.local_steps, scenario.batch)
    indices = indices.to(federation.inputs.device)
    return [
        _batch(federation, scenario, workers, indices[:, k], step, k)
        for k in range(scenario.local_steps)
    ]


def _batch(
    federation: Federation,
    scenario: Scenario,
    workers: Sequence[int],
    indices: Tensor,
    step: int,
    local_step: int,
) -> Batch:
    inputs = federation.inputs.index_select(0, indices.flatten())
    inputs = inputs.view(*indices.shape, *inputs.shape[1:])
    augment = federation.dataset.augment
    if scenario.augment and augment is not None:
        names = ("augmentation", step, local_step)
        inputs = torch.stack(
            [
                augment(rows, stream(scenario.seed, *names, worker))
                for worker, rows in zip(workers, inputs, strict=True)
            ]
        )
    labels = _labels(federation, workers, indices)
    terms = _terms(federation, scenario, workers, labels)
    return Batch(inputs, labels, terms.weights, terms.shifts, terms.margins, terms.factors)


def _labels(federation: Federation, workers: Sequence[int], indices: Tensor) -> Tensor:
    if len(federation.labels) == 1:
        return federation.labels[0][indices]
    rows = torch.tensor(workers, device=indices.device)
    return federation.labels[rows[:, None], indices]


def _terms(
    federation: Federation, scenario: Scenario, workers: Sequence[int], labels: Tensor
) -> Terms:
    loss = loss_of(scenario)
    if not loss.per_batch:
        rows = list(workers)
        return federation.terms.each(lambda part: part[rows])
    q = federation.q.to(labels.device)
    counts = torch.zeros(len(labels), len(q), device=labels.device, dtype=torch.int64)
    counts.scatter_add_(1, labels, torch.ones_like(labels))
    return checked_terms(loss, counts, q).to(torch.float32, labels.device)
