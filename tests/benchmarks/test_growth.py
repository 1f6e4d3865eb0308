"""The growth table, and the sizes and data behind it."""

import pytest

from benchmarks.growth import Curve, draw, growth_table, measure_curves, slope


def test_the_slope_of_a_power_is_its_exponent():
    sizes = [10, 20, 40, 80]
    assert slope(sizes, [3.0 * s**1.5 for s in sizes]) == pytest.approx(1.5)


def test_the_exponent_is_that_of_the_largest_sizes():
    flat_then_square = Curve("multi-krum", "n", [1, 10, 100, 1000], [1.0, 1.0, 100.0, 10_000.0])
    last = growth_table([flat_then_square]).splitlines()[-1]
    assert last == "| multi-krum | n | 1 | 1,000 | 1,000 to 10,000,000 | 2.00 |"


def test_curves_are_measured_and_drawn(tmp_path):
    shapes = [(9, 100), (9, 200), (9, 400)]
    curves = [
        *measure_curves("d", shapes, budget=0.01, rounds=2, warm_columns=0),
        *measure_curves("n", [(8, 50), (16, 50)], budget=0.01, rounds=2, warm_columns=0),
    ]
    assert {curve.work for curve in curves} >= {"trimmed-mean", "nnm+trimmed-mean", "read pass"}
    assert all(seconds > 0 for curve in curves for seconds in curve.seconds)
    draw(curves, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").read_bytes().startswith(b"\x89PNG")
