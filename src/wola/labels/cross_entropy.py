"""Cross-entropy with a weight and a shift for each class: the one formula of every loss."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

Reduction: TypeAlias = Literal["mean", "sum", "none"]

REDUCTIONS = ("mean", "sum", "none")


def weighted_cross_entropy(
    logits: Tensor,
    targets: Tensor,
    weights: Tensor,
    shifts: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    held: Tensor | None = None,
) -> Tensor:
    r"""Cross-entropy of shifted logits, each sample weighted by its class; values are not checked.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(z_k + b)^{y_k}

    ``logits`` (B, C, d1, ...) or (C,), ``targets`` (B, d1, ...) or a single class, ``weights``
    :math:`w` (C,), ``shifts`` :math:`b` (C,) or None. A shift of -inf takes its class out of the
    softmax. Floating-point ``targets`` of the shape of ``logits`` are soft labels t, with the term
    :math:`\sum_c t^c w^c (-\log \mathrm{softmax}(z + b)^c)`. ``label_smoothing`` s replaces t
    (for a class: its one-hot vector) by (1 - s) t + s u, u uniform over the classes in the mask
    ``held`` (C,), by default over all. ``reduction`` and ``ignore_index`` are those of
    :func:`wola_loss`. Half-precision logits are computed in float32. No value is read on the host.

    >>> logits, shifts = torch.zeros(1, 3), torch.tensor([0.0, 0.0, -torch.inf])
    >>> weighted_cross_entropy(logits, torch.tensor([0]), torch.ones(3), shifts)
    tensor(0.6931)
    """
    logits = logits.to(computed_dtype(logits))
    weights = _like(weights, logits)
    if shifts is not None:
        logits = logits + _across(_like(shifts, logits), logits)
    soft = targets.is_floating_point()
    if soft or label_smoothing:
        shares = targets.to(logits.dtype) if soft else _one_hot(targets, logits)
        if label_smoothing:
            uniform = torch.ones_like(weights) if held is None else _like(held, logits)
            spread = _across(uniform / uniform.sum(), logits)
            shares = (1 - label_smoothing) * shares + label_smoothing * spread
        terms = _expected(logits, shares, weights)
        if not soft:
            terms = torch.where(targets == ignore_index, 0, terms)
    else:
        # Asked for single terms, torch weights them without dividing by the sum of the weights.
        terms = F.cross_entropy(
            logits, targets.long(), weights, ignore_index=ignore_index, reduction="none"
        )
    if reduction == "none":
        return terms
    if reduction == "sum":
        return terms.sum()
    if soft:
        return terms.sum() / max(terms.numel(), 1)
    return terms.sum() / (targets != ignore_index).sum().clamp(min=1)


def class_axis(logits: Tensor) -> int:
    """The dimension of ``logits`` that holds the classes: 0 for (C,), 1 for (B, C, d1, ...)."""
    return min(logits.ndim - 1, 1)


def computed_dtype(logits: Tensor) -> torch.dtype:
    """The dtype in which a loss of ``logits`` is computed: float32 for half precision."""
    return torch.float32 if logits.dtype in (torch.float16, torch.bfloat16) else logits.dtype


def _like(values: Tensor, logits: Tensor) -> Tensor:
    # The dtype before the device: a device may lack float64.
    return values.to(logits.dtype).to(logits.device)


def _across(values: Tensor, logits: Tensor) -> Tensor:
    """``values`` (C,) in the shape that broadcasts along the classes of ``logits``."""
    return values.view(-1, *[1] * (logits.ndim - 1 - class_axis(logits)))


def _one_hot(targets: Tensor, logits: Tensor) -> Tensor:
    classes = torch.arange(logits.shape[class_axis(logits)], device=targets.device)
    return (targets.unsqueeze(class_axis(logits)) == _across(classes, logits)).to(logits.dtype)


def _expected(logits: Tensor, shares: Tensor, weights: Tensor) -> Tensor:
    """The weighted loss of a label drawn from ``shares``; what has no share costs nothing."""
    axis, weights = class_axis(logits), _across(weights, logits)
    losses = -F.log_softmax(logits, axis)
    # 0 times the infinite loss of a class outside the softmax is 0 here.
    losses = losses.masked_fill(losses.isinf() & (shares * weights == 0), 0)
    return (losses * shares * weights).sum(axis)
