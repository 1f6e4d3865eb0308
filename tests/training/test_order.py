"""The order in which the server sees the workers."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.training import plain
from wola.aggregation import CoordinateMedian, Krum, Outcome
from wola.training import Round, Scenario, assemble, simulate
from wola.training.order import in_rows, shuffled, worker_places

FIRST = "tests.training.first_row:FirstRow"
FEW = Scenario(workers=5, byzantine=2, aggregator=FIRST, batch=16)


def listened_to(scenario, steps):
    """The worker that came first in each round."""
    training = Round(scenario, assemble(scenario))
    return [training.take(step).weights.index(1.0) for step in range(1, steps + 1)]


def test_the_order_is_drawn_from_a_stream_of_its_own():
    for step in range(1, 5):
        expected = torch.randperm(17, generator=plain.generator(3, "order", step))
        assert torch.equal(shuffled(17, seed=3, step=step), expected)


@settings(deadline=None)
@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 100))
def test_everyone_has_one_place_in_every_order(honest, byzantine, step):
    for order in ("shuffled", "byzantine-first", "byzantine-last"):
        rows = worker_places(order, honest=honest, byzantine=byzantine, seed=1, step=step)
        assert rows.sort().values.tolist() == list(range(honest + byzantine))


def test_the_fixed_orders_keep_the_workers_of_a_kind_together():
    given_counts = {"honest": 3, "byzantine": 2, "seed": 1, "step": 1}
    assert worker_places("byzantine-first", **given_counts).tolist() == [3, 4, 0, 1, 2]
    assert worker_places("byzantine-last", **given_counts).tolist() == [0, 1, 2, 3, 4]


def test_a_rule_that_favours_the_first_favours_nobody():
    first = Counter(listened_to(FEW, 100))
    assert set(first) == set(range(5))
    assert max(first.values()) < 40
    assert set(listened_to(FEW.changed(order="byzantine-first"), 5)) == {3}
    assert set(listened_to(FEW.changed(order="byzantine-last"), 5)) == {0}


def test_the_update_is_that_of_the_worker_with_the_weight():
    training = Round(FEW, assemble(FEW))
    for step in (1, 2, 3):
        before = training.model.parameters.clone()
        record = training.take(step)
        sent = training.momenta[record.weights.index(1.0)]
        torch.testing.assert_close(before - record.lr * sent, training.model.parameters)


def test_the_order_is_drawn_over_those_who_take_part():
    scenario = FEW.changed(workers=9, byzantine=2, participants=4)
    training = Round(scenario, assemble(scenario))
    for step in range(1, 20):
        present = training.participants(step)[0]
        expected = present[int(shuffled(4, seed=1, step=step)[0])]
        assert training.take(step).weights.index(1.0) == expected


def test_the_names_of_the_dropped_do_not_depend_on_the_order():
    scenario = Scenario(workers=7, byzantine=3, attack="nan", batch=16)
    training = Round(scenario, assemble(scenario))
    assert training.take(1).dropped == ("byzantine-4", "byzantine-5", "byzantine-6")


def test_the_median_of_the_statistics_sees_the_same_order(monkeypatch):
    scenario = Scenario(
        model="tests.models.factories:normalised_convnet", attack="none", workers=5, byzantine=2
    )
    training = Round(scenario, assemble(scenario))
    blocks, seen = torch.arange(5.0)[:, None].repeat(1, 6), []

    def call(rule, updates, f, generator=None):
        seen.append(updates[:, 0].tolist())
        return updates[0]

    monkeypatch.setattr(CoordinateMedian, "__call__", call)
    for step in (1, 2):
        training.share_statistics(blocks, 3, 5, step)
    assert seen == [shuffled(5, seed=1, step=step).tolist() for step in (1, 2)]


@settings(deadline=None)
@given(st.permutations(range(6)), st.sets(st.integers(0, 5), max_size=5))
def test_an_outcome_is_told_of_the_rows_as_they_are(order, broken):
    rows = torch.randn(6, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    rows[sorted(broken)] = float("nan")
    places_of_rows = torch.tensor(order)
    seen = rows[places_of_rows]
    fine = [k for k, row in enumerate(order) if row not in broken]
    weights = torch.zeros(6, dtype=torch.float64)
    weights[fine] = seen[fine, 0].abs()
    told = in_rows(
        Outcome(None, weights, tuple(k for k in range(6) if k not in fine)), places_of_rows
    )
    assert told.dropped == tuple(sorted(broken))
    assert torch.equal(told.weights, rows[:, 0].abs().nan_to_num())


def test_without_ties_the_order_changes_nothing_but_rounding():
    scenario = Scenario(steps=3, attack="none", aggregator="krum", batch=16)
    runs = [
        simulate(scenario.changed(order=order)).steps
        for order in ("shuffled", "byzantine-first", "byzantine-last")
    ]
    assert runs[0][0].weights == runs[1][0].weights == runs[2][0].weights
    assert isinstance(scenario.rule(), Krum)


def test_an_order_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"^order = 'first'; .*byzantine-first"):
        Scenario(order="first")
