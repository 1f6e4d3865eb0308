"""The workers of a scenario: what data each holds, what it trains towards, what tests the model."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from wola.attacks import Attack, LabelAttack
from wola.data import (
    Dataset,
    LabelMix,
    Partition,
    ServerShare,
    label_shift,
    partition_counts,
)
from wola.labels import Loss, Terms, checked_terms, global_distribution
from wola.training.checks import check_class_count
from wola.training.content import dataset_of
from wola.training.registry import PARTS
from wola.training.reports import settle_objective, settle_reports
from wola.training.scenario import Scenario, ScenarioError, TrainingFields
from wola.training.server_data import ServerData
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
    `shards` the samples of each; `counts` (n, C) the labels they train on, `reports` (n, C) the
    label distributions they report, Byzantine ones' lies among them, `q` (C,) the objective,
    `terms` the weights, shifts, margins and factors (n, C) of the workers' losses, in float32; a
    loss per batch takes its own from each batch. `computing` workers compute updates; the others
    only send what an attack makes. `notes` tells what was out of the ordinary, `mix` what the
    division did to the labels. `server` is the data that the server holds, if any.
    """

    dataset: Dataset
    inputs: Tensor
    labels: Tensor
    shards: list[Tensor]
    computing: int
    counts: Tensor
    reports: Tensor
    q: Tensor
    terms: Terms
    test: HeldOut
    notes: tuple[str, ...]
    mix: LabelMix
    server: ServerData | None = None

    @property
    def classes(self) -> int:
        """How many classes there are, C."""
        return len(self.dataset.classes)


def partition_of(scenario: Scenario) -> Partition:
    """The partition that the scenario names, with the scenario's alpha where it takes one."""
    made: Partition = PARTS.make("partition", scenario.partition, alpha=scenario.alpha)
    return made


def server_indices(scenario: Scenario, dataset: Dataset) -> Tensor:
    """The training samples that the server holds, ascending; none unless the scenario says so."""
    share: ServerShare | None = PARTS.make("server_data", scenario.server_data)
    if share is None:
        return torch.empty(0, dtype=torch.int64)
    generator = stream(scenario.seed, "server data")
    return share.draw(dataset.y_train, len(dataset.classes), generator)


def divided(scenario: Scenario, dataset: Dataset) -> list[Tensor]:
    """The indices that each worker holds, honest workers first: none that the server holds."""
    kept = torch.ones(len(dataset.y_train), dtype=torch.bool)
    kept[server_indices(scenario, dataset)] = False
    places = kept.nonzero()[:, 0]
    shards = partition_of(scenario).partition(
        dataset.y_train[places],
        honest=scenario.honest,
        byzantine=scenario.byzantine,
        classes=len(dataset.classes),
        clients=None if dataset.clients is None else dataset.clients[places],
        generator=stream(scenario.seed, "partition"),
    )
    return shards if len(places) == len(kept) else [places[shard] for shard in shards]


def assemble(scenario: Scenario, dataset: Dataset | None = None) -> Federation:
    """Loads the data, unless it is given, divides it and settles the objective.

    >>> federation = assemble(Scenario(dataset="iris", workers=5, byzantine=1, attack="lf"))
    >>> federation.counts.sum(1)
    tensor([30, 30, 30, 30, 30])
    """
    device = torch.device(scenario.device)
    dataset = dataset or dataset_of(scenario.dataset)
    classes = len(dataset.classes)
    try:
        check_class_count(scenario, classes)
    except ValueError as error:
        raise ScenarioError(str(error)) from None
    shards = divided(scenario, dataset)
    labels = _labels(scenario, dataset.y_train, classes)
    shards = _trained_on(scenario, labels, shards, classes)
    counts = _counts(labels, shards, classes)
    reports = settle_reports(scenario, counts)
    q = settle_objective(scenario, counts, reports)
    terms = checked_terms(loss_of(scenario), counts, q)
    p = global_distribution(counts[: scenario.honest])
    chosen = tested_indices(scenario, dataset, p)
    train, test = _inputs(scenario, dataset)
    rows, copies = torch.unique_consecutive(chosen.sort().values, return_counts=True)
    return Federation(
        dataset=dataset,
        inputs=train.to(device),
        labels=labels.to(device),
        shards=shards,
        computing=scenario.workers if trains_on_data(scenario) else scenario.honest,
        counts=counts,
        reports=reports,
        q=q,
        terms=terms.to(torch.float32, device),
        test=HeldOut(test[rows].to(device), dataset.y_test[rows].to(device), copies),
        notes=_notes(scenario, shards, dataset),
        mix=label_shift(dataset, shards, scenario.honest, chosen),
        server=_server_data(scenario, dataset, train),
    )


def _server_data(scenario: Scenario, dataset: Dataset, train: Tensor) -> ServerData | None:
    share: ServerShare | None = PARTS.make("server_data", scenario.server_data)
    if share is None:
        return None
    indices, device = server_indices(scenario, dataset), torch.device(scenario.device)
    generator = stream(scenario.seed, "server labels")
    labels = share.noisy(dataset.y_train[indices], len(dataset.classes), generator)
    return ServerData(train[indices].to(device), labels.to(device), len(dataset.classes))


def tested_indices(scenario: Scenario, dataset: Dataset, p: Tensor) -> Tensor:
    """The test samples that count, for the honest workers' label distribution p (C,)."""
    generator = stream(scenario.seed, "test")
    return partition_of(scenario).test_indices(dataset.y_test, p, generator=generator)


def _inputs(scenario: Scenario, dataset: Dataset) -> tuple[Tensor, Tensor]:
    if scenario.inputs == "standardised":
        return dataset.train_inputs, dataset.test_inputs
    return dataset.x_train.float() / dataset.scale, dataset.x_test.float() / dataset.scale


def trains_on_data(scenario: Scenario) -> bool:
    """Whether the Byzantine workers compute on data of their own.

    Label attackers do, and those that know nothing but the honest updates of their own.
    """
    attack = PARTS.make("attack", scenario.attack)
    return not isinstance(attack, Attack) or attack.partial_knowledge


def _labels(scenario: Scenario, labels: Tensor, classes: int) -> Tensor:
    attack = PARTS.make("attack", scenario.attack)
    if not isinstance(attack, LabelAttack):
        return labels[None]
    wrong = attack.labels(labels, classes)
    views = [labels] * scenario.honest + [wrong] * scenario.byzantine
    return torch.stack(views)


def _trained_on(
    scenario: Scenario, labels: Tensor, shards: list[Tensor], classes: int
) -> list[Tensor]:
    """The shards, those of label attackers cut down to the samples that their attack chooses."""
    attack, h = PARTS.make("attack", scenario.attack), scenario.honest
    if not isinstance(attack, LabelAttack) or not shards[h:]:
        return shards
    honest, pool = partition_counts(labels[0], shards[:h], classes).sum(0), torch.cat(shards[h:])
    chosen = attack.choose(labels[-1][pool], honest)
    if not bool(chosen.any()):
        raise ValueError(
            f"{attack!r} chooses none of the {len(pool)} samples that the attackers hold; allowed: "
            "at least one"
        )
    masks = chosen.split_with_sizes([len(shard) for shard in shards[h:]])
    cut = [shard[mask] for shard, mask in zip(shards[h:], masks, strict=True)]
    return [*shards[:h], *(shard if len(shard) else pool[chosen] for shard in cut)]


def _counts(labels: Tensor, shards: list[Tensor], classes: int) -> Tensor:
    rows = [
        partition_counts(labels[min(i, len(labels) - 1)], [shard], classes)
        for i, shard in enumerate(shards)
    ]
    return torch.cat(rows)


def loss_of(scenario: TrainingFields) -> Loss:
    """The loss of every worker.

    >>> loss_of(Scenario(loss="wola"))
    WoLA(renormalise=False)
    """
    loss: Loss = PARTS.make("loss", scenario.loss)
    return loss


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
    return (*notes, *_attack_notes(scenario))


def _attack_notes(scenario: Scenario) -> list[str]:
    """What the attack says of itself for each number of attackers that a round may have."""
    attack, c = PARTS.make("attack", scenario.attack), scenario.round_counts()[0]
    if not isinstance(attack, Attack):
        return []
    numbers = range(max(1, c - scenario.honest), min(scenario.byzantine, (c - 1) // 2) + 1)
    return [note for f in numbers if (note := attack.note(c, f)) is not None]
