"""Mimic, with the worker chosen as the most surrounded outlier."""

from dataclasses import dataclass

import numpy as np
from torch import Generator, Tensor

from wola.aggregation.rule import Rule, open_space
from wola.aggregation.source import Matrix
from wola.aggregation.space import Floats, Space
from wola.attacks.attack import ColludingAttack, Seen

#: Numbers that differ by less than this, relative to the largest, are ties up to rounding.
ROUNDING = 1e-12


def distances_to_mean(space: Space) -> Floats:
    """Euclidean distance of each of the m points to their mean, (m,)."""
    gram = space.centred_gram
    towards = gram.mean(axis=1)
    squares = gram.diagonal() - 2 * towards + towards.mean()
    distances: Floats = np.sqrt(np.maximum(squares, 0.0))
    return distances


def most_surrounded_outlier(space: Space, f: int) -> int:
    """The point j with the largest s_j = sum_i min(f, rank(v_i, v_j)) x dist(v_j, mean).

    rank(v_i, v_j) = r if v_j is the r-th farthest point from v_i, so v_i itself has rank m among
    m points. Points equally far, up to rounding, rank by index; of equal scores the lowest index
    wins. Reference: the WoLA paper, *Mimic with most surrounded outlier selection*.
    """
    distances = np.sqrt(space.squared_distances)
    steps = np.round(distances / max(float(distances.max()), np.finfo(float).tiny) / ROUNDING)
    np.fill_diagonal(steps, -1.0)
    farthest_first = np.argsort(-steps, axis=1, kind="stable")
    ranks = np.empty_like(farthest_first)
    np.put_along_axis(ranks, farthest_first, np.arange(1, space.n + 1)[None, :], axis=1)
    scores = np.minimum(f, ranks).sum(axis=0) * distances_to_mean(space)
    return int(np.flatnonzero(scores >= scores.max() * (1 - ROUNDING))[0])


@dataclass(frozen=True)
class Mimic(ColludingAttack):
    """All attackers send the honest update that is the most surrounded outlier.

    It is argmax_j s_j with s_j = sum_i min(f, rank(v_i, v_j)) x dist(v_j, mean): far from the mean
    and yet not among the farthest from most other honest updates. It looks honest, since it is,
    and makes its worker's data count f + 1 times. Ties: see `most_surrounded_outlier`. Reference:
    the WoLA paper, *Mimic with most surrounded outlier selection*, after S. P. Karimireddy, L. He
    and M. Jaggi, Byzantine-robust learning on heterogeneous datasets via bucketing, ICLR 2022.

    >>> import torch
    >>> Mimic()(torch.tensor([[0.0], [1.0], [1.0], [4.0], [9.0]]), f=2)
    tensor([[9.],
            [9.]])
    """

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """A copy of the chosen honest update."""
        space, _, _ = open_space(Matrix(seen.honest), 0, needs_products=True)
        return seen.honest[most_surrounded_outlier(space, seen.f)].clone()
