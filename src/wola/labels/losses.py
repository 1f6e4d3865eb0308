"""The losses: what turns label counts and the objective q into class weights and class shifts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor

from wola.labels.targets import refuted
from wola.labels.weights import class_weights, wola_weights


@dataclass(frozen=True, eq=False)
class Terms:
    """What a loss is made of: class ``weights`` (C,) and class ``shifts`` (C,), None for none.

    The loss of a batch is :func:`wola_loss` with them. A shift of -inf takes a class that the
    worker does not hold out of the softmax.
    """

    weights: Tensor
    shifts: Tensor | None = None


class Loss(ABC):
    r"""A loss of a worker: cross-entropy with a weight and a shift for each class.

    .. math:: \frac1B \sum_{k=1}^{B} w^{y_k} \ell_k, \qquad
              \ell_k = -\log \mathrm{softmax}(z_k + b)^{y_k}

    A loss is a frozen dataclass with one method, :meth:`terms`, which gives w and b. With
    ``per_batch = True`` the counts are those of each batch, otherwise those of the worker's data.
    Use :func:`checked_terms` to call a loss. Here is logit adjustment (Menon et al., *Long-Tail
    Learning via Logit Adjustment*, ICLR 2021), :math:`b = \log p_i`:

    >>> from wola.labels import label_distribution
    >>> @dataclass(frozen=True)
    ... class LogitAdjustment(Loss):
    ...     def terms(self, counts, q):
    ...         return Terms(torch.ones_like(q), label_distribution(counts).log())
    >>> terms = checked_terms(LogitAdjustment(), torch.tensor([2, 2, 0]), torch.ones(3) / 3)
    >>> terms.shifts
    tensor([-0.6931, -0.6931,    -inf], dtype=torch.float64)
    """

    per_batch: ClassVar[bool] = False

    @abstractmethod
    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """The terms for the samples per class ``counts`` (C,) int64 and ``q`` (C,) float64."""


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """Plain cross-entropy: every class has weight 1, whatever q is.

    >>> CrossEntropy().terms(torch.tensor([1, 3]), torch.tensor([0.5, 0.5])).weights
    tensor([1., 1.])
    """

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """Weights of 1 (C,), no shifts."""
        return Terms(torch.ones_like(q))


@dataclass(frozen=True)
class WoLA(Loss):
    r"""Worker Label Alignment, :math:`w^c = q^c / p_i^c` with p_i of the worker's data.

    ``renormalise`` divides by the mass that q puts on the classes held, see
    :func:`wola_weights`. Reference: the WoLA paper, definition 1.

    >>> WoLA().terms(torch.tensor([1, 3]), torch.tensor([0.5, 0.5])).weights
    tensor([2.0000, 0.6667], dtype=torch.float64)
    """

    renormalise: bool = False

    def __post_init__(self) -> None:
        _check_bool(self.renormalise)

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """The weights of :func:`wola_weights` (C,), no shifts."""
        return Terms(wola_weights(counts, q, renormalise=self.renormalise))


@dataclass(frozen=True)
class WoLABatch(Loss):
    r"""Worker Label Alignment with :math:`p_i` of each batch, over the classes present in it.

    ``renormalise`` divides by the mass that q puts on the classes present; a batch without any
    has weights of 0. It is the future work of the WoLA paper.

    >>> WoLABatch().terms(torch.tensor([1, 3, 0]), torch.tensor([0.5, 0.25, 0.25])).weights
    tensor([2.0000, 0.3333, 0.0000])
    """

    per_batch: ClassVar[bool] = True

    renormalise: bool = False

    def __post_init__(self) -> None:
        _check_bool(self.renormalise)

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """The weights q over p (C,), in the dtype of ``q``, no shifts; no value is read."""
        return Terms(class_weights(counts, q, renormalise=self.renormalise))


#: Every loss that a scenario can name.
LOSSES: Mapping[str, type[Loss]] = MappingProxyType(
    {"cross-entropy": CrossEntropy, "wola": WoLA, "wola-batch": WoLABatch}
)


def checked_terms(loss: Loss, counts: Tensor, q: Tensor) -> Terms:
    """The terms of a loss in float64, for one worker or several, or an error that names the loss.

    ``counts`` (C,) gives terms (C,); ``counts`` (n, C) gives those of n workers, (n, C). Weights
    must be finite and at least 0, shifts finite or -inf, and not -inf for a class with a count
    above 0. Values are checked where reading them is free: on the CPU. Where only some workers
    have shifts, those of the others are 0.

    >>> checked_terms(WoLA(), torch.tensor([[1, 3], [2, 2]]), torch.tensor([0.5, 0.5])).weights
    tensor([[2.0000, 0.6667],
            [1.0000, 1.0000]], dtype=torch.float64)
    """
    q = q.double()
    made = [_made(loss, row, q) for row in counts.reshape(-1, len(q))]
    weights = torch.stack([terms.weights for terms in made]).double().view(counts.shape)
    _check_values(
        loss, "weights", weights, (weights >= 0) & (weights < torch.inf), "finite numbers >= 0"
    )
    if all(terms.shifts is None for terms in made):
        return Terms(weights)
    rows = [torch.zeros_like(q) if terms.shifts is None else terms.shifts for terms in made]
    shifts = torch.stack(rows).double().view(counts.shape)
    _check_values(
        loss,
        "shifts",
        shifts,
        shifts.isfinite() | ((shifts < 0) & (counts == 0)),
        "finite numbers, or -inf for a class with a count of 0",
    )
    return Terms(weights, shifts)


def _made(loss: Loss, counts: Tensor, q: Tensor) -> Terms:
    terms = loss.terms(counts, q)
    if not isinstance(terms, Terms):
        raise TypeError(f"{loss!r}: terms = {terms!r}; allowed: Terms(weights, shifts)")
    _check_vector(loss, "weights", terms.weights, len(q))
    if terms.shifts is not None:
        _check_vector(loss, "shifts", terms.shifts, len(q))
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


def _check_bool(renormalise: object) -> None:
    if not isinstance(renormalise, bool):
        raise TypeError(f"renormalise must be a bool, got {renormalise!r}")
