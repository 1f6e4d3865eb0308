"""What rules share that read the label distributions which the workers report."""

from typing import ClassVar

import numpy as np
import torch

from wola.aggregation.lengths import ROUNDED
from wola.aggregation.products import Floats
from wola.aggregation.rule import Rule
from wola.aggregation.space import Space

#: Singular values of reports that are smaller than this, relative to the largest, count as 0.
INDEPENDENT = 1e-9


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


def class_estimates(reports: Floats) -> tuple[Floats, Floats]:
    """The pseudo-inverse (..., C, m) of reports (..., m, C), and how far rounding may put it off.

    Times the updates of the same workers it estimates one gradient for each class. The second
    number (...) is relative to the parts that such an estimate is added up from.
    """
    left, values, right = np.linalg.svd(reports, full_matrices=False)
    largest = values.max(axis=-1, initial=0.0)
    used = values > INDEPENDENT * largest[..., None]
    inverses = np.where(used, 1.0 / np.where(used, values, 1.0), 0.0)
    outwards, inwards = np.swapaxes(right, -1, -2), np.swapaxes(left, -1, -2)
    found: Floats = (outwards * inverses[..., None, :]) @ inwards
    least = np.where(used, values, np.inf).min(axis=-1, initial=np.inf)
    return found, ROUNDED * np.maximum(largest / least, 1.0)
