"""Smallest maximum eigenvalue averaging."""

import numpy as np

from tests import reference
from tests.rules import updates
from wola.aggregation import SMEA, MinimumDiameterAveraging
from wola.aggregation import subsets as subset_rules


def test_the_best_subset_is_found_in_whichever_batch_it_lies(monkeypatch):
    monkeypatch.setattr(subset_rules, "BATCH", 5)
    for seed in range(6):
        x = updates(8, 3, seed=seed)
        np.testing.assert_allclose(SMEA()(x, 3), reference.smea(x, 3), atol=1e-12)


def test_it_may_choose_another_subset_than_minimum_diameter():
    differ = [
        s
        for s in range(20)
        if not np.allclose(
            SMEA()(updates(7, 3, seed=s), 2), MinimumDiameterAveraging()(updates(7, 3, seed=s), 2)
        )
    ]
    assert differ
