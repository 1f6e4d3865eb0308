import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.attacks._line_search import OPENING, line_search


class Counted:
    def __init__(self, score):
        self.score = score
        self.points = []

    def __call__(self, point):
        self.points.append(point)
        return self.score(point)


def cliff(edge, after=0.0):
    """Grows with the distance from 0 up to the edge, and falls there."""
    return lambda u: abs(u) if 0 <= u / edge <= 1 else after


@settings(max_examples=80, deadline=None)
@given(st.floats(-40, 40), st.integers(1, 40), st.floats(-5, 5))
def test_the_budget_holds_and_no_point_is_paid_for_twice(peak, evaluations, start):
    score = Counted(lambda u: 100 / (1 + abs(u - peak)))
    best = line_search(score, evaluations, [start])
    assert len(score.points) == evaluations
    assert len(set(score.points)) == len(score.points)
    assert score.score(best) == pytest.approx(max(map(score.score, score.points)), rel=1e-9)
    assert score.points[0] == start


@settings(max_examples=80, deadline=None)
@given(st.floats(0.75, 6), st.sampled_from([1, -1]), st.floats(0, 1))
def test_an_edge_on_either_side_is_found_within_a_twentieth(edge, side, after):
    score = cliff(side * edge, after * edge / 4)
    assert score(line_search(score, 20, [0.3])) >= 0.95 * edge


@pytest.mark.parametrize("side", [1, -1])
def test_the_higher_one_of_two_edges_is_found(side):
    low, high = cliff(1.2 * side), cliff(-1.7 * side)
    best = line_search(lambda u: max(low(u), high(u)), 20, [0.3])
    assert 0.95 * 1.7 <= -side * best <= 1.7


def test_the_given_points_come_first_and_then_the_opening():
    score = Counted(cliff(1.2))
    line_search(score, 14, [0.25, 0.0])
    assert score.points[:12] == [0.25, 0.0, *OPENING]
    assert score.points[12] == pytest.approx(1.5**0.5)
    assert score.points[13] == pytest.approx((1.0 * 1.5**0.5) ** 0.5)


def test_one_evaluation_is_the_start():
    assert line_search(lambda u: abs(u - 1), 1, [0.25]) == 0.25


def test_growth_without_end_goes_to_the_last_point_of_the_opening():
    assert line_search(abs, 20, [0.0]) == max(OPENING)


def test_a_flat_score_keeps_the_start_up_to_rounding():
    assert line_search(lambda u: 1.0 + 1e-12 * u / max(OPENING), 30, [2.0]) == 2.0


def test_points_that_the_server_would_drop_are_left():
    score = Counted(lambda u: abs(u) if abs(u) <= 1.2 else -float("inf"))
    assert 1.14 <= abs(line_search(score, 20, [5.0])) <= 1.2
    assert line_search(lambda u: -float("inf"), 12, [5.0]) == 5.0
