"""Rules that search all subsets."""

import time

import numpy as np
import pytest
import torch

from tests import reference
from tests.rules import updates
from wola.aggregation import SMEA, MinimumDiameterAveraging
from wola.aggregation import subsets as subset_rules


@pytest.mark.parametrize(
    ("rule", "n", "f"), [(MinimumDiameterAveraging(), 40, 19), (SMEA(), 30, 9)]
)
def test_a_search_that_would_not_end_is_refused_at_once(rule, n, f):
    started = time.perf_counter()
    with pytest.raises(ValueError, match=f"n = {n}.*f = {f}"):
        rule(torch.zeros(n, 2), f)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("rule", [MinimumDiameterAveraging(), SMEA()], ids=str)
def test_the_seventeen_workers_of_the_paper_can_be_searched(rule):
    for f in (2, 4, 6, 8):
        rule.check(17, f)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (MinimumDiameterAveraging(), reference.minimum_diameter_averaging),
        (SMEA(), reference.smea),
    ],
    ids=["MDA", "SMEA"],
)
def test_the_best_subset_is_found_in_whichever_batch_it_lies(rule, expected, monkeypatch):
    monkeypatch.setattr(subset_rules, "BATCH", 5)
    for seed in range(6):
        x = updates(8, 3, seed=seed)
        np.testing.assert_allclose(rule(x, 3), expected(x, 3), atol=1e-12)


def test_smea_may_choose_another_subset_than_minimum_diameter():
    differ = [
        s
        for s in range(20)
        if not np.allclose(
            SMEA()(updates(7, 3, seed=s), 2), MinimumDiameterAveraging()(updates(7, 3, seed=s), 2)
        )
    ]
    assert differ
