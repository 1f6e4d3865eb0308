"""Fang's attack on trimmed mean and median."""

import numpy as np
import pytest
import torch

from tests.attacks.sample import generator, honest_updates
from wola.aggregation import TrimmedMean
from wola.attacks import FangTrim
from wola.testing import check_attack


def interval(column, b, knowledge):
    """The draws of one coordinate, from the definition."""
    mean, low, high = np.mean(column), min(column), max(column)
    std = np.sqrt(np.mean((column - mean) ** 2))
    if mean == 0:
        return 0.0, 0.0
    if knowledge == "partial":
        return (mean - 4 * std, mean - 3 * std) if mean > 0 else (mean + 3 * std, mean + 4 * std)
    if mean > 0:
        return (low / b, low) if low > 0 else (b * low, low)
    return (high, b * high) if high > 0 else (high, high / b)


@pytest.mark.parametrize("knowledge", ["full", "partial"])
@pytest.mark.parametrize("b", [1.5, 2.0])
def test_every_value_lies_in_the_interval_of_its_coordinate(knowledge, b):
    for shift in (0.0, 4.0, -4.0):
        honest = honest_updates(7, 40) + shift
        own = honest[:3] + 0.5
        attack = FangTrim(b=b, knowledge=knowledge)
        sent = attack(honest, 3, generator=generator(), own=own).numpy()
        end = FangTrim(b=b, sample=False, knowledge=knowledge)(honest, 3, own=own).numpy()
        assert len(np.unique(sent, axis=0)) == 3
        known = own if knowledge == "partial" else honest
        for j, column in enumerate(known.numpy().T):
            low, high = interval(column, b, knowledge)
            assert (sent[:, j] >= low - 1e-12).all()
            assert (sent[:, j] <= high + 1e-12).all()
            near = high if column.mean() > 0 else low
            np.testing.assert_allclose(end[:, j], near, rtol=1e-12, atol=1e-12)


def test_nothing_moves_the_trimmed_mean_farther_against_the_honest_mean():
    honest = honest_updates(4, 25, seed=3)
    sent = FangTrim(sample=False)(honest, 1)
    reached = TrimmedMean()(torch.cat([honest, sent]), 1)
    side = honest.mean(0).sign()
    for value in np.linspace(-20, 20, 801):
        other = torch.cat([honest, torch.full((1, 25), value, dtype=torch.float64)])
        assert (side * TrimmedMean()(other, 1) >= side * reached - 1e-12).all()


def test_a_coordinate_without_a_direction_is_left():
    honest = torch.tensor([[1.0, 2.0], [-1.0, 2.0]])
    sent = FangTrim()(honest, 1, generator=generator())
    assert sent[0, 0] == 0.0


def test_what_is_missing_or_wrong_is_named():
    with pytest.raises(ValueError, match="generator is None"):
        FangTrim()(honest_updates(3, 2), 1)
    with pytest.raises(ValueError, match="b = 1"):
        FangTrim(b=1.0)
    with pytest.raises(ValueError, match="knowledge"):
        FangTrim(knowledge="none")


def test_one_attacker_that_knows_itself_alone_sends_its_own_update_and_says_so():
    attack, honest, own = FangTrim(knowledge="partial"), honest_updates(4, 5), honest_updates(1, 5)
    assert torch.equal(attack(honest, 1, generator=generator(), own=own), own)
    assert "sends its own honest update" in attack.note(5, 1)
    assert attack.note(5, 2) is None
    assert FangTrim().note(5, 1) is None


@pytest.mark.parametrize("attack", [FangTrim(), FangTrim(sample=False, knowledge="partial")])
def test_the_battery_holds(attack):
    check_attack(attack)
