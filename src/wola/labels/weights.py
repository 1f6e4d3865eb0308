"""The weight q over p of each class, for a worker's data set or for one batch."""

import torch
from torch import Tensor

from wola.labels.counts import check_counts
from wola.labels.cross_entropy import class_axis
from wola.labels.simplex import Vector, check_distribution


def wola_weights(counts: Vector, q: Vector, *, renormalise: bool = False) -> Tensor:
    r"""The weight of each class at a worker, :math:`w^c = q^c / p_i^c`: (C,) float64.

    ``counts`` (C,) are the worker's samples per class, :math:`p_i^c = N_i^c / N_i`, and ``q`` (C,)
    is the training objective. A class the worker does not hold gets 0, which is never used.
    Weighted by the counts, the weights average to the mass q puts on the classes present: 1 where
    all are. ``renormalise=True`` divides by that mass, so that they always average to 1.
    Reference: the WoLA paper, definition 1.

    >>> wola_weights([1, 3, 0], [0.5, 0.25, 0.25])
    tensor([2.0000, 0.3333, 0.0000], dtype=torch.float64)
    """
    if not isinstance(renormalise, bool):
        raise TypeError(f"renormalise must be a bool, got {renormalise!r}")
    held = check_counts(counts)
    objective = check_distribution(q, len(held)).to(held.device)
    if renormalise and not bool(objective[held > 0].any()):
        raise ValueError(
            f"q must have mass on a class that counts holds to be renormalised, "
            f"got q = {objective.tolist()} and counts = {held.tolist()}"
        )
    return class_weights(held, objective, renormalise=renormalise)


def class_weights(counts: Tensor, q: Tensor, *, renormalise: bool) -> Tensor:
    """``q`` over ``counts`` / their sum (C,), 0 where the count is 0, in the dtype of ``q``.

    No value is read on the host, so it runs under ``vmap`` and without waiting for a device.
    """
    absent = counts <= 0
    weights = (q * counts.sum() / counts.masked_fill(absent, 1)).masked_fill(absent, 0)
    if renormalise:
        mass = q.masked_fill(absent, 0).sum()
        weights = weights / mass.masked_fill(mass <= 0, 1)
    return weights


def batch_counts(targets: Tensor, classes: int, *, ignore_index: int) -> Tensor:
    """Samples per class in a batch: whole (C,), or the sums of shares of soft labels.

    Soft labels have their classes where logits have them, see :func:`class_axis`.
    """
    if targets.is_floating_point():
        return targets.movedim(class_axis(targets), -1).reshape(-1, classes).sum(0)
    # A comparison in place of bincount, which vmap does not know.
    flat = targets.reshape(-1, 1)
    hits = flat == torch.arange(classes, device=targets.device)
    return (hits & (flat != ignore_index)).sum(0)
