"""Batches that the WoLA loss refuses: shapes, dtypes, labels that are none."""

import math

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from tests.labels.skewed_worker import COUNTS, Q
from wola.labels import WoLALoss

SOFT_ABSENT = [[0.5, 0.0, 0.5, 0.0]] * 2


@pytest.mark.parametrize(
    ("logits", "targets", "error", "words"),
    [
        (torch.zeros(2, 4), [0, 1], TypeError, "targets must be a tensor, got list"),
        ([[0.0] * 4], torch.tensor([0]), TypeError, "logits must be a tensor, got list"),
        (torch.zeros(2, 4).long(), torch.tensor([0, 1]), TypeError, "logits must be floating"),
        (torch.zeros(2, 3), torch.tensor([0, 1]), ValueError, r"\(B, 4, ...\) .* got \(2, 3\)"),
        (torch.zeros(()), torch.tensor(0), ValueError, r"logits must have shape \(B, 4, ...\)"),
        (torch.zeros(3), torch.tensor(0), ValueError, r"or \(4,\) for 4 classes, got \(3,\)"),
        (torch.zeros(4), torch.tensor([0]), ValueError, r"must have shape \(\) .* got \(1,\)"),
        (torch.zeros(2, 5, 4), torch.zeros(2, 5).long(), ValueError, r"got \(2, 5, 4\)"),
        (torch.zeros(2, 4, 5), torch.zeros(2, 4).long(), ValueError, r"have shape \(2, 5\)"),
        (torch.zeros(2, 4, 5), torch.zeros(2, 5, 4), ValueError, r"have shape \(2, 4, 5\)"),
        (torch.zeros(2, 4), torch.tensor([0]), ValueError, r"must have shape \(2,\) .* got \(1,\)"),
        (torch.zeros(2, 4), torch.zeros(2), ValueError, r"must have shape \(2, 4\)"),
        (torch.zeros(2, 4), torch.tensor([True, False]), TypeError, "got dtype torch.bool"),
        (torch.zeros(2, 4), torch.tensor([0, 4]), ValueError, "between 0 and 3 .* got 4"),
        (torch.zeros(2, 4), torch.tensor([0, -1]), ValueError, "ignore_index -100, got -1"),
        (torch.zeros(2, 4), torch.tensor([0, 2]), ValueError, "got class 2 with a count of 0"),
        (torch.zeros(2, 4), torch.tensor(SOFT_ABSENT), ValueError, "got class 2 with a count"),
        (torch.zeros(2, 4), torch.full((2, 4), 0.5), ValueError, "soft labels must be finite"),
        (torch.zeros(1, 4), torch.tensor([[1.5, -0.5, 0, 0]]), ValueError, "soft labels must"),
        (torch.zeros(1, 4), torch.full((1, 4), math.nan), ValueError, "soft labels must"),
    ],
)
@pytest.mark.parametrize("level", ["dataset", "batch"])
def test_bad_batches_are_refused(logits, targets, error, words, level):
    with pytest.raises(error, match=words):
        WoLALoss(COUNTS, Q, level=level)(logits, targets)


def test_absent_classes_are_found_wherever_they_are_in_an_image():
    targets = torch.zeros(2, 3, 3, dtype=torch.int64)
    targets[1, 2, 0] = 2
    shares = F.one_hot(targets, 4).movedim(-1, 1).double()
    for labels in (targets, shares):
        with pytest.raises(ValueError, match="got class 2 with a count of 0"):
            WoLALoss(COUNTS, Q)(torch.zeros(2, 4, 3, 3), labels)
