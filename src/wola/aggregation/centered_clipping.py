"""Centred clipping."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.space import Space
from wola.ground.checks import check_number, check_whole


@dataclass(frozen=True)
class CenteredClipping(GramRule):
    """From v = 0, `iterations` steps v += (1/n) sum_i (x_i - v) min(1, tau / ||x_i - v||).

    Moves by at most tau a step whatever the Byzantine workers send; accepts f < n/2. To start at
    the last aggregate v_0 instead of 0, as the authors do, aggregate the differences: `v_0 +
    rule(updates - v_0, f)`. Weights need not sum to 1. Every update counts, so there are no ties.
    The default radius is ours; one step a round is what its authors take. Reference: S. P.
    Karimireddy, L. He and M. Jaggi, Learning from history for Byzantine robust
    optimization, ICML 2021.

    >>> import torch
    >>> CenteredClipping(tau=1.0)(torch.tensor([[0.5], [0.5], [8.0]]), f=1)
    tensor([0.6667])
    """

    tau: float = 10.0
    iterations: int = 1

    def __post_init__(self) -> None:
        check_number("tau", self.tau, above=0)
        check_whole("iterations", self.iterations, least=1)

    def weigh(self, space: Space, f: int) -> Floats:
        """The weights of the updates in v after the last step."""
        gram, tau = space.gram, space.in_units(self.tau)
        weights = np.zeros(space.n)
        for _ in range(self.iterations):
            towards = gram @ weights
            squared = gram.diagonal() - 2 * towards + weights @ towards
            lengths = np.sqrt(np.maximum(squared, 0.0))
            pull = tau / np.maximum(lengths, tau) / space.n
            weights = weights * (1.0 - pull.sum()) + pull
        return weights
