"""The losses: WoLA, plain cross-entropy, and the rivals that change logits by label counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor

from wola.ground.checks import check_number
from wola.labels.counts import label_distribution
from wola.labels.fedrs import FedRS
from wola.labels.terms import Loss, Terms
from wola.labels.weights import class_weights, wola_weights

#: The samples that FedLC and DMFL take a worker to have of a class it lacks: a shift of 100 tau.
ABSENT = 1e-8

#: Where tau ends: beyond it shifts would outgrow the precision of the logits.
LIMIT = 1e6


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """Plain cross-entropy: every class has weight 1, whatever q is.

    Cost: that of plain cross-entropy.

    Reference: none, the baseline.

    >>> CrossEntropy().terms(torch.tensor([1, 3]), torch.tensor([0.5, 0.5])).weights
    tensor([1., 1.])
    """

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """Weights of 1 (C,), no shifts."""
        return Terms(torch.ones_like(q))


@dataclass(frozen=True)
class WoLA(Loss):
    r"""Worker Label Alignment, :math:`w^c = q^c / p_i^c` with p_i of the worker's data.

    With q uniform this is weighting by inverse frequency, :math:`N_i / (C N_i^c)`. ``renormalise``
    divides by the mass that q puts on the classes held, see :func:`wola_weights`.

    Defaults: `renormalise`: the WoLA paper.

    Needs: the worker's label counts, and q.

    Cost: that of plain cross-entropy; the weights are found once for each worker.

    Reference: the WoLA paper, definition 1.

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

    ``renormalise`` divides by the mass that q puts on the classes present; a batch without any has
    weights of 0.

    Defaults: `renormalise`: ours.

    Needs: q.

    Cost: that of plain cross-entropy; the weights are found anew in each batch.

    Reference: the WoLA paper, which leaves it for later.

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


@dataclass(frozen=True)
class FedLC(Loss):
    r"""Logit calibration: the fewer samples of a class a worker has, the lower its logit.

    .. math:: b^c = -\tau (N_i^c)^{-1/4}

    for samples per class N_i, so the more the network has to say for a rare class while it trains.
    A class that the worker lacks counts as 1e-8 samples, a shift of -100 tau: our choice, since the
    formula divides by 0. The loss is plain cross-entropy of the calibrated logits, as in public
    code.

    Defaults: `tau`: public code of WoLA's lineage.

    Needs: the worker's label counts.

    Cost: that of plain cross-entropy; the shifts are found once for each worker.

    Reference: J. Zhang, Z. Li, B. Li, J. Xu, S. Wu, S. Ding and C. Wu, Federated learning with
    label distribution skew via logits calibration, ICML 2022.

    >>> FedLC().terms(torch.tensor([1, 16, 0]), torch.ones(3) / 3).shifts
    tensor([  -1.0000,   -0.5000, -100.0000], dtype=torch.float64)
    """

    tau: float = 1.0

    def __post_init__(self) -> None:
        check_number("tau", self.tau, above=0, below=LIMIT)

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """Weights of 1, shifts of minus tau over the fourth root of the counts (C,)."""
        return Terms(torch.ones_like(q), -_calibration(counts, self.tau))


@dataclass(frozen=True)
class DMFL(Loss):
    r"""A margin for rare classes: FedLC's shift on the target's logit alone.

    .. math:: m^c = \tau (N_i^c)^{-1/4}

    In a sample of class y only the logit of y is lowered, so classes that a worker lacks are pushed
    down as by plain cross-entropy.

    Defaults: `tau`: public code of WoLA's lineage, as is the formula.

    Needs: the worker's label counts.

    Cost: that of plain cross-entropy; the margins are found once for each worker.

    Reference: Ran et al., Dynamic margin for federated learning with imbalanced data, IJCNN 2021,
    which the WoLA paper cites.

    >>> DMFL().terms(torch.tensor([1, 16]), torch.ones(2) / 2).margins
    tensor([1.0000, 0.5000], dtype=torch.float64)
    """

    tau: float = 1.0

    def __post_init__(self) -> None:
        check_number("tau", self.tau, above=0, below=LIMIT)

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """Weights of 1, margins of tau over the fourth root of the counts (C,), no shifts."""
        return Terms(torch.ones_like(q), margins=_calibration(counts, self.tau))


@dataclass(frozen=True)
class LogitAdjusted(Loss):
    r"""Logit adjustment: the logarithms of a worker's label distribution are added to the logits.

    .. math:: b^c = \tau \log p_i^c

    with p_i of the worker's data. A class that the worker lacks has :math:`\log 0 = -\infty`: it
    gets no probability and no gradient, and a worker of one class has a gradient of 0.

    Defaults: `tau`: ours.

    Needs: the worker's label counts.

    Cost: that of plain cross-entropy; the shifts are found once for each worker.

    Reference: A. K. Menon, S. Jayasumana, A. S. Rawat, H. Jain, A. Veit and S. Kumar, Long-tail
    learning via logit adjustment, ICLR 2021.

    >>> LogitAdjusted().terms(torch.tensor([2, 2, 0]), torch.ones(3) / 3).shifts
    tensor([-0.6931, -0.6931,    -inf], dtype=torch.float64)
    """

    tau: float = 1.0

    def __post_init__(self) -> None:
        check_number("tau", self.tau, above=0, below=LIMIT)

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """Weights of 1, shifts of tau times the logarithm of the label distribution (C,)."""
        return Terms(torch.ones_like(q), self.tau * label_distribution(counts).log())


@dataclass(frozen=True)
class WoLAShift(Loss):
    r"""Tempered label alignment: one minimiser for all workers, also where classes are missing.

    .. math:: r_i^c \propto (p_i^c)^{1-\tau} (q^c)^{\tau} \text{ on the classes held}, \qquad
              w^c = r_i^c / p_i^c, \qquad b^c = \log (r_i^c / q^c)

    and :math:`b^c = -\infty` for a class that the worker lacks. Where the inputs of a class are
    distributed alike at all workers, :math:`\mathrm{softmax}(z + b)` is the worker's posterior
    under r_i exactly if :math:`z = \log q(\cdot \mid x)` up to a constant on its classes: one z
    minimises every honest loss. The weights have mean 1 over the worker's data; ``tau`` 0 is
    logit adjustment against q, 1 is WoLA restricted to the classes held. A worker of one class
    has a gradient of 0. A class held to which q gives nothing has weight 0 and a shift of -100.
    The loss is our own, made of known pieces: logit adjustment (Menon et al., ICLR 2021),
    restricted softmax for missing classes (X.-C. Li and D.-C. Zhan, FedRS, KDD 2021) and WoLA's
    weights; see docs/beyond.md.

    Defaults: `tau`: ours.

    Needs: the worker's label counts, and q.

    Cost: that of plain cross-entropy; weights and shifts are found once for each worker.

    Reference: ours.

    >>> WoLAShift().terms(torch.tensor([1, 4, 0]), torch.ones(3) / 3).weights
    tensor([1.6667, 0.8333, 0.0000], dtype=torch.float64)
    """

    tau: float = 0.5

    def __post_init__(self) -> None:
        check_number("tau", self.tau, least=0, most=1)

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """Weights r over p and shifts log(r / q) on the classes held (C,)."""
        p, q = label_distribution(counts), q.double()
        held, aimed = p > 0, (p > 0) & (q > 0)
        share = (
            torch.where(aimed, p, 1.0) ** (1 - self.tau) * torch.where(aimed, q, 1.0) ** self.tau
        )
        r = torch.where(aimed, share, 0.0)
        r = r / r.sum() if bool(aimed.any()) else r
        weights = torch.where(held, r / torch.where(held, p, 1.0), 0.0)
        shifts = torch.where(held, -100.0, -torch.inf).to(r)
        return Terms(weights, torch.where(aimed, (r / torch.where(aimed, q, 1.0)).log(), shifts))


#: Every loss that a scenario can name.
LOSSES: Mapping[str, type[Loss]] = MappingProxyType(
    {
        "cross-entropy": CrossEntropy,
        "wola": WoLA,
        "wola-batch": WoLABatch,
        "fedlc": FedLC,
        "fedrs": FedRS,
        "dmfl": DMFL,
        "logit-adjusted": LogitAdjusted,
        "wola-shift": WoLAShift,
    }
)


def _calibration(counts: Tensor, tau: float) -> Tensor:
    return tau * counts.double().clamp(min=ABSENT) ** -0.25


def _check_bool(renormalise: object) -> None:
    if not isinstance(renormalise, bool):
        raise TypeError(f"renormalise must be a bool, got {renormalise!r}")
