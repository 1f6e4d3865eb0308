"""The Worker Label Alignment loss: cross-entropy weighted by q over the local distribution."""

from collections.abc import Callable
from typing import Literal, Self, TypeAlias

import torch
from torch import Tensor, nn

from wola.labels.counts import check_counts, label_distribution
from wola.labels.cross_entropy import (
    REDUCTIONS,
    Reduction,
    computed_dtype,
    weighted_cross_entropy,
)
from wola.labels.losses import Loss, WoLA, WoLABatch
from wola.labels.objective import Objective
from wola.labels.simplex import Vector, check_distribution
from wola.labels.targets import check_batch, check_classes, check_held, first_outside, refuted
from wola.labels.weights import batch_counts, wola_weights

Level: TypeAlias = Literal["dataset", "batch"]

LEVELS = ("dataset", "batch")


def wola_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    shifts: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
) -> Tensor:
    r"""Cross-entropy of a batch, each sample weighted by its class, its logits shifted by class.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(z_k + b)^{y_k}

    ``logits`` (B, C) and ``targets`` (B,) classes; or, as in ``torch.nn.CrossEntropyLoss``, logits
    (B, C, d1, ...) with targets (B, d1, ...), each of which is a sample, and logits (C,) with one
    class. ``weights`` w (C,) are those of :func:`wola_weights` or of any :class:`Terms`;
    ``shifts`` b (C,) are added to the logits, and -inf takes a class out: it must not be a target.
    ``"mean"`` divides by the number of samples, never by the sum of the weights as
    ``torch.nn.CrossEntropyLoss(weight=...)`` does, which is another loss; ``"sum"`` does not
    divide; ``"none"`` gives the terms. Samples whose target is ``ignore_index`` contribute 0
    and are not counted in the number the mean divides by; where none is left, the mean is 0.
    Floating-point ``targets`` of the shape of ``logits`` are soft labels: the term of a sample is
    :math:`\sum_c t^c w^c (-\log \mathrm{softmax}(z + b)^c)`, the expected weighted loss of a label
    drawn from t, and nothing is ignored. Half-precision logits are computed in float32.

    >>> logits = torch.zeros(2, 2)
    >>> wola_loss(logits, torch.tensor([0, 1]), torch.tensor([2.0, 0.5]), reduction="none")
    tensor([1.3863, 0.3466])
    """
    _check_choice(reduction, REDUCTIONS, name="reduction")
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
    return weighted_cross_entropy(
        logits, targets, weights, shifts, reduction=reduction, ignore_index=ignore_index
    )


class WoLALoss(nn.Module):
    r"""The loss of worker i that makes its gradient look as if its labels followed q.

    .. math:: \frac1B \sum_{k=1}^{B} \frac{q^{y_k}}{p_i^{y_k}} \ell_k

    ``counts`` (C,) are the worker's samples per class. ``objective`` is the distribution q (C,),
    or :class:`Prior` or :class:`Uniform`; :class:`Shared` must be evaluated first, on the
    server. ``level="dataset"`` takes :math:`p_i` from ``counts``, as the paper does: the loss
    :class:`WoLA`; ``level="batch"`` takes it from the samples of each batch, over the classes
    present in it: :class:`WoLABatch`. A class with mass in q that is not present (at the worker,
    or in the batch) leaves that mass out of the loss; ``renormalise=True`` divides q by the mass
    of the classes present (a batch without any mass gives 0). ``reduction``, ``ignore_index``,
    shapes and soft labels are those of :func:`wola_loss`; at batch level, soft labels count by
    their shares.

    ``label_smoothing`` s from 0 to 1 gives a sample of class y the term

    .. math:: \sum_c t^c w^c \big(-\log \mathrm{softmax}(z)^c\big), \qquad
              t = (1 - s)\, \mathrm{onehot}(y) + s\, u

    with u uniform over the classes that the worker holds, those with ``counts`` above 0; the
    others get none of it. A soft label takes the place of onehot(y). At batch level p_i is that of
    the labels before smoothing, so a class absent from the batch has weight 0.

    A target of a class with a count of 0 is a ``ValueError``, checked where reading a value is
    free: on the CPU, outside ``vmap`` and ``torch.compile``. On other devices such a sample has
    weight 0 at dataset level. The weights are computed in float64 and kept in buffers. They
    follow the module to a device, but not to another dtype: ``.half()`` leaves them as they are.
    A module left on the CPU serves logits of any device (do so for one without float64).
    Reference: the WoLA paper, definition 1; the batch level is its future work.

    >>> loss = WoLALoss(counts=[1, 3], objective=[0.5, 0.5])
    >>> loss(torch.zeros(4, 2), torch.tensor([0, 1, 1, 1]))
    tensor(0.6931)
    """

    counts: Tensor
    q: Tensor
    weights: Tensor

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
        super().__init__()
        held = check_counts(counts)
        _check_choice(level, LEVELS, name="level")
        _check_choice(reduction, REDUCTIONS, name="reduction")
        if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
            raise TypeError(f"ignore_index must be an int, got {ignore_index!r}")
        _check_share(label_smoothing)
        q = _known(objective, held)
        self.loss: Loss = WoLA(renormalise) if level == "dataset" else WoLABatch(renormalise)
        self.level = level
        self.reduction: Reduction = reduction
        self.renormalise = renormalise
        self.ignore_index = ignore_index
        self.label_smoothing = float(label_smoothing)
        self.register_buffer("counts", held.clone())
        self.register_buffer("q", q.clone())
        self.register_buffer("weights", wola_weights(held, q, renormalise=renormalise))

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss of ``logits`` (B, C, ...) for ``targets`` (B, ...), classes or soft labels."""
        classes = len(self.counts)
        check_batch(logits, targets, classes=classes)
        check_classes(targets, classes, ignore_index=self.ignore_index)
        check_held(targets, self.counts, ignore_index=self.ignore_index)
        weights = self.weights
        if self.loss.per_batch:
            shares = batch_counts(targets, classes, ignore_index=self.ignore_index)
            q = self.q.to(computed_dtype(logits)).to(shares.device)
            weights = self.loss.terms(shares, q).weights
        return weighted_cross_entropy(
            logits,
            targets,
            weights,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            held=self.counts > 0,
        )

    def extra_repr(self) -> str:
        """The settings, as given."""
        return (
            f"classes={len(self.counts)}, level={self.level!r}, reduction={self.reduction!r}, "
            f"renormalise={self.renormalise}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}"
        )

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        # Half precision cannot hold a weight above 65504, nor a share to more than three digits.
        before = {name: self.get_buffer(name) for name in ("counts", "q", "weights")}
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for name, buffer in before.items():
            moved = self.get_buffer(name)
            if moved.dtype != buffer.dtype:
                setattr(self, name, buffer.to(moved.device))
        return self


def _known(objective: Vector | Objective, counts: Tensor) -> Tensor:
    if callable(objective):
        if isinstance(objective, type) or getattr(objective, "needs_reports", True):
            raise TypeError(
                f"objective must be a distribution, Prior(q) or Uniform(), got {objective!r}; "
                f"evaluate one that needs reports first and pass the result: "
                f"q = objective(distributions, f)"
            )
        objective = objective(label_distribution(counts).unsqueeze(0), 0)
    return check_distribution(objective, len(counts), name="objective").to(counts.device)


def _check_shifts(shifts: Tensor, targets: Tensor, classes: int, *, ignore_index: int) -> None:
    if not isinstance(shifts, Tensor) or not shifts.is_floating_point():
        raise TypeError(f"shifts = {shifts!r}; allowed: None or a floating-point tensor")
    if shifts.shape != (classes,):
        raise ValueError(f"shifts of shape {tuple(shifts.shape)}; allowed: ({classes},)")
    if refuted(shifts < torch.inf):
        raise ValueError(f"shifts = {shifts.tolist()}; allowed: finite numbers or -inf")
    label = first_outside(targets, shifts.isfinite(), ignore_index=ignore_index)
    if label is not None:
        raise ValueError(
            f"targets hold class {label}; allowed: classes with a finite shift in "
            f"shifts = {shifts.tolist()}"
        )


def _check_choice(value: str, allowed: tuple[str, ...], *, name: str) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")


def _check_share(label_smoothing: float) -> None:
    number = isinstance(label_smoothing, int | float) and not isinstance(label_smoothing, bool)
    if not number or not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing = {label_smoothing!r}; allowed: a number from 0 to 1")
