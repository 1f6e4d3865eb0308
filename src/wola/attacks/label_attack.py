"""What an attack on the data is: Byzantine workers that train on wrong labels or chosen samples."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wola.ground.checks import check_whole

Labels = Tensor | NDArray[Any]


@dataclass(frozen=True)
class LabelAttack(ABC):
    """An attack on the data: a frozen value that says on what labels and samples to train.

    `attack.labels(labels, classes)` takes integer labels 0..C-1 of any shape, as a tensor or NumPy
    array, and returns new ones of the same kind, dtype and shape. What the attacker sends is then
    an honest computation on its own data with these labels. `attack.choose(labels, honest)` says
    which of the attackers' samples are used; all, unless the attack says otherwise.
    """

    @abstractmethod
    def relabel(self, labels: Tensor, classes: int) -> Tensor:
        """The new labels for valid int64 ones."""

    def choose(self, labels: Tensor, honest: Tensor) -> Tensor:
        """Which of the samples that the attackers hold together they train on: a mask (N,).

        `labels` (N,) are the labels these samples are trained on, `honest` (C,) how many samples
        of each class the honest workers hold. An attacker of whose samples none is chosen trains
        on those chosen of the others.
        """
        return torch.ones_like(labels, dtype=torch.bool)

    def labels(self, labels: Labels, classes: int) -> Any:
        """The labels that the attacker trains on; the ones given stay as they are."""
        classes = check_whole("classes", classes, least=1)
        if isinstance(labels, np.ndarray):
            _check_integers(str(labels.dtype), np.issubdtype(labels.dtype, np.integer))
            relabelled = self._checked(torch.from_numpy(labels.astype(np.int64)), classes)
            return relabelled.numpy().astype(labels.dtype)
        if not isinstance(labels, Tensor):
            kind = type(labels).__name__
            raise TypeError(f"labels is a {kind}; allowed: a torch.Tensor or a numpy.ndarray")
        whole = not (labels.dtype.is_floating_point or labels.dtype.is_complex)
        _check_integers(str(labels.dtype), whole and labels.dtype != torch.bool)
        return self._checked(labels.long(), classes).to(labels.dtype)

    def _checked(self, labels: Tensor, classes: int) -> Tensor:
        wrong = labels[(labels < 0) | (labels >= classes)]
        if len(wrong):
            raise ValueError(
                f"labels holds {int(wrong[0])} with classes = {classes}; allowed: "
                f"0 to {classes - 1}"
            )
        return self.relabel(labels, classes)


def _check_integers(dtype: str, whole: bool) -> None:
    if not whole:
        raise TypeError(f"labels has dtype {dtype}; allowed: an integer dtype")
