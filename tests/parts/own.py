"""Parts of a user's own, named by import path in the tests."""

from dataclasses import dataclass

import numpy as np
import torch

from tests.parts.own_neighbour import HALF
from wola.aggregation import GramRule
from wola.attacks import ColludingAttack
from wola.data import Dataset
from wola.labels import Loss, Terms

value = 7


@dataclass(frozen=True)
class NearestHalf(GramRule):
    """The mean of the k updates nearest to the one in the middle of them all."""

    k: int
    note: str = "none given"

    def weigh(self, space, f):
        middle = np.median(space.squared_distances, axis=1).argmin()
        weights = np.zeros(space.n)
        weights[np.argsort(space.squared_distances[middle], kind="stable")[: self.k]] = 1 / self.k
        return weights


class Remembers(GramRule):
    """A rule that is no dataclass, and keeps its parameter."""

    def __init__(self, share=HALF):
        object.__setattr__(self, "share", share)

    def weigh(self, space, f):
        return np.full(space.n, 1 / space.n)


class Forgets(GramRule):
    """A rule that does not keep its parameter."""

    def __init__(self, share=HALF):
        pass

    def weigh(self, space, f):
        return np.full(space.n, 1 / space.n)


class Breaks(GramRule):
    """A rule whose constructor fails."""

    def __init__(self):
        raise KeyError("a bug")

    def weigh(self, space, f):
        return np.full(space.n, 1 / space.n)


@dataclass(frozen=True)
class Opposite(ColludingAttack):
    """The mean times -factor."""

    factor: float = 1.0

    def row(self, seen, rule, generator):
        return -self.factor * seen.honest.mean(0)


@dataclass(frozen=True)
class Adjusted(Loss):
    """Logit adjustment."""

    tau: float = 1.0

    def terms(self, counts, q):
        return Terms(torch.ones_like(q), self.tau * (counts / counts.sum()).log())


def three_points(samples=60):
    """A small dataset of three classes."""
    labels = np.arange(samples) % 3
    inputs = np.eye(3, dtype=np.float32)[labels]
    return Dataset.from_arrays(inputs, labels, inputs[:9], labels[:9], name="three")


def no_dataset():
    """Not a dataset."""
    return 3
