"""Parameters of parts, read from texts."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wola.report.parameters import DEFAULT, NONE, parameter_values, parameters_in, value_order


def test_a_default_of_the_librarys_own_is_a_value_like_those_that_are_written() -> None:
    texts = ["multi-krum", "multi-krum(power=1)", "krum", "median"]
    found = parameter_values("aggregator", "power", texts)
    assert found == {"multi-krum": "2", "multi-krum(power=1)": "1", "krum": "2", "median": NONE}


def test_the_default_of_ones_own_part_is_not_asked_for() -> None:
    texts = ["nowhere.at.all:Rule(k=3)", "nowhere.at.all:Rule", "other:Rule"]
    found = parameter_values("aggregator", "k", texts)
    assert list(found.values()) == ["3", DEFAULT, NONE]
    assert "nowhere" not in sys.modules


def test_a_parameter_is_found_in_any_part_of_a_chain() -> None:
    texts = ["nnm+clipping(norm=2.0)", "nnm", "none"]
    assert list(parameter_values("mixing", "norm", texts).values())[1:] == [NONE, NONE]
    assert parameter_values("mixing", "norm", texts)[texts[0]] == "2"


def test_a_text_that_is_no_part_has_no_parameters() -> None:
    assert parameters_in("aggregator", ["krum(power=1", "()"]) == []
    assert parameter_values("aggregator", "power", ["krum(power=1"]) == {"krum(power=1": NONE}


def test_written_parameters_can_be_told_from_those_that_are_there() -> None:
    texts = ["multi-krum(power=1)", "geometric-median"]
    assert parameters_in("aggregator", texts, written=True) == ["power"]
    assert {"power", "iterations", "nu"} <= set(parameters_in("aggregator", texts))


@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-100, 100), max_size=8))
def test_numbers_come_by_size_and_what_is_no_value_last(numbers: list[float]) -> None:
    found = sorted([NONE, DEFAULT, "auto", *map(str, numbers)], key=value_order)
    assert found[-3:] == ["auto", DEFAULT, NONE]
    assert [float(text) for text in found[:-3]] == sorted(numbers)


@pytest.mark.parametrize(("text", "value"), [("krum(power=1.5)", "1.5"), ("krum(power=2.0)", "2")])
def test_whole_numbers_are_one_value_however_written(text: str, value: str) -> None:
    assert parameter_values("aggregator", "power", [text]) == {text: value}
