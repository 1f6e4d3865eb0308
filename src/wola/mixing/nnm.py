"""Nearest-neighbour mixing."""

from dataclasses import dataclass

import numpy as np
from torch import Generator

from wola.aggregation.space import Floats, Space
from wola.mixing.mixing import Mixing


@dataclass(frozen=True)
class NNM(Mixing):
    """Replace each update by the mean of the n - f updates nearest to it, itself included.

    Ties go to the lowest indices. Reference: Y. Allouah, S. Farhadkhani, R. Guerraoui, N. Gupta,
    R. Pinot and J. Stephan, Fixing by mixing: a recipe for optimal Byzantine ML under
    heterogeneity, AISTATS 2023.

    >>> import torch
    >>> NNM()(torch.tensor([[0.0], [1.0], [2.0], [60.0]]), f=1).flatten()
    tensor([ 1.,  1.,  1., 21.])
    """

    def mix(self, space: Space, f: int, generator: Generator | None) -> Floats:
        """Row i holds 1/(n-f) at the n - f updates nearest to update i."""
        distances = space.squared_distances.copy()
        np.fill_diagonal(distances, -1.0)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, : space.n - f]
        matrix = np.zeros((space.n, space.n))
        np.put_along_axis(matrix, nearest, 1.0 / (space.n - f), axis=1)
        return matrix
