"""What the WoLA loss refuses of its settings, weights and shifts."""

import math

import pytest
import torch

from tests.labels.skewed_worker import COUNTS, Q
from wola.labels import Prior, Shared, Uniform, WoLALoss, wola_loss


def test_an_objective_that_needs_reports_must_be_evaluated_first():
    with pytest.raises(TypeError, match=r"got Shared\(.*evaluate one that needs reports first"):
        WoLALoss(COUNTS, Shared())
    with pytest.raises(TypeError, match="objective must be a distribution"):
        WoLALoss(COUNTS, Uniform)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"counts": [1, -1, 0, 2]}, ValueError, "counts must be non-negative"),
        ({"counts": [0, 0, 0, 0]}, ValueError, "counts must have at least one positive"),
        ({"counts": [0.5] * 4}, TypeError, "counts must hold integers"),
        ({"objective": [0.5, 0.5]}, ValueError, "objective must have one entry for each of 4"),
        ({"objective": Prior([0.5, 0.5])}, ValueError, "one entry for each of 4 classes"),
        ({"objective": [0.5] * 4}, ValueError, "objective must sum to 1"),
        ({"objective": [1.5, -0.5, 0, 0]}, ValueError, "objective must be non-negative"),
        ({"objective": [math.nan, 1, 0, 0]}, ValueError, "objective must be finite"),
        ({"level": "epoch"}, ValueError, "level = 'epoch'; .*allowed: dataset, batch"),
        ({"reduction": "avg"}, ValueError, "reduction = 'avg'; .*allowed: mean, sum, none"),
        ({"renormalise": 1}, TypeError, "renormalise must be a bool, got 1"),
        ({"ignore_index": 1.5}, TypeError, "ignore_index must be an int, got 1.5"),
        ({"label_smoothing": 1.5}, ValueError, "label_smoothing = 1.5; allowed: a number from 0"),
        ({"label_smoothing": -0.1}, ValueError, "label_smoothing = -0.1; allowed"),
        ({"label_smoothing": math.nan}, ValueError, "label_smoothing = nan; allowed"),
        ({"label_smoothing": True}, ValueError, "label_smoothing = True; allowed"),
        ({"label_smoothing": "0.1"}, ValueError, "label_smoothing = '0.1'; allowed"),
    ],
)
def test_bad_settings_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        WoLALoss(**({"counts": COUNTS, "objective": Q} | arguments))


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        ([1.0, 1.0], TypeError, r"weights must be a floating-point tensor, got \[1.0, 1.0\]"),
        (torch.ones(2).long(), TypeError, "weights must be a floating-point tensor"),
        (torch.ones(1, 2), ValueError, r"weights must have shape \(C,\), got \(1, 2\)"),
        (torch.tensor([1.0, -1.0]), ValueError, "weights must be finite and non-negative"),
        (torch.tensor([1.0, math.nan]), ValueError, "weights must be finite and non-negative"),
        (torch.ones(3), ValueError, r"logits must have shape \(B, 3, ...\)"),
    ],
)
def test_bad_weights_are_refused(weights, error, words):
    with pytest.raises(error, match=words):
        wola_loss(torch.zeros(1, 2), torch.tensor([0]), weights)


def test_the_plain_function_refuses_bad_targets_and_reductions():
    with pytest.raises(ValueError, match="targets must lie between 0 and 1"):
        wola_loss(torch.zeros(1, 2), torch.tensor([2]), torch.ones(2))
    with pytest.raises(ValueError, match=r"reduction = 'max'; .*allowed: mean"):
        wola_loss(torch.zeros(1, 2), torch.tensor([1]), torch.ones(2), reduction="max")


@pytest.mark.parametrize(
    ("shifts", "error", "words"),
    [
        ([0.0, 0.0], TypeError, r"shifts = \[0.0, 0.0\]; allowed: None or a floating-point tensor"),
        (torch.zeros(2).long(), TypeError, "allowed: None or a floating-point tensor"),
        (torch.zeros(3), ValueError, r"shifts of shape \(3,\); allowed: \(2,\)"),
        (torch.tensor([0.0, math.nan]), ValueError, "allowed: finite numbers or -inf"),
        (torch.tensor([0.0, math.inf]), ValueError, "allowed: finite numbers or -inf"),
        (torch.tensor([-math.inf, 0.0]), ValueError, "targets hold class 0; allowed: classes with"),
    ],
)
@pytest.mark.parametrize("targets", [torch.tensor([1, 0]), torch.full((2, 2), 0.5)])
def test_bad_shifts_are_refused(shifts, error, words, targets):
    with pytest.raises(error, match=words):
        wola_loss(torch.zeros(2, 2), targets, torch.ones(2), shifts)


@pytest.mark.parametrize(
    ("margins", "error", "words"),
    [
        (
            [0.0, 0.0],
            TypeError,
            r"margins = \[0.0, 0.0\]; allowed: None or a floating-point tensor",
        ),
        (torch.zeros(2).long(), TypeError, "margins = tensor.*; allowed: None or a floating-point"),
        (torch.zeros(3), ValueError, r"margins of shape \(3,\); allowed: \(2,\)"),
        (torch.tensor([0.0, math.inf]), ValueError, r"margins = \[0.0, inf\]; allowed: finite"),
    ],
)
def test_bad_margins_are_refused(margins, error, words):
    with pytest.raises(error, match=words):
        wola_loss(torch.zeros(1, 2), torch.tensor([0]), torch.ones(2), margins=margins)


@pytest.mark.parametrize(
    ("factors", "error", "words"),
    [
        (
            [1.0, 1.0],
            TypeError,
            r"factors = \[1.0, 1.0\]; allowed: None or a floating-point",
        ),
        (torch.ones(3), ValueError, r"factors of shape \(3,\); allowed: \(2,\)"),
        (
            torch.tensor([1.0, -0.5]),
            ValueError,
            r"factors = \[1.0, -0.5\]; allowed: finite num",
        ),
        (torch.tensor([1.0, math.inf]), ValueError, r"factors = \[1.0, inf\]; allowed: finite"),
    ],
)
def test_bad_factors_are_refused(factors, error, words):
    with pytest.raises(error, match=words):
        wola_loss(torch.zeros(1, 2), torch.tensor([0]), torch.ones(2), factors=factors)


@pytest.mark.parametrize("level", ["dataset", "batch"])
def test_a_q_without_mass_on_what_a_worker_holds_cannot_be_renormalised(level):
    with pytest.raises(ValueError, match="q must have mass on a class that counts holds"):
        WoLALoss([0, 3], [1.0, 0.0], level=level, renormalise=True)
