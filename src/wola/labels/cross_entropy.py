"""Cross-entropy with a weight, shift, margin and factor per class: the formula of every loss."""

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
    margins: Tensor | None = None,
    factors: Tensor | None = None,
    *,
    reduction: Reduction = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    held: Tensor | None = None,
) -> Tensor:
    r"""Cross-entropy of shifted logits, each sample weighted by its class; values are not checked.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(g \odot z_k + b - m^{y_k} e_{y_k})^{y_k}

    ``logits`` (B, C, d1, ...) or (C,), ``targets`` (B, d1, ...) or a single class, ``weights``
    :math:`w` (C,), and, each (C,) or None, ``shifts`` :math:`b`, ``margins`` :math:`m` and
    ``factors`` :math:`g`. A shift of -inf takes its class out of the softmax. Floating-point
    ``targets`` of the shape of ``logits`` are soft labels t, with the term :math:`\sum_c t^c w^c
    (-\log \mathrm{softmax}(g \odot z + b - m^c e_c)^c)`. ``label_smoothing`` s replaces t
    (for a class: its one-hot vector) by (1 - s) t + s u, u uniform over the classes in the mask
    ``held`` (C,), by default over all. ``reduction`` and ``ignore_index`` are those of
    :func:`wola_loss`. Half-precision logits are computed in float32. No value is read on the host.

    >>> logits, shifts = torch.zeros(1, 3), torch.tensor([0.0, 0.0, -torch.inf])
    >>> weighted_cross_entropy(logits, torch.tensor([0]), torch.ones(3), shifts)
    tensor(0.6931)
    """
    logits = logits.to(computed_dtype(logits))
    weights = _like(weights, logits)
    if factors is not None:
        logits = logits * _across(_like(factors, logits), logits)
    if shifts is not None:
        logits = logits + _across(_like(shifts, logits), logits)
    soft = targets.is_floating_point()
    if soft or label_smoothing:
        shares = targets.to(logits.dtype) if soft else _one_hot(targets, logits)
        if label_smoothing:
            uniform = torch.ones_like(weights) if held is None else _like(held, logits)
            spread = _across(uniform / uniform.sum(), logits)
            shares = (1 - label_smoothing) * shares + label_smoothing * spread
        terms = _expected(logits, shares, weights, margins)
        if not soft:
            terms = torch.where(targets == ignore_index, 0, terms)
    else:
        if margins is not None:
            own = _one_hot(targets, logits) * _across(_like(margins, logits), logits)
            logits = logits - own
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


def _expected(logits: Tensor, shares: Tensor, weights: Tensor, margins: Tensor | None) -> Tensor:
    """The weighted loss of a label drawn from ``shares``; what has no share costs nothing."""
    axis, weights = class_axis(logits), _across(weights, logits)
    if margins is None:
        losses = -F.log_softmax(logits, axis)
    else:
        losses = _losses_with_margins(logits, _across(_like(margins, logits), logits))
    # 0 times the infinite loss of a class outside the softmax is 0 here.
    losses = losses.masked_fill(losses.isinf() & (shares * weights == 0), 0)
    return (losses * shares * weights).sum(axis)


def _losses_with_margins(logits: Tensor, margins: Tensor) -> Tensor:
    """-log softmax(z - m^c e_c)^c for every class c: log(1 + sum_{j != c} e^{z_j - z_c + m^c}).

    The sum without c is the whole one times 1 - p^c. For the class with the largest logit that
    difference would lose all digits, so its sum is taken anew.
    """
    axis = class_axis(logits)
    largest = logits.argmax(axis, keepdim=True)
    top = torch.zeros_like(logits, dtype=torch.bool).scatter(axis, largest, True)
    share = logits.softmax(axis).masked_fill(top, 0)
    others = logits.logsumexp(axis, keepdim=True) + torch.log1p(-share)
    rest = logits.masked_fill(top, -torch.inf)
    # A sum over nothing has no derivative in torch; here it is 0.
    alone = rest.isneginf().all(axis, keepdim=True)
    rest = rest.masked_fill(alone, 0).logsumexp(axis, keepdim=True).masked_fill(alone, -torch.inf)
    return -F.logsigmoid(logits - margins - torch.where(top, rest, others))
