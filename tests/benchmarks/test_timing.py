"""The interleaved measurement, on a clock that only moves when told."""

import pytest

from benchmarks.timing import affordable_rounds, interleaved, is_due, spread, timed


class Clock:
    """A clock that calls move by what they cost, and a diary of who was called."""

    def __init__(self):
        self.now = 0.0
        self.diary = []

    def __call__(self):
        return self.now

    def call(self, name, cost):
        def work():
            self.now += cost
            self.diary.append(name)
            return name

        return work


def test_the_spread_of_several_measurements_is_their_quartiles():
    found = spread([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (found.low, found.median, found.high) == (2.0, 3.0, 4.0)


def test_a_single_measurement_has_no_spread():
    found = spread([0.7])
    assert (found.low, found.median, found.high) == (0.7, 0.7, 0.7)


def test_a_call_is_timed_and_its_answer_kept():
    clock = Clock()
    assert timed(clock.call("a", 0.25), clock=clock) == (0.25, "a")


@pytest.mark.parametrize(("first", "rounds"), [(0.0, 9), (0.001, 9), (0.3, 3), (0.5, 2), (1.5, 0)])
def test_slow_calls_get_fewer_rounds(first, rounds):
    assert affordable_rounds(first, budget=1.0, most=9) == rounds


@pytest.mark.parametrize("rounds", range(8))
def test_turns_are_as_many_as_the_rounds(rounds):
    assert sum(is_due(turn, 7, rounds) for turn in range(7)) == min(rounds, 7)


def test_few_rounds_are_spread_over_all_turns():
    due = [turn for turn in range(9) if is_due(turn, 9, 3)]
    assert due == [2, 5, 8]


def test_calls_take_turns():
    clock = Clock()
    calls = {"a": clock.call("a", 1.0), "b": clock.call("b", 1.0)}
    interleaved(calls, {"a": 1.0, "b": 1.0}, budget=3.0, most=9, clock=clock)
    assert clock.diary == ["a", "b"] * 3


def test_what_runs_before_a_call_is_not_measured():
    clock = Clock()
    seconds = interleaved(
        {"a": clock.call("a", 2.0)},
        {"a": 2.0},
        budget=4.0,
        most=9,
        before=clock.call("before", 100.0),
        clock=clock,
    )
    assert seconds == {"a": [2.0, 2.0]}


def test_a_call_too_slow_for_the_budget_keeps_its_first_time():
    clock = Clock()
    calls = {"quick": clock.call("quick", 1.0), "slow": clock.call("slow", 50.0)}
    seconds = interleaved(calls, {"quick": 1.0, "slow": 51.0}, budget=2.0, most=9, clock=clock)
    assert seconds == {"quick": [1.0, 1.0], "slow": [51.0]}
    assert "slow" not in clock.diary


def test_no_affordable_call_at_all_leaves_the_first_times():
    seconds = interleaved({"a": lambda: None}, {"a": 7.0}, budget=1.0, most=9)
    assert seconds == {"a": [7.0]}
