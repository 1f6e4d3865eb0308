"""Batches: each worker's own draw, and the terms of its loss."""

import dataclasses
from dataclasses import dataclass

import pytest
import torch
from torch import nn

from tests.training.plain import batch_of
from wola.data import HorizontalFlip
from wola.labels import LOSSES, Loss, Terms, WoLALoss
from wola.training import Scenario, assemble
from wola.training.batches import draw_batches, draw_indices


def test_a_batch_is_drawn_without_replacement_from_the_workers_stream():
    scenario = Scenario(seed=5, batch=60)
    federation = assemble(scenario)
    (batch,) = draw_batches(federation, scenario, [0, 7], 3)
    for row, worker in enumerate([0, 7]):
        chosen = batch_of(federation.shards[worker], 60, 5, worker, 3)
        assert torch.equal(batch.inputs[row], federation.inputs[chosen])
        assert torch.equal(batch.labels[row], federation.dataset.y_train[chosen])


def test_a_draw_repeats_nothing_unless_the_shard_is_too_small():
    shard, generator = torch.arange(50), torch.Generator().manual_seed(1)
    assert len(draw_indices(shard, 50, generator).unique()) == 50
    drawn = draw_indices(shard[:5], 64, generator)
    assert len(drawn) == 64
    assert set(drawn.tolist()) <= set(range(5))


def test_a_workers_batch_does_not_depend_on_who_else_takes_part():
    scenario = Scenario()
    federation = assemble(scenario)
    alone = draw_batches(federation, scenario, [4], 2)[0]
    together = draw_batches(federation, scenario, [1, 4, 9], 2)[0]
    assert torch.equal(alone.inputs[0], together.inputs[1])


def test_steps_and_local_steps_look_at_other_samples():
    scenario = Scenario(local_steps=3, batch=20)
    federation = assemble(scenario)
    drawn = [
        *draw_batches(federation, scenario, [0], 1),
        *draw_batches(federation, scenario, [0], 2),
    ]
    assert len(drawn) == 6
    assert len({tuple(batch.inputs.flatten().tolist()) for batch in drawn}) == 6


def test_label_attackers_see_their_own_labels():
    scenario = Scenario(attack="lf")
    federation = assemble(scenario)
    (batch,) = draw_batches(federation, scenario, [3, 12], 1)
    chosen = batch_of(federation.shards[12], 128, 1, 12, 1)
    assert torch.equal(batch.labels[1], 9 - federation.dataset.y_train[chosen])
    honest = batch_of(federation.shards[3], 128, 1, 3, 1)
    assert torch.equal(batch.labels[0], federation.dataset.y_train[honest])


def weighted(loss, level):
    scenario = Scenario(loss=loss, batch=40)
    federation = assemble(scenario)
    workers = [0, 5]
    (batch,) = draw_batches(federation, scenario, workers, 1)
    logits = torch.randn(2, 40, 10, generator=torch.Generator().manual_seed(2))
    for row, worker in enumerate(workers):
        wola = WoLALoss(federation.counts[worker], federation.q, level=level)
        terms = nn.functional.cross_entropy(logits[row], batch.labels[row], reduction="none")
        ours = (terms * batch.weights[row][batch.labels[row]]).sum() / 40
        torch.testing.assert_close(ours, wola(logits[row], batch.labels[row]))


def test_wola_weights_make_the_wola_loss():
    weighted("wola", "dataset")


def test_batch_weights_make_the_batch_level_loss():
    weighted("wola-batch", "batch")


@dataclass(frozen=True)
class LogPrior(Loss):
    """Shifts of log p, -inf for a class that is absent, p from the data."""

    def terms(self, counts, q):
        return Terms(torch.ones_like(q), (counts / counts.sum()).log())


@dataclass(frozen=True)
class LogBatchPrior(LogPrior):
    """The same, p from each batch."""

    per_batch = True


@pytest.mark.parametrize("loss", [LogPrior(), LogBatchPrior()])
def test_shifts_are_those_of_the_data_or_of_each_batch(loss, monkeypatch):
    monkeypatch.setattr("wola.training.federation.loss_of", lambda _: loss)
    monkeypatch.setattr("wola.training.batches.loss_of", lambda _: loss)
    scenario, workers = Scenario(batch=6, local_steps=2), [2, 9]
    federation = assemble(scenario)
    drawn = draw_batches(federation, scenario, workers, 1)
    for batch in drawn:
        for row, worker in enumerate(workers):
            counts = federation.counts[worker]
            if loss.per_batch:
                counts = torch.bincount(batch.labels[row], minlength=10)
                assert not counts.all()
            expected = (counts.double() / counts.sum()).log().float()
            torch.testing.assert_close(batch.shifts[row], expected)
            assert batch.weights[row].tolist() == [1.0] * 10
    same = torch.equal(drawn[0].shifts, drawn[1].shifts)
    assert same is not loss.per_batch


@pytest.mark.parametrize("name", LOSSES)
def test_batches_have_the_terms_of_their_workers_and_no_others(name):
    scenario = Scenario(loss=name)
    federation = assemble(scenario)
    (batch,) = draw_batches(federation, scenario, [7, 2], 1)
    assert (batch.shifts is not None) == (name in ("fedlc", "logit-adjusted", "wola-shift"))
    assert (batch.margins is not None) == (name == "dmfl")
    assert (batch.factors is not None) == (name == "fedrs")
    for part in ("shifts", "margins", "factors"):
        if getattr(batch, part) is not None:
            assert torch.equal(getattr(batch, part), getattr(federation.terms, part)[[7, 2]])


def test_augmentation_has_a_stream_of_its_own():
    scenario = Scenario(augment=True)
    federation = assemble(scenario)
    plain = draw_batches(federation, scenario, [0, 1], 1)[0]
    dataset = dataclasses.replace(federation.dataset, augment=HorizontalFlip())
    flipped = dataclasses.replace(federation, dataset=dataset)
    first = draw_batches(flipped, scenario, [0, 1], 1)[0]
    again = draw_batches(flipped, scenario, [1], 1)[0]
    mirrored = (first.inputs == plain.inputs.flip(-1)).flatten(2).all(2)
    same = (first.inputs == plain.inputs).flatten(2).all(2)
    assert bool((mirrored | same).all())
    assert 0 < int(mirrored.sum()) < mirrored.numel()
    assert torch.equal(again.inputs[0], first.inputs[1])
