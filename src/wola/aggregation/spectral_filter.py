"""The filter along the direction of largest spread that CAF and RAGE share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.space import Space

#: A removed update may set the pace so that hardly any weight goes in a step; then it ends here.
MOST_STEPS = 1000
#: Eigenvalues this close to the largest, relative to it, are equal to it up to rounding.
EQUAL = 1e-9

Pace = Literal["all", "weighted"]


class Filtered(NamedTuple):
    """A state of the filter: how much of the n updates is left, as weights, and their spread."""

    mass: float
    """sum_i c_i, n at first."""
    weights: Floats
    """c_i / sum_i c_i, (n,)."""
    spread: float
    """The top eigenvalue of the covariance with these weights."""


def filtering(space: Space, pace: Pace) -> Iterator[Filtered]:
    """The states of the filter one after another, from all updates with equal weights on.

    With c_i = 1 at first: mu is the mean weighted by c, v the top eigenvector of the weighted
    covariance, tau_i = <v, x_i - mu>^2, and c_i shrinks by 1 - tau_i / max tau, where max tau is
    over all updates or over those that still have weight. It ends when what is left spreads no
    more than rounding can make equal updates spread, when nothing is left, or after 1,000 states.
    """
    gram, shares = space.centred_gram, np.ones(space.n)
    for _ in range(MOST_STEPS):
        mass = float(shares.sum())
        if mass == 0.0:
            return
        weights = shares / mass
        spread, scores = top_spread(gram, weights)
        yield Filtered(mass, weights, spread)
        largest = scores.max() if pace == "all" else scores[shares > 0.0].max()
        if spread <= weights @ space.gram_errors or not largest > 0.0:
            return
        kept = 1.0 - scores / largest
        shares = shares * np.where(kept > EQUAL, kept, 0.0)


def top_spread(gram: Floats, weights: Floats) -> tuple[float, Floats]:
    """The top eigenvalue of the weighted covariance, and each point's square along its vectors.

    The squares (n,) are lambda <v, x_i - mu>^2, from inner products `gram` (n, n) taken from any
    point. Where several directions share the top eigenvalue, the length in all of them counts, so
    that no choice among them is left to chance.
    """
    centred = recentred(gram, weights)
    root = np.sqrt(weights)
    values, vectors = np.linalg.eigh(root[:, None] * centred * root[None, :])
    top = vectors[:, values >= values[-1] * (1 - EQUAL)]
    scores: Floats = ((centred @ (root[:, None] * top)) ** 2).sum(axis=1)
    return float(values[-1]), scores


def recentred(gram: Floats, weights: Floats) -> Floats:
    """Inner products seen from the mean with these weights, which sum to 1, (n, n)."""
    towards = gram @ weights
    centred: Floats = gram - towards[:, None] - towards[None, :] + weights @ towards
    return centred
