"""What a loss is: class weights, shifts, margins and factors from label counts and q."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from wola.labels.targets import refuted


@dataclass(frozen=True, eq=False)
class Terms:
    """What a loss is made of: ``weights``, ``shifts``, ``margins`` and ``factors`` (C,).

    All but the weights may be None for none. The loss of a batch is :func:`wola_loss` with them. A
    factor multiplies the logit of its class in every sample. A shift is then added to it, and one
    of -inf takes a class that the worker does not hold out of the softmax. A margin is taken from
    the logit of its class in the samples of that class alone.
    """

    weights: Tensor
    shifts: Tensor | None = None
    margins: Tensor | None = None
    factors: Tensor | None = None

    def each(self, change: Callable[[Tensor], Tensor]) -> "Terms":
        """The terms that a function makes of the weights, and of whatever else there is.

        >>> Terms(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).each(lambda rows: rows[1]).weights
        tensor([3., 4.])
        """
        others = (self.shifts, self.margins, self.factors)
        return Terms(change(self.weights), *(None if p is None else change(p) for p in others))

    def to(self, dtype: torch.dtype, device: torch.device | str) -> "Terms":
        """The same terms in another dtype, on another device.

        >>> Terms(torch.ones(2, dtype=torch.float64)).to(torch.float16, "cpu").weights.dtype
        torch.float16
        """
        return self.each(lambda part: part.to(dtype).to(device))


class Loss(ABC):
    r"""A loss of a worker: cross-entropy with a weight, shift, margin and factor for each class.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(g \odot z_k + b - m^{y_k} e_{y_k})^{y_k}

    A loss is a frozen dataclass with one method, :meth:`terms`, which gives w, b, m and g. With
    ``per_batch = True`` the counts are those of each batch, otherwise those of the worker's data.
    Use :func:`checked_terms` to call a loss. Here is softmax over the classes held, which leaves
    those that a worker lacks as they are:

    >>> @dataclass(frozen=True)
    ... class Restricted(Loss):
    ...     def terms(self, counts, q):
    ...         return Terms(torch.ones_like(q), torch.where(counts > 0, 0.0, -torch.inf))
    >>> terms = checked_terms(Restricted(), torch.tensor([2, 2, 0]), torch.ones(3) / 3)
    >>> terms.shifts
    tensor([0., 0., -inf], dtype=torch.float64)
    """

    per_batch: ClassVar[bool] = False

    @abstractmethod
    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """The terms for the samples per class ``counts`` (C,) int64 and ``q`` (C,) float64."""


def checked_terms(loss: Loss, counts: Tensor, q: Tensor) -> Terms:
    """The terms of a loss in float64, for one worker or several, or an error that names the loss.

    ``counts`` (C,) gives terms (C,); ``counts`` (n, C) gives those of n workers, (n, C). Weights
    must be finite and at least 0, shifts finite or -inf, and not -inf for a class with a count
    above 0, margins finite, factors finite and at least 0. Values are checked where reading them is
    free: on the CPU. Where only some workers have shifts or margins, those of the others are 0, and
    factors 1.

    >>> from wola.labels import WoLA
    >>> checked_terms(WoLA(), torch.tensor([[1, 3], [2, 2]]), torch.tensor([0.5, 0.5])).weights
    tensor([[2.0000, 0.6667],
            [1.0000, 1.0000]], dtype=torch.float64)
    """
    q = q.double()
    made = [_made(loss, row, q) for row in counts.reshape(-1, len(q))]
    weights = torch.stack([terms.weights for terms in made]).double().view(counts.shape)
    _check_values(loss, "weights", weights, _is_size(weights), "finite numbers >= 0")
    shifts = _stacked([terms.shifts for terms in made], torch.zeros_like(q), counts.shape)
    if shifts is not None:
        fine = shifts.isfinite() | ((shifts < 0) & (counts == 0))
        allowed = "finite numbers, or -inf for a class with a count of 0"
        _check_values(loss, "shifts", shifts, fine, allowed)
    margins = _stacked([terms.margins for terms in made], torch.zeros_like(q), counts.shape)
    if margins is not None:
        _check_values(loss, "margins", margins, margins.isfinite(), "finite numbers")
    factors = _stacked([terms.factors for terms in made], torch.ones_like(q), counts.shape)
    if factors is not None:
        _check_values(loss, "factors", factors, _is_size(factors), "finite numbers >= 0")
    return Terms(weights, shifts, margins, factors)


def _is_size(values: Tensor) -> Tensor:
    return (values >= 0) & (values < torch.inf)


def _stacked(rows: list[Tensor | None], neutral: Tensor, shape: torch.Size) -> Tensor | None:
    """The rows of several workers, None if nobody has one; `neutral` (C,) changes nothing."""
    if all(row is None for row in rows):
        return None
    given = [neutral if row is None else row for row in rows]
    return torch.stack([row.double() for row in given]).view(shape)


def _made(loss: Loss, counts: Tensor, q: Tensor) -> Terms:
    terms = loss.terms(counts, q)
    if not isinstance(terms, Terms):
        raise TypeError(
            f"{loss!r}: terms = {terms!r}; allowed: Terms(weights, shifts, margins, factors)"
        )
    _check_vector(loss, "weights", terms.weights, len(q))
    for name in ("shifts", "margins", "factors"):
        value = getattr(terms, name)
        if value is not None:
            _check_vector(loss, name, value, len(q))
    return terms


def _check_vector(loss: Loss, name: str, value: Tensor, classes: int) -> None:
    if not isinstance(value, Tensor) or value.is_complex() or value.dtype == torch.bool:
        raise TypeError(f"{loss!r}: {name} = {value!r}; allowed: a tensor of real numbers")
    if value.shape != (classes,):
        raise ValueError(
            f"{loss!r}: {name} of shape {tuple(value.shape)}; allowed: ({classes},), one for each "
            f"of {classes} classes"
        )


def _check_values(loss: Loss, name: str, values: Tensor, fine: Tensor, allowed: str) -> None:
    if refuted(fine):
        wrong = values.view(-1, values.shape[-1])[~fine.view(-1, values.shape[-1]).all(1)]
        raise ValueError(f"{loss!r}: {name} = {wrong[0].tolist()}; allowed: {allowed}")
