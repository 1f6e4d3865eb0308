"""What rules share that compare the workers with the server's own update."""

from typing import ClassVar

import numpy as np
from torch import Tensor

from wola.aggregation.products import Floats
from wola.aggregation.rule import GramRule
from wola.aggregation.space import Space
from wola.aggregation.view import View


class OwnUpdateRule(GramRule):
    """A rule whose one landmark is the server's own update; it uses no count of liars."""

    needs: ClassVar[frozenset[str]] = frozenset({"mean"})

    def max_byzantine(self, n: int) -> int:
        """All but one: f is not used."""
        return n - 1

    def landmarks(self, view: View) -> Tensor:
        """The server's own update, (1, d)."""
        return view.known.mean()


def cosines_and_lengths(space: Space) -> tuple[Floats, Floats, float]:
    """Cosines of the points to the server's update, their lengths, and its length.

    The cosine to or of an update of length 0 is 0.
    """
    gram = space.with_marks.gram
    lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    workers, server = lengths[:-1], float(lengths[-1])
    real = (workers > 0.0) & (server > 0.0)
    divisors = np.where(real, workers, 1.0)
    cosines = np.where(real, gram[-1, :-1] / divisors / (server or 1.0), 0.0)
    return np.clip(cosines, -1.0, 1.0), workers, server
