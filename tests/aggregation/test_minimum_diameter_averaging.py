"""Minimum diameter averaging."""

import numpy as np

from tests import reference
from tests.rules import updates
from wola.aggregation import MinimumDiameterAveraging
from wola.aggregation import subsets as subset_rules


def test_the_best_subset_is_found_in_whichever_batch_it_lies(monkeypatch):
    monkeypatch.setattr(subset_rules, "BATCH", 5)
    for seed in range(6):
        x = updates(8, 3, seed=seed)
        np.testing.assert_allclose(
            MinimumDiameterAveraging()(x, 3), reference.minimum_diameter_averaging(x, 3), atol=1e-12
        )
