"""SoftSetHull against its definition, in one round and in many, and what it withstands."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.aggregation.memory_rules import NAMES, made, remembered, rounds, view
from tests.aggregation.test_bygars_plus_plus import steps_with_changing_workers
from tests.rules import updates
from tests.soft_set_hull_reference import SoftSetHull as Reference
from wola.aggregation import GeometricMedian, MultiKrum, SoftSetHull, View
from wola.aggregation.soft_set_hull import pair_name, sets_by_absence
from wola.mixing import NNM, AngleNNM, Bucketing, FoundationFL
from wola.testing import check_rule

#: How far the solver of the reference is off.
SOLVED = 2e-6


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def skewed(n, f, seed, d=300):
    """Honest updates with cosines near 0.3, and f rows of zeros for the liars to fill."""
    rng = np.random.default_rng([5, seed])
    honest = np.sqrt(0.3) * rng.normal(size=d) + np.sqrt(0.7) * rng.normal(size=(n - f, d))
    return np.concatenate([honest * rng.uniform(0.5, 2.0, size=(n - f, 1)), np.zeros((f, d))])


@pytest.mark.parametrize("n", range(1, 8))
def test_the_first_round_is_the_definition(n):
    for f in range((n - 1) // 2 + 1):
        for d in (1, 2, 12):
            for seed in range(3):
                x = updates(n, d, seed=seed, spread=1.5)
                expected = Reference().round(range(n), x, f)
                np.testing.assert_allclose(SoftSetHull()(x, f), expected, atol=SOLVED * n)


@pytest.mark.parametrize(
    "fields",
    [
        {"price": 0.0},
        {"price": 0.3, "least": 0.0},
        {"cap": 1.0, "least": 0.5},
        {"cap": 0.0, "length": 0.0},
        {"length": 1.0},
    ],
    ids=str,
)
def test_its_numbers_are_those_of_the_definition(fields):
    for n, f in ((5, 2), (6, 2), (7, 3)):
        for seed in range(3):
            x = updates(n, 9, seed=seed)
            expected = Reference(**fields).round(range(n), x, f)
            np.testing.assert_allclose(SoftSetHull(**fields)(x, f), expected, atol=SOLVED * n)


@pytest.mark.parametrize("pace", [0.03, 0.4, 1.0])
def test_rounds_with_changing_workers_are_the_definition(pace):
    plain, rule = Reference(pace=pace), SoftSetHull(pace=pace)
    steps = steps_with_changing_workers(8)
    for (x, _, names), outcome in zip(steps, rounds(rule, steps, f=2), strict=True):
        np.testing.assert_allclose(outcome.update, plain.round(names, x, 2), atol=5e-5)
        np.testing.assert_allclose(outcome.weights @ x, outcome.update, atol=1e-10)
        kept = {pair_name(min(pair), max(pair)): values for pair, values in plain.pairs.items()}
        assert outcome.memory.keys() == kept.keys()
        for name, values in kept.items():
            np.testing.assert_allclose(outcome.memory[name], values, atol=1e-12)


def test_the_first_round_with_names_is_that_without_a_memory():
    x = updates(9, 12)
    named = SoftSetHull().at(View(workers=NAMES)).aggregate(x, 4)
    assert named.update.tolist() == SoftSetHull()(x, 4).tolist()


def test_a_pace_of_one_forgets():
    rule = SoftSetHull(pace=1.0)
    *_, last = rounds(rule, [(*made(seed), NAMES) for seed in range(3)])
    np.testing.assert_allclose(last.update, rule(made(2)[0], 3), atol=1e-12)


def test_an_average_is_plain_first_and_then_forgets_at_the_pace():
    rule, memory, cosines = SoftSetHull(pace=0.25), {}, []
    for angle in np.linspace(0.2, 1.4, 9):
        x = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)], [0.0, 1.0]])
        memory = rule.at(View(workers="abc", memory=memory)).aggregate(x, 1).memory
        cosines.append(np.cos(angle))
        count, plain, capped = memory["'a' & 'b'"].tolist()
        assert count == len(cosines)
        if count <= 4:
            assert plain == pytest.approx(np.mean(cosines))
            assert capped == pytest.approx(np.mean(np.minimum(cosines, 0.5)))
    expected = np.mean(cosines[:4])
    for cosine in cosines[4:]:
        expected += 0.25 * (cosine - expected)
    assert plain == pytest.approx(expected)


def test_a_pair_that_never_met_starts_at_its_cosine_of_now():
    rule, x = SoftSetHull(), updates(4, 6)
    memory = rule.at(View(workers=["a", "b", "c"])).aggregate(x[:3], 1).memory
    memory = rule.at(View(workers=["c", "d"], memory=memory)).aggregate(x[2:], 0).memory
    assert pair_name("a", "d") not in memory
    y = updates(4, 6, seed=1)
    memory = rule.at(View(workers=["a", "b", "c", "d"], memory=memory)).aggregate(y, 1).memory
    count, plain, _ = memory[pair_name("a", "d")].tolist()
    assert (count, plain) == (1.0, pytest.approx(float(unit(y)[0] @ unit(y)[3])))
    count, plain, _ = memory[pair_name("a", "b")].tolist()
    both = [float(unit(z)[0] @ unit(z)[1]) for z in (x, y)]
    assert (count, plain) == (2.0, pytest.approx(np.mean(both)))


def test_pairs_with_one_that_is_dropped_or_absent_stay_as_they_were():
    rule = SoftSetHull()
    memory = remembered(rule)
    x, own = made(5)
    x[2, 4] = np.nan
    outcome = rule.at(view(own, NAMES, memory)).aggregate(x, 3)
    rest = [name for name in NAMES if name != "c"]
    absent = rule.at(view(own, rest, memory)).aggregate(np.delete(x, 2, axis=0), 2)
    np.testing.assert_allclose(outcome.update, absent.update, atol=1e-12)
    for one, other in combinations(NAMES, 2):
        name = pair_name(one, other)
        torch.testing.assert_close(outcome.memory[name], absent.memory[name])
        assert torch.equal(outcome.memory[name], memory[name]) == ("c" in (one, other))


def test_a_number_and_its_text_are_two_workers():
    names = {pair_name(*pair) for pair in combinations([1, "1", 2, "2", "1' & '2", "1 & 2"], 2)}
    assert len(names) == 15


@pytest.mark.parametrize("mixing", [Bucketing(), FoundationFL()], ids=str)
def test_mixtures_that_are_nobodys_are_refused(mixing):
    with pytest.raises(ValueError, match=r"keeps a memory of each worker, and .* are nobody's"):
        (mixing | SoftSetHull()).check(17, 6)
    (NNM() | SoftSetHull()).check(17, 8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_updates_come_back_to_the_last_bit(dtype):
    row = np.random.default_rng(1).normal(size=50).astype(dtype)
    for n, f in ((1, 0), (5, 2), (9, 3)):
        assert SoftSetHull()(np.tile(row, (n, 1)), f).tolist() == row.tolist()


def test_updates_of_one_direction_give_it_at_the_median_length():
    row = unit(np.random.default_rng(1).normal(size=50))
    lengths = np.array([[1.0], [4.0], [2.0], [1e9], [3.0]])
    np.testing.assert_allclose(SoftSetHull()(lengths * row, 2), 3.0 * row, atol=1e-9)


def test_without_liars_it_is_the_mean_direction_at_the_length_asked_for():
    x = updates(6, 40)
    a = unit(x).mean(axis=0)
    middle, reach = np.median(np.linalg.norm(x, axis=1)), np.linalg.norm(a)
    assert reach < 0.9
    np.testing.assert_allclose(SoftSetHull(length=0.0)(x, 0), middle * a, atol=1e-9)
    stretched = middle * a * np.sqrt(0.9 / reach)
    np.testing.assert_allclose(SoftSetHull(length=0.9)(x, 0), stretched, atol=1e-9)


def test_what_has_no_direction_counts_as_zero():
    x = updates(7, 12)
    x[2] = 0.0
    expected = Reference().round(range(7), x, 3)
    np.testing.assert_allclose(SoftSetHull()(x, 3), expected, atol=1e-5)
    x[2] = 1e-40
    np.testing.assert_allclose(SoftSetHull()(x, 3), expected, atol=1e-5)
    assert SoftSetHull().weights(x, 3)[2] == 0.0
    assert not SoftSetHull()(np.zeros((5, 3)), 2).any()


def test_updates_that_cancel_give_something_finite():
    assert np.isfinite(SoftSetHull()(np.array([[1.0], [-1.0], [1.0], [-1.0]]), 1)).all()
    assert not SoftSetHull()(np.array([[1.0], [-1.0]]), 0).any()


VALUES = st.integers(-2, 2)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(data=st.data())
def test_tied_workers_share_whatever_their_order_and_nothing_is_longer_than_the_median(data):
    n, d = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 4))
    x = data.draw(arrays(np.int64, (n, d), elements=VALUES)).astype(np.float64)
    f = data.draw(st.integers(0, (n - 1) // 2))
    order = np.array(data.draw(st.permutations(range(n))))
    result, weights = SoftSetHull()(x, f), SoftSetHull().weights(x, f)
    np.testing.assert_allclose(SoftSetHull()(x[order], f), result, atol=1e-9)
    np.testing.assert_allclose(SoftSetHull().weights(x[order], f), weights[order], atol=1e-7)
    for i, j in combinations(range(n), 2):
        if (x[i] == x[j]).all():
            assert weights[i] == pytest.approx(weights[j], abs=1e-7)
    middle = np.median(np.linalg.norm(x, axis=1))
    assert np.linalg.norm(result) <= middle * (1 + 1e-9)


LIES = {
    "the mean turned round": lambda mean, rng: -mean,
    "a short lie the wrong way": lambda mean, rng: -0.01 * mean,
    "a long lie elsewhere": lambda mean, rng: 1e6 * rng.normal(size=mean.shape),
    "zeros": lambda mean, rng: 0 * mean,
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("f", [2, 5, 8])
def test_copies_of_a_lie_leave_the_direction_of_the_honest_mean(lie, f):
    for seed in range(3):
        x = skewed(17, f, seed)
        mean = unit(x[: 17 - f]).mean(axis=0)
        x[17 - f :] = LIES[lie](x[: 17 - f].mean(axis=0), np.random.default_rng(seed))
        assert unit(SoftSetHull()(x, f)) @ unit(mean) > 0.95


def mirrored(n, f, seed):
    """f equal honest updates, n - 2f others, f mirror images of the first; the line of others."""
    rng = np.random.default_rng([7, seed])
    first, others = rng.normal(size=(2, 40))
    image = 2 * (first @ others) / (others @ others) * others - first
    return np.array([first] * f + [others] * (n - 2 * f) + [image] * f), unit(others)


@pytest.mark.parametrize(
    "rule",
    [SoftSetHull(), GeometricMedian(), NNM() | MultiKrum(), AngleNNM() | GeometricMedian()],
    ids=str,
)
@pytest.mark.parametrize(("n", "f"), [(5, 2), (17, 8), (17, 6)])
def test_liars_who_mirror_f_honest_workers_hold_a_rule_to_the_line_of_the_others(rule, n, f):
    memory = {}
    for seed in range(3):
        x, line = mirrored(n, f, seed)
        outcome = rule.at(View(workers=range(n), memory=memory)).aggregate(torch.from_numpy(x), f)
        memory = outcome.memory
        update = outcome.update.numpy()
        assert np.linalg.norm(update - (update @ line) * line) < 1e-6 * np.linalg.norm(x[0])
        # The honest mean is turned away from that line, by far at n = 2f + 1.
        honest = x[: n - f].mean(0)
        assert np.linalg.norm(honest - (honest @ line) * line) > 0.3 * np.linalg.norm(honest)


def test_a_history_of_agreement_outlives_a_round_of_chance():
    rng = np.random.default_rng(3)
    common = rng.normal(size=60)
    steps = []
    for _ in range(20):
        honest = common + 2.0 * rng.normal(size=(5, 60))
        steps.append((np.concatenate([honest, rng.normal(size=(4, 60))]), common, NAMES))
    remembering = rounds(SoftSetHull(), steps, f=4)[-1].weights
    forgetful = SoftSetHull().weights(steps[-1][0], 4)
    assert remembering[5:].sum() < 0.5 * forgetful[5:].sum()


def test_the_seventeen_workers_of_the_paper_are_searched_and_forty_are_refused_with_a_count():
    SoftSetHull().check(17, 8)
    assert len(sets_by_absence(17, 8)) == 24_310
    text = r"n = 40 and f = 19 would search 131,282,408,400 subsets, more than 1,000,000; allowed"
    with pytest.raises(ValueError, match=text):
        SoftSetHull()(np.zeros((40, 2)), 19)


def test_the_battery_holds_after_a_mixing_too():
    options = {"translation": False, "average": False, "agreement": False}
    check_rule(NNM() | SoftSetHull(), workers=(8,), **options)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"pace": 0}, "pace = 0; allowed: .* > 0 and <= 1"),
        ({"cap": 1.5}, "cap = 1.5; allowed: .* >= 0 and <= 1"),
        ({"least": -0.1}, "least = -0.1; allowed: .* >= 0 and <= 1"),
        ({"price": -1}, "price = -1; allowed: .* >= 0"),
        ({"length": 2}, "length = 2; allowed: .* >= 0 and <= 1"),
    ],
)
def test_bad_numbers_are_named(fields, message):
    with pytest.raises(ValueError, match=message):
        SoftSetHull(**fields)
