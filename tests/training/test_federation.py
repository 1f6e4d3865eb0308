"""Who holds what, and what everyone trains towards."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

from wola.attacks import LabelAttack
from wola.data import load
from wola.labels import LOSSES, Loss, Terms
from wola.training import Scenario, assemble
from wola.training.federation import loss_of


@dataclass(frozen=True)
class LogPrior(Loss):
    """Shifts of log p, -inf for a class that is absent."""

    sign: int = 1

    def terms(self, counts, q):
        return Terms(torch.ones_like(q), self.sign * (counts.double() / counts.sum()).log())


def counted(labels, classes=10):
    return np.bincount(labels.numpy(), minlength=classes)


def test_counts_are_those_of_the_shards():
    federation = assemble(Scenario())
    labels = load("digits").y_train
    assert len(federation.shards) == 17
    for shard, row in zip(federation.shards, federation.counts, strict=True):
        assert row.tolist() == counted(labels[shard]).tolist()


def test_label_flippers_hold_shards_of_their_own_with_labels_flipped():
    honest, flipped = assemble(Scenario(attack="none")), assemble(Scenario(attack="lf"))
    assert honest.computing == flipped.computing == 17
    assert torch.equal(honest.counts[:11], flipped.counts[:11])
    assert torch.equal(honest.counts[11:], flipped.counts[11:].flip(1))


@pytest.mark.parametrize("alpha", [3.0, 0.3, 0.05])
def test_attackers_of_one_class_train_on_the_rarest_they_hold_and_on_true_labels(alpha):
    plain = assemble(Scenario(attack="none", alpha=alpha))
    federation = assemble(Scenario(attack="one-class", alpha=alpha))
    labels = load("digits").y_train
    assert federation.computing == 17
    assert torch.equal(federation.counts[:11], plain.counts[:11])
    held, honest = plain.counts[11:].sum(0).tolist(), plain.counts[:11].sum(0).tolist()
    rarest = min((count, c) for c, count in enumerate(honest) if held[c])[1]
    together = torch.cat(plain.shards[11:])
    pool = together[labels[together] == rarest]
    for worker in range(11, 17):
        own = plain.shards[worker]
        own = own[labels[own] == rarest]
        assert torch.equal(federation.shards[worker], own if len(own) else pool)
        assert torch.equal(federation.labels[worker], labels)
    assert (federation.counts[11:].argmax(1) == rarest).all()
    assert ((federation.counts[11:] > 0).sum(1) == 1).all()


def test_some_attackers_of_one_class_have_to_share_where_labels_are_skewed():
    plain = assemble(Scenario(attack="none", alpha=0.05))
    federation = assemble(Scenario(attack="one-class", alpha=0.05))
    (rarest,) = set(federation.counts[11:].argmax(1).tolist())
    assert (plain.counts[11:, rarest] == 0).any()


def test_an_attack_that_chooses_no_sample_is_refused():
    @dataclass(frozen=True)
    class Nothing(LabelAttack):
        def relabel(self, labels, classes):
            return labels

        def choose(self, labels, honest):
            return torch.zeros_like(labels, dtype=torch.bool)

    with pytest.raises(ValueError, match=r"Nothing\(\) chooses none of the .* samples"):
        assemble(Scenario(attack=Nothing()))
    assert assemble(Scenario(attack=Nothing(), byzantine=0)).computing == 17


def test_attackers_that_only_lie_about_updates_do_not_compute():
    assert assemble(Scenario(attack="sf")).computing == 11


def test_attackers_that_know_their_own_updates_alone_compute_honestly():
    federation = assemble(Scenario(attack="fang-krum(knowledge=partial)"))
    honest = assemble(Scenario(attack="none"))
    assert federation.computing == 17
    assert torch.equal(federation.counts, honest.counts)
    assert torch.equal(federation.labels, honest.labels)


def test_wola_weighs_each_class_by_q_over_p():
    federation = assemble(Scenario(loss="wola", attack="lf"))
    counts = federation.counts.numpy().astype(float)
    q = counts[:11].sum(0) / counts[:11].sum()
    np.testing.assert_allclose(federation.q.numpy(), q, rtol=1e-12)
    p = counts / counts.sum(1, keepdims=True)
    expected = np.where(p > 0, q / np.where(p > 0, p, 1), 0)
    np.testing.assert_allclose(federation.terms.weights.numpy(), expected, rtol=1e-6)


def test_cross_entropy_weighs_nothing():
    assert torch.equal(assemble(Scenario()).terms.weights, torch.ones(17, 10))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_scenario_names_its_loss_and_keeps_its_terms_for_every_worker(loss):
    scenario = Scenario(loss=loss, alpha=0.1)
    assert loss_of(scenario) == LOSSES[loss]()
    federation = assemble(scenario)
    counts = federation.counts.numpy().astype(float)
    assert (counts == 0).any()
    with np.errstate(divide="ignore"):
        calibration = np.where(counts > 0, counts, 1e-8) ** -0.25
        p, q = counts / counts.sum(1, keepdims=True), federation.q.numpy()
        tempered = np.sqrt(p * q) / np.sqrt(p * q).sum(1, keepdims=True)
        shifts = {
            "fedlc": -calibration,
            "logit-adjusted": np.log(p),
            "wola-shift": np.log(tempered / q),
        }
    wanted = {
        "shifts": shifts.get(loss),
        "margins": calibration if loss == "dmfl" else None,
        "factors": np.where(counts > 0, 1.0, 0.5) if loss == "fedrs" else None,
    }
    for name, expected in wanted.items():
        made = getattr(federation.terms, name)
        if expected is None:
            assert made is None
        else:
            assert made.dtype == torch.float32
            np.testing.assert_allclose(made.numpy(), expected, rtol=1e-6)


def test_shifts_are_kept_for_every_worker(monkeypatch):
    monkeypatch.setattr("wola.training.federation.loss_of", lambda _: LogPrior())
    federation = assemble(Scenario(alpha=0.1))
    p = federation.counts.numpy() / federation.counts.numpy().sum(1, keepdims=True)
    assert (p == 0).any()
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(federation.terms.shifts.numpy(), np.log(p), rtol=1e-6)
    assert federation.terms.shifts.dtype == torch.float32


def test_a_loss_with_terms_that_cannot_be_is_refused_before_training(monkeypatch):
    monkeypatch.setattr("wola.training.federation.loss_of", lambda _: LogPrior(sign=-1))
    with pytest.raises(ValueError, match=r"^LogPrior\(sign=-1\): shifts = .*inf.*; allowed: "):
        assemble(Scenario(alpha=0.1))


def test_the_uniform_objective():
    assert assemble(Scenario(loss="wola", objective="uniform")).q.tolist() == [0.1] * 10


def weiszfeld(rows, iterations, nu):
    z = np.zeros(rows.shape[1])
    for _ in range(iterations):
        w = 1 / np.maximum(nu, np.sqrt(((rows - z) ** 2).sum(1)))
        z = (w[:, None] * rows).sum(0) / w.sum()
    return z


def test_the_shared_objective_under_attack_is_the_papers():
    scenario = Scenario.paper("digits", strategy="WoLA-dagger")
    federation = assemble(scenario)
    counts = federation.counts[:11].numpy().astype(float)
    p = counts / counts.sum(1, keepdims=True)
    lie = np.eye(10)[p.mean(0).argmin()]
    expected = weiszfeld(np.vstack([p, np.tile(lie, (6, 1))]), 3, 0.1)
    np.testing.assert_allclose(federation.q.numpy(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("attack", ["none", "outlier", "worst"])
def test_the_shared_objective_is_a_distribution_under_every_lie(attack):
    federation = assemble(
        Scenario(loss="wola", objective="shared(median)", objective_attack=attack)
    )
    assert float(federation.q.sum()) == pytest.approx(1)
    assert bool((federation.q >= 0).all())


def test_the_test_set_follows_the_honest_global_distribution():
    federation = assemble(Scenario())
    test = federation.test
    weights = np.bincount(test.labels.numpy(), weights=test.copies.numpy(), minlength=10)
    assert weights.sum() == 360
    assert np.abs(weights / 360 - federation.q.numpy()).max() <= 1 / 360


def test_a_disjoint_partition_tests_on_every_sample_once():
    test = assemble(Scenario(partition="dirichlet(mode=disjoint)")).test
    assert len(test.labels) == 360
    assert set(test.copies.tolist()) == {1}


@pytest.mark.parametrize("partition", ["iid", "shards(k=3)", "gamma-similarity", "groups"])
def test_every_partition_gives_every_worker_samples(partition):
    federation = assemble(Scenario(partition=partition))
    assert bool((federation.counts.sum(1) > 0).all())
    if partition == "shards(k=3)":
        assert set((federation.counts > 0).sum(1).tolist()) == {3}


def test_inputs_are_standardised_or_only_scaled():
    standard, scaled = assemble(Scenario()), assemble(Scenario(inputs="scaled"))
    assert abs(float(standard.inputs.mean())) < 1e-6
    assert (float(scaled.inputs.min()), float(scaled.inputs.max())) == (0.0, 1.0)


def test_small_shards_and_a_missing_augmentation_are_noted():
    notes = assemble(Scenario(dataset="iris", augment=True)).notes
    assert "17 of 17 workers hold fewer samples (from 10) than a batch of 128" in notes[0]
    assert notes[1] == "augment is on, but iris has no augmentation"
    assert assemble(Scenario()).notes == ()


def test_an_attack_that_does_nothing_with_these_numbers_is_noted():
    (note,) = assemble(Scenario(workers=10, byzantine=1)).notes
    assert note.endswith(
        "with n = 10 and f = 1 the attackers' z is 0, so they send the honest mean"
    )
    (note,) = assemble(Scenario(workers=20, byzantine=6, participants=10, batch=16)).notes
    assert "with n = 10 and f = 1 " in note
    assert assemble(Scenario(workers=10, byzantine=1, attack="alie(z=-1)")).notes == ()
    assert assemble(Scenario(workers=10, byzantine=0)).notes == ()
    assert assemble(Scenario(workers=10, byzantine=1, attack="lf")).notes == ()


def test_more_workers_than_samples_are_refused():
    with pytest.raises(ValueError, match=r"honest = 194, with 120 samples"):
        assemble(Scenario(dataset="iris", workers=200))
