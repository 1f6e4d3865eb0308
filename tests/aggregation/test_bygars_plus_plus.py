"""ByGARS++ against its recursion, and what its authors claim of it."""

import numpy as np
import pytest

from tests import memory_reference as reference
from tests.aggregation.memory_rules import NAMES, N, made, rounds
from wola.aggregation import ByGARSPlusPlus, MissingReference


def steps_with_changing_workers(count):
    """Rounds in which some workers are missing and the others come in another order."""
    steps = []
    for seed in range(count):
        x, own = made(seed)
        rng = np.random.default_rng(seed)
        present = rng.permutation(N)[: 5 + seed % 5]
        steps.append((x[present], own, [NAMES[i] for i in present]))
    return steps


@pytest.mark.parametrize("alpha", [0.0005, 0.3, 0.9])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("length", ["own", "server"])
def test_rounds_are_the_recursion(alpha, unit, length):
    plain = reference.ByGARSPlusPlus(alpha, unit=unit, length=length)
    steps = steps_with_changing_workers(6)
    rule = ByGARSPlusPlus(alpha=alpha, unit=unit, length=length)
    for (x, own, names), outcome in zip(steps, rounds(rule, steps, f=1), strict=True):
        expected = plain.round(names, x, own)
        np.testing.assert_allclose(outcome.update, expected, atol=1e-10)
        np.testing.assert_allclose(outcome.weights @ x, outcome.update, atol=1e-10)
        kept = {name: float(q) for name, q in outcome.memory.items()}
        assert kept == pytest.approx({name: plain.q[name] for name in kept}, rel=1e-10, abs=1e-14)
        assert kept.keys() == plain.q.keys()


def test_the_first_aggregate_is_zero():
    outcome = rounds(ByGARSPlusPlus(length="server"), [(*made(0), NAMES)])[0]
    assert not outcome.update.any()
    assert not outcome.weights.any()


def test_q_is_an_average_of_products_that_forgets():
    x, own = made(0)
    q = [o.memory["a"] for o in rounds(ByGARSPlusPlus(alpha=0.25), [(x, own, NAMES)] * 60)]
    expected = [(1 - 0.75 ** (t + 1)) * float(x[0] @ own) for t in range(60)]
    np.testing.assert_allclose([float(value) for value in q], expected, rtol=1e-10)


@pytest.mark.parametrize("attackers", range(1, N))
@pytest.mark.parametrize("unit", [False, True])
def test_any_number_of_attackers_that_turn_the_gradient_around_help_it_on(attackers, unit):
    x, own = made(0)
    x[: N - attackers] = own + 0.1 * x[: N - attackers]
    x[N - attackers :] = -7.0 * own
    last = rounds(ByGARSPlusPlus(alpha=0.05, unit=unit), [(x, own, NAMES)] * 3, f=attackers)[-1]
    assert (last.weights[N - attackers :] < 0).all()
    assert last.update @ own > 0


def test_the_aggregate_can_have_the_length_of_the_servers_own_update():
    steps = [(*made(seed), NAMES) for seed in range(4)]
    outcomes = rounds(ByGARSPlusPlus(length="server"), steps)
    for (_, own, _), outcome in list(zip(steps, outcomes, strict=True))[1:]:
        assert np.linalg.norm(outcome.update) == pytest.approx(np.linalg.norm(own))


def test_products_that_overflow_are_kept_as_large_numbers():
    x, own = made(0)
    outcome = rounds(ByGARSPlusPlus(alpha=0.5), [(1e300 * x, 1e300 * own, NAMES)] * 5)[-1]
    values = np.array([float(q) for q in outcome.memory.values()])
    assert np.isfinite(values).all()
    assert (np.abs(values) > 1e300).all()


def test_it_accepts_all_but_one_and_asks_for_its_reference():
    assert ByGARSPlusPlus().max_byzantine(9) == 8
    with pytest.raises(MissingReference, match="needs a reference of the server's own"):
        ByGARSPlusPlus()(made(0)[0], 3)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"alpha": 0}, "alpha = 0; allowed: a finite number > 0 and < 1"),
        ({"alpha": 1.0}, "alpha = 1.0"),
        ({"length": "long"}, "length = 'long'"),
    ],
)
def test_bad_parameters_are_named(fields, message):
    with pytest.raises(ValueError, match=message):
        ByGARSPlusPlus(**fields)
