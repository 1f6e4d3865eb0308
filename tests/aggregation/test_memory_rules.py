"""What all rules that remember have in common: names, rounds, scales, broken workers."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.aggregation.memory_rules import (
    NAMES,
    PER_WORKER,
    RULES,
    D,
    F,
    N,
    made,
    remembered,
    rounds,
    same,
    view,
)
from wola.aggregation import (
    ByGARSPlusPlus,
    CenteredClipping,
    FoolsGold,
    SoftSetHull,
)
from wola.mixing import NNM, Bucketing, FoundationFL
from wola.testing import check_rule

EVERY_RULE = pytest.mark.parametrize("rule", RULES, ids=str)
EVERY_RULE_OF_WORKERS = pytest.mark.parametrize("rule", PER_WORKER, ids=str)


def close(first, second, scale=1.0):
    assert dict(first).keys() == dict(second).keys()
    for name, value in first.items():
        torch.testing.assert_close(value, second[name], rtol=1e-9, atol=1e-9 * scale)


@EVERY_RULE
def test_the_order_of_the_workers_decides_nothing_as_their_names_travel_with_them(rule):
    rng = np.random.default_rng(1)
    plain = [(*made(seed), NAMES) for seed in range(4)]
    shuffled = []
    for x, own, names in plain:
        order = rng.permutation(N)
        shuffled.append((x[order], own, [names[i] for i in order]))
    for one, other in zip(rounds(rule, plain), rounds(rule, shuffled), strict=True):
        np.testing.assert_allclose(other.update, one.update, atol=1e-10)
        close(one.memory, other.memory)


@EVERY_RULE
def test_two_calls_leave_the_memory_alone_and_share_no_tensor_with_it(rule):
    memory = remembered(rule)
    before = {name: value.clone() for name, value in memory.items()}
    x, own = made(9)
    bound = rule.at(view(own, NAMES, memory))
    first, second = (bound.aggregate(torch.from_numpy(x), F) for _ in range(2))
    assert torch.equal(first.update, second.update)
    assert same(first.memory, second.memory)
    assert same(memory, before)
    first.update.fill_(7.0)
    x[:] = 7.0
    assert same(first.memory, second.memory)
    old = {value.data_ptr() for value in memory.values()}
    assert not old & {value.data_ptr() for value in first.memory.values()}


@EVERY_RULE_OF_WORKERS
def test_a_worker_that_is_dropped_or_absent_keeps_what_it_had(rule):
    memory = remembered(rule)
    x, own = made(5)
    x[2, 4], x[7, 0] = np.nan, np.inf
    outcome = rule.at(view(own, NAMES, memory)).aggregate(x, F)
    rest = [i for i in range(N) if i not in (2, 7)]
    names = [NAMES[i] for i in rest]
    absent = rule.at(view(own, names, memory)).aggregate(x[rest], F - 2)
    assert outcome.dropped == (2, 7)
    np.testing.assert_allclose(outcome.update, absent.update, atol=1e-12)
    close(outcome.memory, absent.memory)
    for name in "ch":
        assert torch.equal(outcome.memory[name], memory[name])
    assert all(not torch.equal(outcome.memory[name], memory[name]) for name in names)


@EVERY_RULE_OF_WORKERS
def test_a_worker_that_nobody_knows_starts_where_all_started(rule):
    x, own = made(5)
    memory = remembered(rule)
    known = [name for name in NAMES if name != "d"]
    without = {name: memory[name] for name in known}
    outcome = rule.at(view(own, NAMES, without)).aggregate(x, F)
    alone = rule.at(view(own, ["d"])).aggregate(x[3:4], 0)
    torch.testing.assert_close(outcome.memory["d"], alone.memory["d"], rtol=1e-12, atol=1e-12)
    others = rule.at(view(own, NAMES, memory)).aggregate(x, F)
    for name in known:
        torch.testing.assert_close(outcome.memory[name], others.memory[name])


@EVERY_RULE
def test_a_broken_round_of_everyone_is_refused_and_nothing_is_kept(rule):
    with pytest.raises(ValueError, match="all 9 updates are non-finite"):
        rule.at(view(made(0)[1], NAMES, remembered(rule))).aggregate(np.full((N, D), np.nan), F)


@EVERY_RULE
def test_column_blocks_and_the_whole_matrix_agree(rule):
    x, own = made(6)
    bound = rule.at(view(own, NAMES, remembered(rule)))
    blocks = [np.ascontiguousarray(part) for part in np.split(x, [1, 5], axis=1)]
    np.testing.assert_allclose(bound.blocks(blocks, F), bound(x, F), atol=1e-12)


@EVERY_RULE
def test_mixings_act_on_the_workers_and_keep_their_names(rule):
    x, own = made(6)
    memory = remembered(rule)
    mixed = NNM()(x, F)
    chain = (NNM() | rule).at(view(own, NAMES, memory)).aggregate(x, F)
    plain = rule.at(view(own, NAMES, memory)).aggregate(mixed, F)
    np.testing.assert_allclose(chain.update, plain.update, atol=1e-10)
    close(chain.memory, plain.memory)


@EVERY_RULE_OF_WORKERS
@pytest.mark.parametrize("mixing", [Bucketing(), Bucketing(size=2), FoundationFL()], ids=str)
def test_mixtures_that_are_nobodys_are_refused(rule, mixing):
    with pytest.raises(ValueError, match=r"keeps a memory of each worker, and .* are nobody's"):
        (mixing | rule).check(17, 6)
    (Bucketing(size=1) | rule).check(17, 6)
    (mixing | CenteredClipping(history=True)).check(17, 2)


def test_mixtures_are_nobodys_also_where_there_are_as_many_as_workers_again():
    chain = Bucketing(size=2) | FoundationFL() | FoolsGold()
    assert FoundationFL().count(Bucketing(size=2).count(3, 0), 0) == 3
    with pytest.raises(ValueError, match="2 mixtures of 3 workers are nobody's"):
        chain.check(3, 0)


@EVERY_RULE
def test_float32_gives_what_float64_gives_up_to_rounding(rule):
    steps = [(*made(seed), NAMES) for seed in range(4)]
    single = [(x.astype(np.float32), own.astype(np.float32), names) for x, own, names in steps]
    for one, other in zip(rounds(rule, steps), rounds(rule, single), strict=True):
        assert other.update.dtype == np.float32
        np.testing.assert_allclose(other.update, one.update, atol=2e-4)


# q has the unit of a squared length unless the rows are scaled; tau has the unit of a length.
SCALED = [
    FoolsGold(),
    ByGARSPlusPlus(alpha=0.2, unit=True, length="server"),
    SoftSetHull(),
    ByGARSPlusPlus(alpha=0.2, length="server"),
]


@pytest.mark.parametrize("rule", SCALED, ids=str)
@pytest.mark.parametrize("factor", [1e-140, 1e-60, 1e60, 1e140])
def test_updates_and_reference_may_have_any_scale(rule, factor):
    steps = [(*made(seed), NAMES) for seed in range(3)]
    scaled = [(x * factor, own * factor, names) for x, own, names in steps]
    for one, other in zip(rounds(rule, steps), rounds(rule, scaled), strict=True):
        np.testing.assert_allclose(other.update / factor, one.update, atol=1e-9)


@pytest.mark.parametrize("rule", SCALED[:3], ids=str)
@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_updates_at_the_ends_of_float64_are_ordinary(rule, factor):
    steps = [(*made(seed), NAMES) for seed in range(3)]
    scaled = [(x * factor, own * factor, names) for x, own, names in steps]
    for one, other in zip(rounds(rule, steps), rounds(rule, scaled), strict=True):
        np.testing.assert_allclose(other.update / factor, one.update, atol=1e-9)


@EVERY_RULE
@pytest.mark.parametrize("largest", [1e37, 1e38, 3e38])
def test_float32_updates_near_the_largest_number_stay_finite_round_after_round(rule, largest):
    signs = np.sign(made(0)[0]).astype(np.float32)
    x = (largest / np.sqrt(D) * signs).astype(np.float32)
    own = made(0)[1].astype(np.float32)
    outcomes = rounds(rule, [(x, own, NAMES)] * 4)
    assert not any(outcome.dropped for outcome in outcomes)
    for outcome in outcomes:
        assert all(bool(value.isfinite().all()) for value in outcome.memory.values())
    if not isinstance(rule, ByGARSPlusPlus) or rule.length == "server":
        assert all(np.isfinite(outcome.update).all() for outcome in outcomes)


@EVERY_RULE
def test_a_liar_that_sent_huge_updates_cannot_stop_the_rounds_that_follow(rule):
    huge = made(0)[0]
    huge[8] = 1e119
    calm = made(1)[0] * 1e-3
    steps = [(huge, made(0)[1], NAMES), (calm, made(1)[1], NAMES), (calm, made(2)[1], NAMES)]
    outcomes = rounds(rule, steps)
    assert [outcome.dropped for outcome in outcomes] == [(), (), ()]


@EVERY_RULE
@given(seed=st.integers(0, 10_000), zeros=st.sets(st.integers(0, N - 1)), twins=st.booleans())
def test_zeros_and_twins_give_finite_aggregates_in_any_order(rule, seed, zeros, twins):
    x, own = made(seed)
    x[list(zeros)] = 0.0
    if twins:
        x[4:] = x[4]
    order = np.random.default_rng(seed).permutation(N)
    names = [NAMES[i] for i in order]
    for one, other in zip(
        rounds(rule, [(x, own, NAMES)] * 2),
        rounds(rule, [(x[order], own, names)] * 2),
        strict=True,
    ):
        assert np.isfinite(one.update).all()
        np.testing.assert_allclose(other.update, one.update, atol=1e-8)


@pytest.mark.parametrize("rule", [FoolsGold(), SoftSetHull()], ids=str)
def test_the_battery_holds_where_nothing_is_kept_yet(rule):
    check_rule(rule, translation=False, average=False, agreement=False)


def test_what_is_kept_can_be_pickled():
    outcome = rounds(FoolsGold(), [(*made(0), NAMES)])[0]
    again = pickle.loads(pickle.dumps(outcome))
    assert again.memory == outcome.memory
