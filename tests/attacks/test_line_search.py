import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.attacks._line_search import line_search


class Counted:
    def __init__(self, score):
        self.score = score
        self.points = []

    def __call__(self, point):
        self.points.append(point)
        return self.score(point)


@settings(max_examples=80, deadline=None)
@given(st.floats(-40, 40), st.integers(1, 40), st.floats(-5, 5), st.floats(0.1, 3))
def test_the_budget_holds_and_no_point_is_paid_for_twice(peak, evaluations, start, step):
    score = Counted(lambda z: -abs(z - peak))
    best = line_search(score, evaluations, start, step, 0.5)
    assert len(score.points) <= evaluations
    assert len(set(score.points)) == len(score.points)
    assert score.score(best) == max(map(score.score, score.points))
    assert score.points[0] == start


@settings(max_examples=60, deadline=None)
@given(st.floats(-40, 40), st.floats(-5, 5), st.floats(0.1, 3))
def test_a_single_peak_is_found_on_either_side(peak, start, step):
    best = line_search(lambda z: -((z - peak) ** 2), 60, start, step, 0.5)
    assert best == pytest.approx(peak, abs=1e-3)


def test_all_evaluations_are_spent():
    score = Counted(lambda z: -((z - 3.3) ** 2))
    line_search(score, 20, 0.0, 1.0, 0.5)
    assert len(score.points) == 20


def test_the_expansion_doubles_and_the_contraction_looks_at_both_sides():
    score = Counted(lambda z: -((z - 3.3) ** 2))
    line_search(score, 8, 0.0, 1.0, 0.5)
    assert score.points == [0.0, 1.0, 3.0, 7.0, -1.0 + 6.0, 4.0, 2.0, 3.5]


def test_a_peak_to_the_left_is_expanded_to():
    score = Counted(lambda z: -((z + 9.0) ** 2))
    line_search(score, 6, 0.0, 1.0, 0.5)
    assert score.points == [0.0, 1.0, -1.0, -3.0, -7.0, -15.0]


def test_one_evaluation_is_the_start():
    assert line_search(lambda z: -abs(z - 1), 1, 0.25, 1.0, 0.5) == 0.25


def test_growth_without_end_stops_with_the_budget():
    assert line_search(lambda z: z, 5, 0.0, 1.0, 0.5) == 15.0


def test_a_flat_score_keeps_the_start_and_ends():
    score = Counted(lambda z: 0.0)
    assert line_search(score, 30, 2.0, 1.0, 0.5) == 2.0
    assert len(score.points) == 30


def test_a_step_that_no_longer_moves_the_point_ends_the_search():
    score = Counted(lambda z: -abs(z - 1.0))
    assert line_search(score, 10_000, 1.0, 1.0, 0.5) == 1.0
    assert len(score.points) < 200
