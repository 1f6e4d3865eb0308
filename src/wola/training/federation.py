"""The workers of a scenario: what data each holds, what it trains towards, what tests the model."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from wola.data import (
    Dataset,
    Dirichlet,
    GammaSimilarity,
    Iid,
    Partition,
    Shards,
    load,
    partition_counts,
)
from wola.labels import Objective, Prior, Uniform, global_distribution
from wola.labels.losses import LOSSES, Loss, checked_terms
from wola.training.registry import LABEL_ATTACKS, OBJECTIVE_ATTACKS, make_objective
from wola.training.scenario import Scenario
from wola.training.streams import stream


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Test samples, each once, and how often each one counts: `inputs`, `labels`, `copies` (N,)."""

    inputs: Tensor
    labels: Tensor
    copies: Tensor


@dataclass(frozen=True, eq=False)
class Federation:
    """Who holds what: honest workers first, then the Byzantine ones.

    `inputs` (N, ...) and `labels` (n, N) or (1, N) are the training set as the workers see it,
    `shards` the samples of each; `counts` (n, C) the labels they train on, `q` (C,) the objective,
    `class_weights` (n, C) and `class_shifts` (n, C), None for none, the terms of the workers'
    losses; a loss per batch takes its own from each batch. `computing` workers compute updates; the
    others only send what an attack makes. `notes` tells what was out of the ordinary.
    """

    dataset: Dataset
    inputs: Tensor
    labels: Tensor
    shards: list[Tensor]
    computing: int
    counts: Tensor
    q: Tensor
    class_weights: Tensor
    class_shifts: Tensor | None
    test: HeldOut
    notes: tuple[str, ...]

    @property
    def classes(self) -> int:
        """How many classes there are, C."""
        return len(self.dataset.classes)


def make_partition(scenario: Scenario) -> Partition:
    """The partition that the scenario names."""
    if scenario.partition == "dirichlet":
        return Dirichlet(scenario.alpha, scenario.partition_mode)
    if scenario.partition == "shards":
        return Shards(scenario.classes_per_worker)
    if scenario.partition == "gamma-similarity":
        return GammaSimilarity(scenario.similarity)
    return Iid()


def assemble(scenario: Scenario, dataset: Dataset | None = None) -> Federation:
    """Loads the data, unless it is given, divides it and settles the objective.

    >>> federation = assemble(Scenario(dataset="iris", workers=5, byzantine=1, attack="lf"))
    >>> federation.counts.sum(1)
    tensor([30, 30, 30, 30, 30])
    """
    device = torch.device(scenario.device)
    dataset = dataset or load(scenario.dataset, scenario.data_source)
    classes, partition = len(dataset.classes), make_partition(scenario)
    shards = partition.partition(
        dataset.y_train,
        honest=scenario.honest,
        byzantine=scenario.byzantine,
        classes=classes,
        generator=stream(scenario.seed, "partition"),
    )
    labels = _labels(scenario, dataset.y_train, classes)
    counts = _counts(labels, shards, classes)
    q = settle_objective(scenario, counts)
    terms = checked_terms(loss_of(scenario), counts, q)
    p = global_distribution(counts[: scenario.honest])
    chosen = partition.test_indices(dataset.y_test, p, generator=stream(scenario.seed, "test"))
    train, test = _inputs(scenario, dataset)
    rows, copies = torch.unique_consecutive(chosen.sort().values, return_counts=True)
    return Federation(
        dataset=dataset,
        inputs=train.to(device),
        labels=labels.to(device),
        shards=shards,
        computing=scenario.workers if trains_on_data(scenario) else scenario.honest,
        counts=counts,
        q=q,
        class_weights=terms.weights.float().to(device),
        class_shifts=None if terms.shifts is None else terms.shifts.float().to(device),
        test=HeldOut(test[rows].to(device), dataset.y_test[rows].to(device), copies),
        notes=_notes(scenario, shards, dataset),
    )


def _inputs(scenario: Scenario, dataset: Dataset) -> tuple[Tensor, Tensor]:
    if scenario.inputs == "standardised":
        return dataset.train_inputs, dataset.test_inputs
    return dataset.x_train.float() / dataset.scale, dataset.x_test.float() / dataset.scale


def trains_on_data(scenario: Scenario) -> bool:
    """Whether the Byzantine workers compute on data of their own, as label attackers do."""
    return scenario.attack == "none" or scenario.attack in LABEL_ATTACKS


def _labels(scenario: Scenario, labels: Tensor, classes: int) -> Tensor:
    if scenario.attack not in LABEL_ATTACKS:
        return labels[None]
    wrong = LABEL_ATTACKS[scenario.attack]().labels(labels, classes)
    views = [labels] * scenario.honest + [wrong] * scenario.byzantine
    return torch.stack(views)


def _counts(labels: Tensor, shards: list[Tensor], classes: int) -> Tensor:
    rows = [
        partition_counts(labels[min(i, len(labels) - 1)], [shard], classes)
        for i, shard in enumerate(shards)
    ]
    return torch.cat(rows)


def settle_objective(scenario: Scenario, counts: Tensor) -> Tensor:
    """The objective q (C,) of a scenario from the samples per worker and class (n, C)."""
    distributions = counts.double() / counts.sum(1, keepdim=True)
    honest, f = distributions[: scenario.honest], scenario.byzantine
    objective: Objective = Uniform()
    if scenario.objective == "prior":
        objective = Prior(global_distribution(counts[: scenario.honest]))
    elif scenario.objective == "shared":
        objective = make_objective(scenario.objective_rule, definitions=scenario.definitions)
    if f > 0 and scenario.objective_attack != "none":
        lies = OBJECTIVE_ATTACKS[scenario.objective_attack]()(
            honest, f, objective=objective, generator=stream(scenario.seed, "objective")
        )
        distributions = torch.cat([honest, lies])
    return objective(distributions, f, generator=stream(scenario.seed, "objective"))


def loss_of(scenario: Scenario) -> Loss:
    """The loss of every worker.

    >>> loss_of(Scenario(loss="wola"))
    WoLA(renormalise=False)
    """
    return LOSSES[scenario.loss]()


def _notes(scenario: Scenario, shards: list[Tensor], dataset: Dataset) -> tuple[str, ...]:
    notes = []
    small = [len(shard) for shard in shards if len(shard) < scenario.batch]
    if small:
        notes.append(
            f"{len(small)} of {len(shards)} workers hold fewer samples (from {min(small)}) than a "
            f"batch of {scenario.batch}: their batches are drawn with replacement"
        )
    if scenario.augment and dataset.augment is None:
        notes.append(f"augment is on, but {dataset.name} has no augmentation")
    return tuple(notes)
