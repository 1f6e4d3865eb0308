"""The Worker Label Alignment loss: cross-entropy weighted by q over the local distribution."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor

from wola.ground.checks import check_choice
from wola.labels.class_loss import ClassLoss
from wola.labels.cross_entropy import REDUCTIONS, Reduction, weighted_cross_entropy
from wola.labels.losses import WoLA, WoLABatch
from wola.labels.objective import Objective
from wola.labels.simplex import Vector
from wola.labels.targets import check_batch, check_classes, first_outside, refuted
from wola.labels.weights import wola_weights

Level: TypeAlias = Literal["dataset", "batch"]

LEVELS = ("dataset", "batch")


def wola_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    shifts: Tensor | None = None,
    margins: Tensor | None = None,
    factors: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
) -> Tensor:
    r"""Cross-entropy of a batch, each sample weighted by its class, its logits shifted by class.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(g \odot z_k + b - m^{y_k} e_{y_k})^{y_k}

    ``logits`` (B, C) and ``targets`` (B,) classes; or, as in ``torch.nn.CrossEntropyLoss``, logits
    (B, C, d1, ...) with targets (B, d1, ...), each of which is a sample, and logits (C,) with one
    class. ``weights`` w (C,) are those of :func:`wola_weights` or of any :class:`Terms`;
    ``shifts`` b (C,) are added to the logits, and -inf takes a class out: it must not be a target.
    ``margins`` m (C,) are taken from the logit of the target alone; ``factors`` g (C,) multiply the
    logits first.
    ``"mean"`` divides by the number of samples, never by the sum of the weights as
    ``torch.nn.CrossEntropyLoss(weight=...)`` does, which is another loss; ``"sum"`` does not
    divide; ``"none"`` gives the terms. Samples whose target is ``ignore_index`` contribute 0
    and are not counted in the number the mean divides by; where none is left, the mean is 0.
    Floating-point ``targets`` of the shape of ``logits`` are soft labels: the term of a sample is
    :math:`\sum_c t^c w^c (-\log \mathrm{softmax}(g \odot z + b - m^c e_c)^c)`, the expected
    weighted loss of a label drawn from t, and nothing is ignored. Half-precision logits are
    computed in float32.

    >>> logits = torch.zeros(2, 2)
    >>> wola_loss(logits, torch.tensor([0, 1]), torch.tensor([2.0, 0.5]), reduction="none")
    tensor([1.3863, 0.3466])
    """
    check_choice("reduction", reduction, REDUCTIONS)
    if not isinstance(weights, Tensor) or not weights.is_floating_point():
        raise TypeError(f"weights must be a floating-point tensor, got {weights!r}")
    if weights.ndim != 1:
        raise ValueError(f"weights must have shape (C,), got {tuple(weights.shape)}")
    if refuted(weights.isfinite() & (weights >= 0)):
        raise ValueError(f"weights must be finite and non-negative, got {weights.tolist()}")
    check_batch(logits, targets, classes=len(weights))
    check_classes(targets, len(weights), ignore_index=ignore_index)
    if shifts is not None:
        _check_shifts(shifts, targets, len(weights), ignore_index=ignore_index)
    if margins is not None:
        _check_vector("margins", margins, len(weights))
        if refuted(margins.isfinite()):
            raise ValueError(f"margins = {margins.tolist()}; allowed: finite numbers")
    if factors is not None:
        _check_vector("factors", factors, len(weights))
        if refuted(factors.isfinite() & (factors >= 0)):
            raise ValueError(f"factors = {factors.tolist()}; allowed: finite numbers >= 0")
    return weighted_cross_entropy(
        logits,
        targets,
        weights,
        shifts,
        margins,
        factors,
        reduction=reduction,
        ignore_index=ignore_index,
    )


class WoLALoss(ClassLoss):
    r"""The loss of worker i that makes its gradient look as if its labels followed q.

    .. math:: \frac1B \sum_{k=1}^{B} \frac{q^{y_k}}{p_i^{y_k}} \ell_k

    ``counts`` (C,) are the worker's samples per class. ``objective`` is the distribution q (C,),
    or :class:`Prior` or :class:`Uniform`; :class:`Shared` must be evaluated first, on the
    server. ``level="dataset"`` takes :math:`p_i` from ``counts``, as the paper does: the loss
    :class:`WoLA`; ``level="batch"`` takes it from the samples of each batch, over the classes
    present in it: :class:`WoLABatch`. A class with mass in q that is not present (at the worker,
    or in the batch) leaves that mass out of the loss; ``renormalise=True`` divides q by the mass
    of the classes present (a batch without any mass gives 0). Everything else is that of
    :class:`ClassLoss`.

    Reference: the WoLA paper, definition 1; the batch level is its future work.

    >>> loss = WoLALoss(counts=[1, 3], objective=[0.5, 0.5])
    >>> loss(torch.zeros(4, 2), torch.tensor([0, 1, 1, 1]))
    tensor(0.6931)
    """

    def __init__(
        self,
        counts: Vector,
        objective: Vector | Objective,
        *,
        level: Level = "dataset",
        reduction: Reduction = "mean",
        renormalise: bool = False,
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
    ) -> None:
        check_choice("level", level, LEVELS)
        super().__init__(
            WoLA(renormalise) if level == "dataset" else WoLABatch(renormalise),
            counts,
            objective,
            reduction=reduction,
            ignore_index=ignore_index,
            label_smoothing=label_smoothing,
        )
        # At either level, a q without mass on any class held is refused if it is to be divided.
        wola_weights(self.counts, self.q, renormalise=renormalise)
        self.level = level
        self.renormalise = renormalise

    def extra_repr(self) -> str:
        """The settings, as given."""
        return (
            f"classes={len(self.counts)}, level={self.level!r}, reduction={self.reduction!r}, "
            f"renormalise={self.renormalise}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}"
        )


def _check_shifts(shifts: Tensor, targets: Tensor, classes: int, *, ignore_index: int) -> None:
    _check_vector("shifts", shifts, classes)
    if refuted(shifts < torch.inf):
        raise ValueError(f"shifts = {shifts.tolist()}; allowed: finite numbers or -inf")
    label = first_outside(targets, shifts.isfinite(), ignore_index=ignore_index)
    if label is not None:
        raise ValueError(
            f"targets hold class {label}; allowed: classes with a finite shift in "
            f"shifts = {shifts.tolist()}"
        )


def _check_vector(name: str, values: Tensor, classes: int) -> None:
    if not isinstance(values, Tensor) or not values.is_floating_point():
        raise TypeError(f"{name} = {values!r}; allowed: None or a floating-point tensor")
    if values.shape != (classes,):
        raise ValueError(f"{name} of shape {tuple(values.shape)}; allowed: ({classes},)")
