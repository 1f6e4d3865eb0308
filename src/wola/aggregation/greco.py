"""GReco: updates that the reported label distributions explain."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from torch import Generator

from wola.aggregation.label_rule import LabelRule, class_estimates, reports_of
from wola.aggregation.lengths import squared_lengths
from wola.aggregation.products import Floats
from wola.aggregation.rule import Solution
from wola.aggregation.selection import smallest
from wola.aggregation.space import Space
from wola.ground.checks import check_whole

#: Decimals in which reports that order tied updates are told apart.
DECIMALS = 9


@dataclass(frozen=True)
class GReco(LabelRule):
    r"""The mean of the n - f updates that are best rebuilt from their workers' label reports.

    Of the updates x_i with reported label distributions :math:`\pi_i` a few `representatives` S
    give an estimate of one gradient for each class, from which every update is rebuilt:

    .. math:: \hat G = \pi_S^+ x_S, \qquad \hat x_i = \pi_i \hat G, \qquad
        s_i = \Big\| \frac{x_i}{\|x_i\|} - \frac{\hat x_i}{\|\hat x_i\|} \Big\|

    The n - f smallest s_i are averaged; ties at the edge share. The representatives are chosen one
    by one: the first is the longest update, the next the one farthest from what the chosen ones
    span. Accepts f < n/2.

    Known from public code of 2026 alone, and not published as far as is known. From there are four
    representatives by their residuals, the pseudo-inverse, and unit vectors. The choices left open
    are ours: residuals are those of the updates as they are; fewer representatives are taken where
    they span all; of updates with equal residuals the one with the lexicographically smallest
    report is taken, and of those with equal reports too the mean; the unit vector of 0 is 0.

    That the residuals are of the updates as they are was chosen by trial: of several readings (unit
    vectors, reports, residuals of the rebuilt updates) it kept sign flips, FOE and ALIE out best in
    a few rounds on digits. Flipped labels and noise it does not keep out there.

    A representative whose report is independent of the others' is rebuilt exactly and so always
    kept. Attackers who send the longest updates therefore stay: bound the lengths first, as
    ``ARC() | GReco()`` does. After NNM, which makes updates and reports alike, sign flips, FOE and
    ALIE weighed more on digits than in the mean. Needs reports: ``GReco().at(View(labels=...))``.

    Defaults: `representatives`: public code.

    Cost: one pass over the updates for their inner products, O(n^2 d).

    Reference: public code of 2026; not published as far as is known.

    >>> import torch
    >>> from wola.aggregation import View
    >>> reports = torch.tensor([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.5, 0.5]])
    >>> updates = torch.tensor([[4.0, 0.0], [2.0, 2.0], [0.0, 4.0], [-2.0, -2.0]])
    >>> GReco().at(View(labels=reports))(updates, f=1)
    tensor([2., 2.])
    """

    representatives: int = 4

    def __post_init__(self) -> None:
        check_whole("representatives", self.representatives, least=1)

    def solve(self, space: Space, f: int, generator: Generator | None) -> Solution:
        """Equal weights on the n - f updates that are best rebuilt; ties at the edge share."""
        if f == 0:
            return Solution(space, weights=np.full(space.n, 1.0 / space.n))
        reports = reports_of(space)
        chosen = representatives(space, reports, self.representatives)
        estimates, rounded = class_estimates(chosen @ reports)
        own = _units(space, np.eye(space.n))
        rebuilt = _units(space, reports @ estimates @ chosen, rounded)
        off = rounded * (np.abs(own) + np.abs(rebuilt))
        squares, errors = squared_lengths(space, own - rebuilt, off)
        return Solution(space, weights=smallest(squares, space.n - f, errors))


def _units(space: Space, coefficients: Floats, rounded: npt.ArrayLike = 0.0) -> Floats:
    """Combinations (k, n) of the points at length 1, or 0, over the updates of the source."""
    over_source = coefficients @ space.mixture
    squares, _ = squared_lengths(space, over_source, rounded * np.abs(over_source))
    lengths = np.sqrt(squares)[:, None]
    units: Floats = over_source / np.where(lengths > 0.0, lengths, np.inf)
    return units


def representatives(space: Space, reports: Floats, count: int) -> Floats:
    """Weights (r, n) of up to `count` points, each farthest from the span of those before it."""
    products, errors = space.gram.copy(), 8.0 * space.energy_errors
    chosen: list[Floats] = []
    while len(chosen) < min(count, space.n):
        residuals = products.diagonal()
        farthest = int(np.argmax(residuals))
        if residuals[farthest] <= errors[farthest]:
            break
        tied = np.flatnonzero(residuals >= residuals[farthest] - errors - errors[farthest])
        row = np.zeros(space.n)
        row[_first_by_report(tied, reports)] = 1.0
        row /= row.sum()
        along = products @ row
        length = float(row @ along)
        chosen.append(row)
        # Opposite updates with one report have the mean 0, which spans nothing.
        if length > errors[farthest]:
            products -= np.outer(along, along) / length
    return np.array(chosen).reshape(-1, space.n)


def _first_by_report(tied: NDArray[np.intp], reports: Floats) -> NDArray[np.intp]:
    """Those of the tied whose report comes first in lexicographic order."""
    rounded = np.round(reports[tied], DECIMALS)
    first = np.lexsort(rounded.T[::-1])[0]
    same: NDArray[np.intp] = tied[(rounded == rounded[first]).all(axis=1)]
    return same
