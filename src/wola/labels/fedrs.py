"""FedRS: softmax in which the classes that a worker lacks count for less."""

from dataclasses import dataclass

import torch
from torch import Tensor

from wola.ground.checks import check_number
from wola.labels.terms import Loss, Terms


@dataclass(frozen=True)
class FedRS(Loss):
    r"""Restricted softmax: the logits of classes that a worker lacks are multiplied by alpha.

    .. math:: g^c = 1 \text{ if } N_i^c > 0, \qquad g^c = \alpha \text{ otherwise}

    for samples per class N_i. So the network sees less of the push that plain cross-entropy gives
    a class that is missing: alpha times the gradient, at logits alpha times as large. At alpha 0
    the class gets none, yet keeps the logit 0 in the softmax; at alpha 1 this is plain
    cross-entropy. The logits include the bias of the last layer, which the authors' code leaves
    out; that code also grades the classes held, from alpha up to 1 by their share of the commonest.

    Defaults: `alpha`: its authors' public code, the middle one of the 0.1, 0.5 and 0.9 that it
    tries.

    Needs: the worker's label counts.

    Cost: that of plain cross-entropy; the factors are found once for each worker.

    Reference: X.-C. Li and D.-C. Zhan, FedRS: federated learning with restricted softmax for label
    distribution non-iid data, KDD 2021.

    >>> FedRS().terms(torch.tensor([1, 16, 0]), torch.ones(3) / 3).factors
    tensor([1.0000, 1.0000, 0.5000], dtype=torch.float64)
    """

    alpha: float = 0.5

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, least=0, most=1)

    def terms(self, counts: Tensor, q: Tensor) -> Terms:
        """Weights of 1, factors of alpha for the classes that the worker lacks (C,)."""
        lacking = torch.full_like(q, self.alpha, dtype=torch.float64)
        return Terms(torch.ones_like(q), factors=lacking.masked_fill(counts > 0, 1.0))
