"""Attacks as far from the honest mean as the spread of the honest updates hides."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.rule import Rule, open_space
from wola.aggregation.source import Matrix
from wola.aggregation.space import MIX_BLOCK, Floats
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
class _MinDistance(ColludingAttack):
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


@dataclass(frozen=True)
class MinMax(_MinDistance):
    """mean + gamma p with the largest gamma that keeps it within the honest diameter.

    No honest update may be farther from what is sent than the two farthest honest ones from each
    other: max_i ||m + gamma p - x_i|| <= max_ij ||x_i - x_j||. Per worker that is a quadratic in
    gamma, so the answer is the smallest of h roots: no search. `direction` p is "std" (minus the
    population std), "unit" (-mean/||mean||) or "sign" (-sign(mean)). Reference: V. Shejwalkar and
    A. Houmansadr, Manipulating the Byzantine: optimizing model poisoning attacks and defenses for
    federated learning, NDSS 2021.

    >>> import torch
    >>> MinMax()(torch.tensor([[1.0], [2.0], [3.0]]), f=1)
    tensor([[1.]])
    """

    def reach(self, honest: Tensor, squares: Floats, inner: Floats, energy: float) -> float:
        """min_i of the root of ||p||^2 g^2 + 2 <p, m - x_i> g + ||m - x_i||^2 = diameter^2."""
        space, _, _ = open_space(Matrix(honest), 0, needs_products=True)
        room = np.maximum(space.squared_distances.max() - squares, 0.0)
        root = np.sqrt(inner**2 + energy * room)
        # Of the two forms of the root, the one that does not subtract equal numbers.
        outward = inner > 0
        safe = np.where(outward, root + inner, 1.0)
        gammas = np.where(outward, room / safe, (root - inner) / energy)
        return float(gammas.min())


@dataclass(frozen=True)
class MinSum(_MinDistance):
    """mean + gamma p with the largest gamma whose squared distances sum like an honest one's.

    sum_i ||m + gamma p - x_i||^2 <= max_j sum_i ||x_j - x_i||^2. As both sides are the sum of
    ||x_i - m||^2 plus h times the squared distance to the mean m, this says gamma = max_j
    ||x_j - m|| / ||p||. `direction` p is "std" (minus the population std), "unit" (-mean/||mean||)
    or "sign" (-sign(mean)). Reference: V. Shejwalkar and A. Houmansadr, Manipulating the
    Byzantine: optimizing model poisoning attacks and defenses for federated learning, NDSS 2021.

    >>> import torch
    >>> MinSum()(torch.tensor([[1.0], [2.0], [3.0]]), f=1)
    tensor([[1.]])
    """

    def reach(self, honest: Tensor, squares: Floats, inner: Floats, energy: float) -> float:
        """max_j ||x_j - m|| / ||p||."""
        return float(np.sqrt(squares.max() / energy))
