"""Reports of the outlier."""

import numpy as np
import torch

from tests.labels.dishonest import distributions
from wola.labels import OutlierDistribution


def test_the_outlier_is_the_honest_report_farthest_from_the_mean():
    honest = distributions(9, 5, 1)
    rows = honest.numpy()
    farthest = max(range(9), key=lambda i: np.abs(rows[i] - rows.mean(0)).sum())
    lies = OutlierDistribution()(honest, 3)
    assert torch.equal(lies, honest[farthest].repeat(3, 1))


def test_ties_of_the_outlier_go_to_the_lowest_worker():
    assert OutlierDistribution()(torch.eye(3), 1).tolist() == [[1.0, 0.0, 0.0]]
