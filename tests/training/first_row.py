"""A rule that depends on the order of the workers, to see in which one they come."""

from dataclasses import dataclass

import numpy as np

from wola.aggregation import GramRule


@dataclass(frozen=True)
class FirstRow(GramRule):
    """The update that comes first, and nothing else."""

    def weigh(self, space, f):
        """All weight on the first."""
        return np.eye(space.n)[0]
