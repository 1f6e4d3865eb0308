"""What rules share that read the label distributions which the workers report."""

from typing import ClassVar

import numpy as np
import torch

from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule
from wola.aggregation.space import Space


class LabelRule(Rule):
    """A rule that reads a report (C,) of each worker beside its update."""

    needs_products: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"labels"})


def reports_of(space: Space) -> Floats:
    """The label distributions of the points of a space, (n, C), mixed as the points are."""
    labels = space.view.labels
    assert labels is not None
    reports: Floats = np.asarray(torch.as_tensor(labels).double().cpu().numpy())
    if len(reports) != space.n:
        raise ValueError(
            f"labels has shape {reports.shape}; allowed: ({space.n}, C), a report of each worker"
        )
    return reports
