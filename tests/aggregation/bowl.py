"""A reference of the server's own whose loss is a bowl, so that all has a closed form."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from tests.reference import Array

LR = 0.3


@dataclass
class Bowl:
    """l(theta) = ||theta - lowest||^2 / 2; "wrong" are the coordinates off by more than a half."""

    theta: Tensor
    lowest: Tensor
    lr: float = LR

    @classmethod
    def of(cls, columns: int) -> "Bowl":
        """A bowl of so many dimensions, one unit away from where the model stands."""
        there = torch.linspace(0.5, 1.5, columns, dtype=torch.float64)
        return cls(there, torch.zeros(columns, dtype=torch.float64))

    def measure(
        self,
        steps: Iterable[Tensor],
        *,
        samples: int | None = None,
        generator: Generator | None = None,
    ) -> Array:
        away = [self.theta - self.lr * step.double() - self.lowest for step in steps]
        found = [(float(a @ a) / 2, float((a.abs() > 0.5).double().mean())) for a in away]
        return np.array(found).reshape(-1, 2)

    def gradient(self, step: Tensor) -> Tensor:
        return self.theta - self.lr * step.double() - self.lowest

    def mean(self) -> Tensor:
        raise AssertionError("not needed")

    classes = mean
