"""The Worker Label Alignment loss: cross-entropy weighted by q over the local distribution."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from wola.labels.counts import check_counts, label_distribution
from wola.labels.objective import Objective
from wola.labels.simplex import Vector, check_distribution
from wola.labels.targets import check_batch, check_classes, check_held, refuted
from wola.labels.weights import batch_counts, class_weights, wola_weights

Level: TypeAlias = Literal["dataset", "batch"]
Reduction: TypeAlias = Literal["mean", "sum", "none"]

LEVELS = ("dataset", "batch")
REDUCTIONS = ("mean", "sum", "none")


def wola_loss(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    *,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
) -> Tensor:
    r"""Cross-entropy of a batch, each sample weighted by its class.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(x_k)^{y_k}

    ``logits`` (B, C), ``targets`` (B,) classes, ``weights`` (C,) from :func:`wola_weights`.
    ``"mean"`` divides by the number of samples, never by the sum of the weights as
    ``torch.nn.CrossEntropyLoss(weight=...)`` does, which is another loss; ``"sum"`` does not
    divide; ``"none"`` gives the (B,) terms. Samples whose target is ``ignore_index`` contribute 0
    and are not counted in the number the mean divides by; where none is left, the mean is 0.
    Floating-point ``targets`` (B, C) are soft labels: the term of a sample is
    :math:`\sum_c t^c w^c (-\log \mathrm{softmax}(x)^c)`, the expected weighted loss of a label
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
    return _weighted(logits, targets, weights, reduction, ignore_index)


class WoLALoss(nn.Module):
    r"""The loss of worker i that makes its gradient look as if its labels followed q.

    .. math:: \frac1B \sum_{k=1}^{B} \frac{q^{y_k}}{p_i^{y_k}} \ell_k

    ``counts`` (C,) are the worker's samples per class. ``objective`` is the distribution q (C,),
    or :class:`Prior` or :class:`Uniform`; :class:`Shared` must be evaluated first, on the
    server. ``level="dataset"`` takes :math:`p_i` from ``counts``, as the paper does;
    ``level="batch"`` takes it from the samples of each batch, over the classes present in it.
    A class with mass in q that is not present (at the worker, or in the batch) leaves that mass
    out of the loss; ``renormalise=True`` divides q by the mass of the classes present (a batch
    without any mass gives 0). ``reduction``, ``ignore_index`` and soft labels are those of
    :func:`wola_loss`; at batch level, soft labels count by their shares.

    A target of a class with a count of 0 is a ``ValueError``, checked where reading a value is
    free: on the CPU, outside ``vmap`` and ``torch.compile``. On other devices such a sample has
    weight 0 at dataset level. The weights are computed in float64 and kept in buffers; they
    follow ``.to(device)``, and are moved to the logits' device otherwise (leave the module on the
    CPU for a device without float64). Reference: the WoLA paper, definition 1; the batch level
    is its future work.

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
    ) -> None:
        super().__init__()
        held = check_counts(counts)
        _check_choice(level, LEVELS, name="level")
        _check_choice(reduction, REDUCTIONS, name="reduction")
        if not isinstance(renormalise, bool):
            raise TypeError(f"renormalise must be a bool, got {renormalise!r}")
        if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
            raise TypeError(f"ignore_index must be an int, got {ignore_index!r}")
        q = _known(objective, held)
        self.level = level
        self.reduction: Reduction = reduction
        self.renormalise = renormalise
        self.ignore_index = ignore_index
        self.register_buffer("counts", held.clone())
        self.register_buffer("q", q.clone())
        self.register_buffer("weights", wola_weights(held, q, renormalise=renormalise))

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss of ``logits`` (B, C) for ``targets`` (B,) classes or (B, C) soft labels."""
        classes = len(self.counts)
        check_batch(logits, targets, classes=classes)
        check_classes(targets, classes, ignore_index=self.ignore_index)
        check_held(targets, self.counts, ignore_index=self.ignore_index)
        weights = self.weights
        if self.level == "batch":
            shares = batch_counts(targets, classes, ignore_index=self.ignore_index)
            q = self.q.to(_computed(logits).dtype).to(shares.device)
            weights = class_weights(shares, q, renormalise=self.renormalise)
        return _weighted(logits, targets, weights, self.reduction, self.ignore_index)

    def extra_repr(self) -> str:
        """The settings, as given."""
        return (
            f"classes={len(self.counts)}, level={self.level!r}, reduction={self.reduction!r}, "
            f"renormalise={self.renormalise}, ignore_index={self.ignore_index}"
        )


def _weighted(
    logits: Tensor, targets: Tensor, weights: Tensor, reduction: Reduction, ignore_index: int
) -> Tensor:
    logits = _computed(logits)
    # The dtype before the device: a device may lack float64.
    weights = weights.to(logits.dtype).to(logits.device)
    if targets.is_floating_point():
        terms = (-F.log_softmax(logits, -1) * targets.to(logits.dtype) * weights).sum(-1)
        size = terms.new_full((), len(terms))
    else:
        # Asked for single terms, torch weights them without dividing by the sum of the weights.
        terms = F.cross_entropy(
            logits, targets.long(), weights, ignore_index=ignore_index, reduction="none"
        )
        size = (targets != ignore_index).sum()
    if reduction == "none":
        return terms
    if reduction == "sum":
        return terms.sum()
    return terms.sum() / size.clamp(min=1)


def _computed(logits: Tensor) -> Tensor:
    half = logits.dtype in (torch.float16, torch.bfloat16)
    return logits.float() if half else logits


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


def _check_choice(value: str, allowed: tuple[str, ...], *, name: str) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
