"""What rules that search all subsets share."""

import time
from itertools import combinations

import numpy as np
import pytest
import torch

from wola.aggregation import SMEA, MinimumDiameterAveraging, SoftSetHull
from wola.aggregation import subsets as subset_rules


@pytest.mark.parametrize(
    ("rule", "n", "f"),
    [(MinimumDiameterAveraging(), 40, 19), (SMEA(), 30, 9), (SoftSetHull(), 40, 19)],
)
def test_a_search_that_would_not_end_is_refused_at_once(rule, n, f):
    started = time.perf_counter()
    with pytest.raises(ValueError, match=f"n = {n}.*f = {f}"):
        rule(torch.zeros(n, 2), f)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("rule", [MinimumDiameterAveraging(), SMEA(), SoftSetHull()], ids=str)
def test_the_seventeen_workers_of_the_paper_can_be_searched(rule):
    for f in (2, 4, 6, 8):
        rule.check(17, f)


@pytest.mark.parametrize(("n", "size"), [(1, 1), (5, 3), (6, 6), (7, 4)])
def test_batches_hold_every_subset_once_and_in_order(n, size, monkeypatch):
    monkeypatch.setattr(subset_rules, "BATCH", 5)
    batches = list(subset_rules.subsets(n, size))
    assert all(len(batch) <= 5 for batch in batches)
    together = np.concatenate(batches).tolist()
    assert together == [list(rows) for rows in combinations(range(n), size)]
