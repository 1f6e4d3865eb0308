"""What attacks as far from the honest mean as the honest spread hides them have in common."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import Generator, Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule
from wola.aggregation.space import MIX_BLOCK
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import ColludingAttack, Seen
from wola.ground.checks import check_choice

Direction = Literal["std", "unit", "sign"]


def perturbation(honest: Tensor, direction: Direction) -> Tensor:
    """The direction p, (d,): -std, -mean/||mean|| or -sign(mean) of the honest updates (h, d)."""
    if direction == "std":
        return mean_and_std(honest, 0.0, -1.0)
    mean = mean_and_std(honest, 1.0, 0.0)
    if direction == "sign":
        return -mean.sign()
    length = float(torch.linalg.vector_norm(mean, dtype=torch.float64))
    return (mean.double() / -length).to(mean.dtype) if length else torch.zeros_like(mean)


def deviations(honest: Tensor, away: Tensor) -> tuple[Floats, Floats, float]:
    """||x_i - m||^2 (h,), <p, m - x_i> (h,) and ||p||^2, m the mean, p = `away`, in float64."""
    device = honest.device
    squares, inner = (torch.zeros(len(honest), dtype=torch.float64, device=device) for _ in "ab")
    energy = 0.0
    for start in range(0, honest.shape[1], MIX_BLOCK):
        values = honest[:, start : start + MIX_BLOCK].double()
        towards = away[start : start + MIX_BLOCK].double()
        values = values - values.mean(dim=0)
        squares += values.square().sum(dim=1)
        inner -= values @ towards
        energy += float(towards @ towards)
    return squares.cpu().numpy(), inner.cpu().numpy(), energy


@dataclass(frozen=True)
class MinDistance(ColludingAttack):
    """mean + gamma p along a `direction` p, with the largest gamma that a subclass allows."""

    scale_equivariant: ClassVar[bool] = True

    direction: Direction = "std"

    def __post_init__(self) -> None:
        check_choice("direction", self.direction, get_args(Direction))

    @abstractmethod
    def reach(self, honest: Tensor, squares: Floats, inner: Floats, energy: float) -> float:
        """The largest gamma allowed, from what `deviations` gives."""

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """mean + gamma p."""
        away = perturbation(seen.honest, self.direction)
        squares, inner, energy = deviations(seen.honest, away)
        gamma = self.reach(seen.honest, squares, inner, energy) if energy > 0 else 0.0
        if self.direction == "std":
            return mean_and_std(seen.honest, 1.0, -gamma)
        return mean_and_std(seen.honest, 1.0, 0.0).double().add(away.double(), alpha=gamma)
