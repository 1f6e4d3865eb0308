"""GAS: split the columns into groups, and keep the updates nearest to the groups' aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator

from wola.aggregation.inner_rule import check_inner_rule
from wola.aggregation.krum import Krum
from wola.aggregation.lengths import ROUNDED, squared_lengths
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule, Solution
from wola.aggregation.selection import smallest, sums_of_smallest
from wola.aggregation.source import Matrix, split_pieces
from wola.aggregation.space import Space
from wola.ground.checks import check_whole
from wola.ground.generators import given_generator, numpy_generator


@dataclass(frozen=True)
class GAS(Rule):
    """Gradient splitting: the mean of the n - f updates nearest to what `rule` makes of each group.

    The d columns are split at random into `groups` groups of nearly equal size; in each the base
    rule gives an aggregate a_g of the updates' parts x_{i,g}; the score of an update is s_i = sum_g
    ||x_{i,g} - a_g||, and the n - f lowest scores are averaged. Scores tied at the edge share the
    weight that is left. Groups are no more than columns. The split comes from the generator given
    with the call and does not depend on the order of the workers; where every column is a group of
    its own, or all are one group, nothing is drawn.

    Accepts what the base rule accepts, and f < n/2.

    Defaults: `rule`: ours, Krum, which works for every f < n/2. Its authors' public code takes
    Bulyan, which needs n >= 4f + 3; `groups`: its authors' public code.

    Cost: the rule inside in each group, O(n^2 d) in all for Krum, and two more passes over the
    updates.

    Draws: a split of the columns.

    Reference: Y. Liu, C. Chen, L. Lyu, F. Wu, S. Wu and G. Chen, Byzantine-robust learning on
    heterogeneous data via gradient splitting, ICML 2023.

    >>> import torch
    >>> x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [9.0, 1.0]])
    >>> GAS()(x, f=1)
    tensor([0.6667, 0.6667])
    """

    rule: Rule = field(default_factory=Krum)
    groups: int = 1000

    def __post_init__(self) -> None:
        check_inner_rule(self.rule)
        check_whole("groups", self.groups, least=1)

    def max_byzantine(self, n: int) -> int:
        """The largest f < n/2 that the base rule accepts."""
        return min((n - 1) // 2, self.rule.max_byzantine(n))

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Equal weights on the n - f lowest scores; ties at the edge share."""
        n = space.n
        if f == 0 or space.columns == 0:
            return Solution(space, weights=np.full(n, 1.0 / n))
        columns = self._split(space.columns, generator)
        parts = space.restricted(columns)
        solutions = [self.rule.solve(part, f, generator) for part in parts]
        groups = [_Group(*group) for group in zip(columns, parts, solutions, strict=True)]
        squares, errors = _distances(space, groups)
        scores, reach = sums_of_smallest(squares, errors, len(groups), 1.0)
        return Solution(space, weights=smallest(scores, n - f, reach))

    def _split(self, columns: int, generator: Generator | None) -> list[NDArray[np.int64]]:
        """The columns of each group, in ascending order."""
        order = np.arange(columns)
        if 1 < self.groups < columns:
            given = given_generator(generator, f"{self} splits columns")
            order = numpy_generator(given).permutation(columns)
        return [np.sort(group) for group in np.array_split(order, min(self.groups, columns))]


class _Group(NamedTuple):
    """Some columns, the points there, and what the base rule makes of them."""

    columns: NDArray[np.int64]
    points: Space
    solution: Solution


def _distances(space: Space, groups: Sequence[_Group]) -> tuple[Floats, Floats]:
    """Squared distances of the points to each group's aggregate, and their errors, (n, groups)."""
    squares, errors = np.zeros((2, space.n, len(groups)))
    by_column = [g for g, group in enumerate(groups) if group.solution.weights is None]
    for g, (_, points, solution) in enumerate(groups):
        if solution.weights is not None:
            aggregate = solution.weights @ solution.space.mixture
            squares[:, g], errors[:, g] = squared_lengths(points, points.mixture - aggregate)
    if by_column:
        found = _column_distances(space, [groups[g] for g in by_column])
        squares[:, by_column], errors[:, by_column] = found
    return squares, errors


def _column_distances(space: Space, groups: Sequence[_Group]) -> tuple[Floats, Floats]:
    """The same for rules that treat each column alone, in one pass over the columns."""
    squares, sizes = np.zeros((2, space.n, len(groups)))
    for g, block in split_pieces(space.source, [group.columns for group in groups]):
        here, solution = Matrix(block.double()), groups[g].solution
        points = torch.cat(list(replace(groups[g].points, source=here).blocks()), dim=1)
        # In the unit of the space, so that no square leaves float64's range.
        inside = replace(solution.space, source=here, exponent=0)
        aggregate = Solution(inside, columns=solution.columns).vector()
        squares[:, g] += (points - aggregate).square().sum(dim=1).cpu().numpy()
        sizes[:, g] += (points.square() + aggregate.square()).sum(dim=1).cpu().numpy()
    reach = ROUNDED * np.sqrt(sizes)
    return squares, reach * (2 * np.sqrt(squares) + reach)
