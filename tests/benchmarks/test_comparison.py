"""How one work is compared: agreement first, skips with a reason, times of all that ran."""

import pytest
import torch

from benchmarks.comparison import Limits, measure
from benchmarks.tables import PRODUCT, READ, WOLA
from benchmarks.works import (
    BYZFL,
    BYZPY,
    Work,
    byzantine_count,
    distance_reached,
    graded_updates,
    relative_difference,
    skewed_updates,
)
from wola.aggregation import TrimmedMean
from wola.aggregation.krum import krum_scores

LIMITS = Limits(budget=0.01, rounds=3, longest=60.0, memory=10**9)
UPDATES = skewed_updates(17, 6, 40_000)


def mean(updates):
    return updates.mean(dim=0)


def lower_median(updates):
    return updates.median(dim=0).values


def test_agreeing_answers_are_timed_beside_the_references():
    cell = measure(Work("mean", mean, {BYZFL: mean}), UPDATES, 6, LIMITS)
    assert cell.agrees()
    assert set(cell.seconds) == {WOLA, READ, PRODUCT, BYZFL}
    assert (cell.n, cell.f, cell.d) == (17, 6, 40_000)


def test_a_wrong_answer_is_recorded_and_still_timed():
    wrong = Work("mean", mean, {BYZFL: lambda updates: 2 * mean(updates)})
    cell = measure(wrong, UPDATES, 6, LIMITS)
    assert cell.differences[BYZFL] == pytest.approx(0.5)
    assert not cell.agrees()
    assert BYZFL in cell.seconds


def test_an_attack_sees_the_honest_updates_alone():
    seen = set()

    def attack(honest):
        seen.add(len(honest))
        return mean(honest)

    measure(Work("attack", attack, {BYZFL: attack}, is_attack=True), UPDATES, 6, LIMITS)
    assert seen == {11}


def test_a_peer_that_needs_too_much_memory_is_not_called():
    def exploding(updates):
        raise AssertionError("called")

    work = Work("nnm+mean", mean, {BYZFL: exploding}, has_nnm=True)
    cell = measure(work, UPDATES, 6, Limits(0.01, 3, 60.0, memory=10**7))
    assert "its NNM holds" in cell.skipped[BYZFL]
    assert BYZFL not in cell.seconds


def test_a_peer_that_would_take_too_long_is_left_out_with_a_reason():
    cell = measure(Work("mean", mean, {BYZFL: mean}), UPDATES, 6, Limits(0.01, 3, 0.0, 10**9))
    assert "one call would take about" in cell.skipped[BYZFL]


def test_the_lower_median_is_compared_on_an_odd_number_of_updates():
    even = UPDATES[:16]
    work = Work("median", lower_median, {BYZPY: lower_median}, has_median=True)
    assert work.common_ground(BYZPY, even).shape == (15, 20_000)
    assert work.common_ground(BYZFL, even) is even
    assert work.common_ground(BYZPY, UPDATES) is UPDATES


@pytest.mark.parametrize("n", [17, 50, 100])
def test_both_definitions_of_krum_rank_graded_updates_alike(n):
    f = byzantine_count(n)
    distances = torch.cdist(*[graded_updates(n, 20_000).double()] * 2).square().numpy()
    exact = torch.zeros(n, n).double().numpy()
    ours, theirs = (krum_scores(distances, exact, n - f - less)[0] for less in (2, 1))
    assert set(ours.argsort()[: n - f]) == set(theirs.argsort()[: n - f])
    assert ours.argmin() == theirs.argmin()


def test_the_difference_is_relative_to_the_length_of_the_other_answer():
    ours, theirs = torch.tensor([3.0, 5.0]), torch.tensor([3.0, 4.0])
    assert relative_difference(ours, theirs, UPDATES) == pytest.approx(0.2)


def test_the_distance_reached_is_that_of_the_aggregate_from_the_honest_mean():
    honest = torch.tensor([[0.0], [1.0], [2.0]])
    reached = distance_reached(torch.tensor([50.0]), honest, TrimmedMean(), f=1)
    assert reached == pytest.approx(0.5)
