"""The model on the test set: accuracy, loss, and who is taken for whom."""

from collections.abc import Sequence
from time import perf_counter

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from wola.models import FlatModel
from wola.training.federation import HeldOut
from wola.training.metrics import Evaluation

#: Samples that go through the model at once.
BATCH = 500


def logits_of(model: FlatModel, inputs: Tensor) -> Tensor:
    """The model's outputs (N, C) in evaluation mode, in large batches, on the CPU."""
    model.module.eval()
    made = []
    with torch.inference_mode():
        for rows in torch.split(inputs, BATCH):
            batch = rows.to(memory_format=torch.channels_last) if rows.ndim == 4 else rows
            made.append(model.module(batch).cpu())
    return torch.cat(made)


def evaluate(model: FlatModel, test: HeldOut, step: int) -> Evaluation:
    """Accuracy in percent and mean cross-entropy over the test set.

    >>> _ = torch.nn.init.eye_((layer := torch.nn.Linear(2, 2, bias=False)).weight)
    >>> test = HeldOut(torch.tensor([[9.0, 0.0], [9.0, 0.0]]), torch.tensor([0, 1]),
    ...     torch.tensor([3, 1]))
    >>> evaluate(FlatModel(layer), test, step=1).accuracy
    75.0
    """
    start = perf_counter()
    logits, labels, copies = logits_of(model, test.inputs), test.labels.cpu(), test.copies
    terms = F.cross_entropy(logits.double(), labels, reduction="none")
    hits = (logits.argmax(1) == labels) * copies
    total = int(copies.sum())
    loss = float((terms * copies).sum()) / total
    accuracy = 100.0 * int(hits.sum()) / total
    return Evaluation(step, accuracy, loss, perf_counter() - start)


def confusion(model: FlatModel, test: HeldOut, classes: int) -> Tensor:
    """How often class i was taken for class j over the test set: (C, C) int64."""
    guessed = logits_of(model, test.inputs).argmax(1)
    table = torch.zeros(classes * classes, dtype=torch.int64)
    table.scatter_add_(0, test.labels.cpu() * classes + guessed, test.copies)
    return table.view(classes, classes)


def class_accuracies(table: Tensor) -> list[float | None]:
    """Accuracy in percent of each class from a confusion table (C, C); None where it is empty.

    >>> class_accuracies(torch.tensor([[3, 1], [0, 0]]))
    [75.0, None]
    """
    totals, hits = table.sum(1).tolist(), table.diagonal().tolist()
    return [100.0 * hit / total if total else None for hit, total in zip(hits, totals, strict=True)]


def class_scores(table: Sequence[Sequence[int]]) -> dict[str, float]:
    r"""Balanced accuracy, macro-F1 and accuracy of the worst class, all in percent.

    From a confusion table (C, C). The first is the mean of the accuracies of the classes that have
    samples; the second the mean of :math:`2 t_c / (r_c + g_c)` over the classes that occur, with
    :math:`t_c` the hits, :math:`r_c` the samples and :math:`g_c` the guesses of class c. Nothing
    without samples.

    >>> class_scores([[3, 1], [0, 4]])["worst_class"]
    75.0
    """
    counts = np.asarray(table, dtype=np.float64)
    hits, real, guessed = counts.diagonal(), counts.sum(1), counts.sum(0)
    if not real.any():
        return {}
    there, occur = real > 0, real + guessed > 0
    accuracies = 100 * hits[there] / real[there]
    f1 = 200 * hits[occur] / (real + guessed)[occur]
    return {
        "balanced_accuracy": float(accuracies.mean()),
        "macro_f1": float(f1.mean()),
        "worst_class": float(accuracies.min()),
    }
