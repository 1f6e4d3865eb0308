"""Every rule and chain: the public battery, and the float64 references over many n, f and d."""

import numpy as np
import pytest
import torch

from tests.rules import PLAIN_RULES, RULES, assert_close, generator, sizes, updates
from wola.aggregation import TooFewUpdates, _gram_kernels, _rank_kernels
from wola.aggregation.space import MIX_BLOCK
from wola.testing import check_rule

EVERY_RULE = pytest.mark.parametrize("entry", RULES, ids=str)

#: One below, at and one above the columns that the kernels take at a time.
BLOCK_EDGES = sorted(
    edge + step
    for edge in {512, 1040, _gram_kernels.GRAM_BLOCK, _rank_kernels.NETWORK_BLOCK, MIX_BLOCK}
    for step in (-1, 0, 1)
)


@EVERY_RULE
def test_the_battery_passes(entry):
    check_rule(entry.rule, **entry.options)


@EVERY_RULE
def test_the_answer_is_the_reference_in_float64(entry):
    tried = 0
    for n, f, d in sizes():
        if entry.accepts(n, f, d):
            x = updates(n, d)
            result = entry.rule(torch.from_numpy(x), f, generator())
            assert_close(result, entry.reference(x, f), x, 1e-9)
            tried += 1
    assert tried >= 50


@EVERY_RULE
def test_the_answer_is_the_reference_in_float32_up_to_rounding(entry):
    tried = 0
    for n, f, d in sizes():
        if entry.accepts(n, f, d) and n % 3 != 0:
            x = updates(n, d, seed=1).astype(np.float32)
            result = entry.rule(x, f, generator())
            assert result.dtype == np.float32
            assert_close(result, entry.reference(x.astype(np.float64), f), x, 1e-6)
            tried += 1
    assert tried >= 30


@EVERY_RULE
@pytest.mark.parametrize("d", BLOCK_EDGES)
def test_the_answer_is_the_reference_at_the_edges_of_the_kernels_blocks(entry, d):
    n = 7
    f = entry.rule.max_byzantine(n)
    x = updates(n, d)
    assert_close(entry.rule(torch.from_numpy(x), f, generator()), entry.reference(x, f), x, 1e-9)


@pytest.mark.parametrize("entry", PLAIN_RULES, ids=str)
def test_the_battery_passes_at_other_numbers_of_workers(entry):
    options = {"workers": (9,), **entry.options}
    if entry.most_workers > 11 and "workers" not in entry.options:
        options["workers"] = (9, 26)
    check_rule(entry.rule, **options)


@EVERY_RULE
def test_as_many_nan_workers_as_byzantine_ones_change_nothing(entry):
    n = 13
    f = entry.rule.max_byzantine(n)
    x = torch.from_numpy(updates(n, 20))
    broken = x.clone()
    broken[:f] = float("nan")
    torch.testing.assert_close(
        entry.rule(broken, f, generator()), entry.rule(x[f:], 0, generator()), rtol=0, atol=1e-9
    )


@EVERY_RULE
def test_the_outcome_names_the_workers_that_were_dropped(entry):
    x = torch.from_numpy(updates(13, 5))
    x[4, 2], x[9] = float("nan"), float("-inf")
    outcome = entry.rule.aggregate(x, 2, generator())
    assert outcome.dropped == (4, 9)
    assert torch.equal(outcome.update, entry.rule(x, 2, generator()))
    weights = entry.rule.weights(x, 2, generator())
    if weights is None:
        assert outcome.weights is None
    else:
        assert torch.equal(outcome.weights, weights)


@EVERY_RULE
def test_nothing_left_is_too_few_updates(entry):
    with pytest.raises(TooFewUpdates, match="8"):
        entry.rule(torch.full((8, 3), float("inf")), 1, generator())


@EVERY_RULE
def test_a_rule_is_a_frozen_value(entry):
    assert hash(entry.rule) == hash(entry.rule)
    assert entry.rule == type(entry.rule)(**entry.rule.__dict__)
    with pytest.raises(AttributeError):
        entry.rule.anything = 1
