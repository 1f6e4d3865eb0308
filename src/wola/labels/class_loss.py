"""Any loss of a worker as a module for one's own loop."""

from collections.abc import Callable
from typing import Self

from torch import Tensor, nn

from wola.ground.checks import check_choice
from wola.labels.counts import check_counts, label_distribution
from wola.labels.cross_entropy import (
    REDUCTIONS,
    Reduction,
    computed_dtype,
    weighted_cross_entropy,
)
from wola.labels.objective import Objective
from wola.labels.simplex import Vector, check_distribution
from wola.labels.targets import check_batch, check_classes, check_held
from wola.labels.terms import Loss, Terms, checked_terms
from wola.labels.weights import batch_counts


class ClassLoss(nn.Module):
    r"""The loss of a worker as a module: weights, shifts, margins and factors kept in buffers.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(g \odot z_k + b - m^{y_k} e_{y_k})^{y_k}

    ``loss`` is any :class:`Loss`, and ``counts`` (C,) are the worker's samples per class.
    ``objective`` is the distribution q (C,), or :class:`Prior` or :class:`Uniform`;
    :class:`Shared` must be evaluated first, on the server. Losses that do not look at q take any.
    A loss with ``per_batch = True`` takes its terms from the samples of each batch, soft labels
    by their shares. ``reduction``, ``ignore_index``, shapes and soft labels are those of
    :func:`wola_loss`.

    ``label_smoothing`` s from 0 to 1 gives a sample of class y the term

    .. math:: \sum_c t^c w^c \big(-\log \mathrm{softmax}(g \odot z + b - m^c e_c)^c\big), \qquad
              t = (1 - s)\, \mathrm{onehot}(y) + s\, u

    with u uniform over the classes that the worker holds, those with ``counts`` above 0; the
    others get none of it. A soft label takes the place of onehot(y). A loss per batch
    sees the labels before smoothing: for WoLA, a class absent from the batch has weight 0.

    A target of a class with a count of 0 is a ``ValueError``, checked where reading a value is
    free: on the CPU, outside ``vmap`` and ``torch.compile``. On other devices such a sample has
    the weight that the loss gives its class, 0 for WoLA. Terms are computed in float64; they follow
    the module to a device, but not to another dtype: ``.half()`` leaves them as they are.
    A module left on the CPU serves logits of any device (do so for one without float64).

    >>> import torch
    >>> from wola.labels import LogitAdjusted, Uniform
    >>> loss = ClassLoss(LogitAdjusted(), counts=[1, 3, 0], objective=Uniform())
    >>> loss(torch.zeros(4, 3), torch.tensor([0, 1, 1, 1]))
    tensor(0.5623)
    """

    counts: Tensor
    q: Tensor
    weights: Tensor
    shifts: Tensor | None
    margins: Tensor | None
    factors: Tensor | None

    def __init__(
        self,
        loss: Loss,
        counts: Vector,
        objective: Vector | Objective,
        *,
        reduction: Reduction = "mean",
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        if not isinstance(loss, Loss):
            raise TypeError(f"loss = {loss!r}; allowed: a Loss, such as WoLA() or FedLC()")
        held = check_counts(counts)
        check_choice("reduction", reduction, REDUCTIONS)
        if isinstance(ignore_index, bool) or not isinstance(ignore_index, int):
            raise TypeError(f"ignore_index must be an int, got {ignore_index!r}")
        _check_share(label_smoothing)
        q = _known(objective, held)
        terms = checked_terms(loss, held, q)
        self.loss = loss
        self.reduction: Reduction = reduction
        self.ignore_index = ignore_index
        self.label_smoothing = float(label_smoothing)
        self.register_buffer("counts", held.clone())
        self.register_buffer("q", q.clone())
        self.register_buffer("weights", terms.weights)
        self.register_buffer("shifts", terms.shifts)
        self.register_buffer("margins", terms.margins)
        self.register_buffer("factors", terms.factors)

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The loss of ``logits`` (B, C, ...) for ``targets`` (B, ...), classes or soft labels."""
        classes = len(self.counts)
        check_batch(logits, targets, classes=classes)
        check_classes(targets, classes, ignore_index=self.ignore_index)
        check_held(targets, self.counts, ignore_index=self.ignore_index)
        terms = Terms(self.weights, self.shifts, self.margins, self.factors)
        if self.loss.per_batch:
            shares = batch_counts(targets, classes, ignore_index=self.ignore_index)
            q = self.q.to(computed_dtype(logits)).to(shares.device)
            terms = self.loss.terms(shares, q)
        return weighted_cross_entropy(
            logits,
            targets,
            terms.weights,
            terms.shifts,
            terms.margins,
            terms.factors,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            held=self.counts > 0,
        )

    def extra_repr(self) -> str:
        """The settings, as given."""
        return (
            f"{self.loss!r}, classes={len(self.counts)}, reduction={self.reduction!r}, "
            f"ignore_index={self.ignore_index}, label_smoothing={self.label_smoothing}"
        )

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        # Half precision cannot hold a weight above 65504, nor a share to more than three digits.
        names = ("counts", "q", "weights", "shifts", "margins", "factors")
        before = {name: getattr(self, name) for name in names}
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        for name, buffer in before.items():
            if buffer is not None and getattr(self, name).dtype != buffer.dtype:
                setattr(self, name, buffer.to(getattr(self, name).device))
        return self


def _check_share(label_smoothing: float) -> None:
    number = isinstance(label_smoothing, int | float) and not isinstance(label_smoothing, bool)
    if not number or not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing = {label_smoothing!r}; allowed: a number from 0 to 1")


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
