"""A client's own training: the terms of its loss, and updates with shifts, by hand in float64."""

import math

import pytest
import torch

from tests.flower.one_client import CLASSES, Q, network, samples
from tests.training.plain import batch_of
from wola.flower.local_training import local_update, loss_terms
from wola.flower.recipe import Recipe
from wola.flower.samples import as_samples
from wola.labels import LOSSES, Terms
from wola.models import FlatModel
from wola.training.streams import stream_seed

OBJECTIVE = torch.tensor(Q, dtype=torch.float64)
WORKER, STEP = 2, 3


def weights_by_hand(labels):
    counts = [int((labels == c).sum()) for c in range(CLASSES)]
    return [q * sum(counts) / count if count else 0.0 for q, count in zip(Q, counts, strict=True)]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_terms_are_those_of_the_data_unless_the_loss_is_one_per_batch(loss):
    labels = samples()[1]
    terms = loss_terms(LOSSES[loss](), labels, OBJECTIVE)
    for batch in (labels[:12], labels[12:20]):
        counts = torch.bincount(labels, minlength=CLASSES).double()
        p, q = counts / counts.sum(), OBJECTIVE
        tempered = (p * q).sqrt() / (p * q).sqrt().sum()
        expected = {
            "wola": weights_by_hand(labels),
            "wola-batch": weights_by_hand(batch),
            "wola-shift": (tempered / p).tolist(),
        }
        made, ones = terms(batch), [1.0] * CLASSES
        assert made.weights.tolist() == pytest.approx(expected.get(loss, ones), rel=1e-12)
        shifts = {
            "fedlc": -(counts**-0.25),
            "logit-adjusted": p.log(),
            "wola-shift": (tempered / q).log(),
        }
        margins = {"dmfl": counts**-0.25}
        factors = {"fedrs": torch.where(counts > 0, 1.0, 0.5).double()}
        parts = ((made.shifts, shifts), (made.margins, margins), (made.factors, factors))
        for found, wanted in parts:
            if loss in wanted:
                torch.testing.assert_close(found, wanted[loss])
            else:
                assert found is None
    assert weights_by_hand(labels[:12]) != pytest.approx(weights_by_hand(labels[12:20]))


@pytest.mark.parametrize("lowest", [-2.0, -math.inf])
def test_a_loss_with_shifts_margins_and_factors_is_trained_as_by_hand(lowest):
    inputs, labels = samples()
    labels = labels.clamp(max=1)
    weights = torch.tensor([0.5, 2.0, 1.0], dtype=torch.float64)
    shifts = torch.tensor([0.7, -0.4, lowest], dtype=torch.float64)
    margins = torch.tensor([0.2, 1.5, 7.0], dtype=torch.float64)
    factors = torch.tensor([1.5, 0.6, 0.3], dtype=torch.float64)
    recipe = Recipe(batch=8, clip=0.0, l2=0.0)
    update, _ = local_update(
        FlatModel(network()),
        as_samples((inputs, labels)),
        labels,
        recipe.orders(STEP),
        terms=lambda _: Terms(weights, shifts, margins, factors),
        worker=WORKER,
        step=STEP,
    )
    chosen = batch_of(torch.arange(len(labels)), 8, recipe.seed, WORKER, STEP)
    model = network().double()
    own = torch.nn.functional.one_hot(labels[chosen], CLASSES) * margins
    shifted = factors * model(inputs[chosen].double()) + shifts - own
    picked = shifted.log_softmax(1)[range(8), labels[chosen]]
    loss = -(weights[labels[chosen]] * picked).sum() / 8
    parts = torch.autograd.grad(loss, list(model.parameters()))
    expected = torch.cat([part.flatten() for part in parts])
    torch.testing.assert_close(update.double(), expected, rtol=1e-5, atol=1e-7)


def test_terms_are_asked_for_the_labels_of_each_local_step():
    inputs, labels = samples()
    recipe, seen = Recipe(batch=8, local_steps=3), []

    def terms(batch):
        seen.append(batch)
        return Terms(torch.ones(CLASSES))

    local_update(
        FlatModel(network()),
        as_samples((inputs, labels)),
        labels,
        recipe.orders(STEP),
        terms=terms,
        worker=WORKER,
        step=STEP,
    )
    generator = torch.Generator().manual_seed(stream_seed(recipe.seed, "batch", WORKER, STEP))
    for batch in seen:
        assert torch.equal(batch, labels[torch.randperm(len(labels), generator=generator)[:8]])
    assert len(seen) == 3
