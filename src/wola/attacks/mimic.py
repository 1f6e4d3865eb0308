"""Mimic, with the worker chosen as the most surrounded outlier."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Generator, Tensor

from wola.aggregation.opening import open_space
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule
from wola.aggregation.source import Matrix
from wola.aggregation.space import Space
from wola.attacks._lexicographic import lexicographically_first
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


def capped_ranks(distances: Floats, f: int) -> Floats:
    """min(f, rank(v_i, v_j)) for each i and j, (m, m), from the distances between m points.

    rank(v_i, v_j) = r if v_j is the r-th farthest point from v_i, so v_i itself has rank m. Points
    equally far from v_i, up to rounding, all get the mean of min(f, r) over their ranks r: no point
    gains by the place it stands at.

    >>> capped_ranks(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]]), f=3)
    array([[3. , 1.5, 1.5],
           [2. , 3. , 1. ],
           [2. , 1. , 3. ]])
    """
    m = len(distances)
    nearness = -distances / max(float(distances.max()), np.finfo(float).tiny)
    np.fill_diagonal(nearness, 1.0)
    farthest_first = np.argsort(nearness, axis=1, kind="stable")
    gaps = np.diff(np.take_along_axis(nearness, farthest_first, axis=1), axis=1) > ROUNDING
    groups = np.zeros((m, m), dtype=np.int64)
    np.put_along_axis(groups, farthest_first[:, 1:], gaps.cumsum(axis=1), axis=1)
    own = groups + m * np.arange(m)[:, None]
    sizes = np.bincount(own.ravel(), minlength=m * m).reshape(m, m)
    ends = sizes.cumsum(axis=1)
    total = np.append(0, np.minimum(f, np.arange(1, m + 1)).cumsum())
    means = (total[ends] - total[ends - sizes]) / np.maximum(sizes, 1)
    ranks: Floats = np.take_along_axis(means, groups, axis=1)
    return ranks


def most_surrounded_outlier(space: Space, f: int) -> int:
    """The point j with the largest s_j = sum_i min(f, rank(v_i, v_j)) x dist(v_j, mean).

    rank(v_i, v_j) = r if v_j is the r-th farthest point from v_i, see `capped_ranks` for points
    equally far. Of points with equal scores, up to rounding, the one whose first coordinate that
    differs is the smallest is chosen: the order of the workers decides nothing. Reference: the
    WoLA paper, *Mimic with most surrounded outlier selection*.
    """
    ranks = capped_ranks(np.sqrt(space.squared_distances), f)
    scores = ranks.sum(axis=0) * distances_to_mean(space)
    best = np.flatnonzero(scores >= scores.max() * (1 - ROUNDING))
    return lexicographically_first(space.blocks(), best)


@dataclass(frozen=True)
class Mimic(ColludingAttack):
    """All attackers send the honest update that is the most surrounded outlier.

    It is argmax_j s_j with s_j = sum_i min(f, rank(v_i, v_j)) x dist(v_j, mean): far from the mean
    and yet not among the farthest from most other honest updates. It looks honest, since it is, and
    makes its worker's data count f + 1 times. Ties: see `most_surrounded_outlier`.

    Cost: one pass over the honest updates for their inner products, O(h^2 d).

    Reference: the WoLA paper, *Mimic with most surrounded outlier selection*, after S. P.
    Karimireddy, L. He and M. Jaggi, Byzantine-robust learning on heterogeneous datasets via
    bucketing, ICLR 2022.

    >>> import torch
    >>> Mimic()(torch.tensor([[0.0], [1.0], [1.0], [4.0], [9.0]]), f=2)
    tensor([[9.],
            [9.]])
    """

    scale_equivariant: ClassVar[bool] = True

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """A copy of the chosen honest update."""
        space, _, _ = open_space(Matrix(seen.honest), 0, needs_products=True)
        return seen.honest[most_surrounded_outlier(space, seen.f)].clone()
