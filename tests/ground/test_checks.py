"""Checks of single values: what passes, and the words for what does not."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.ground import check_choice, check_number, check_whole


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(-5, 5), st.floats(-5, 5))
def test_a_number_passes_exactly_within_its_bounds(value, least, below):
    fits = math.isfinite(value) and least <= value < below
    if fits:
        assert check_number("x", value, least=least, below=below) == value
    else:
        with pytest.raises(ValueError, match=r"x = .*; allowed: a finite number >= .* and < "):
            check_number("x", value, least=least, below=below)


@pytest.mark.parametrize("value", [3, 2.5, Fraction(1, 2), np.float32(0.5), np.int64(2)])
def test_any_real_number_is_a_number(value):
    assert check_number("x", value, above=0) == value


def test_the_bound_above_is_not_reached():
    with pytest.raises(ValueError, match=r"x = 0; allowed: a finite number > 0$"):
        check_number("x", 0, above=0)


@pytest.mark.parametrize("value", [True, "1", None, 1j, [1.0]])
def test_what_is_no_number_is_named_with_its_type(value):
    kind = type(value).__name__
    with pytest.raises(TypeError, match=rf"x = .* is a {kind}; allowed: a finite number$"):
        check_number("x", value)


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_a_whole_number_passes_from_its_least_on(value, least):
    if value >= least:
        assert check_whole("k", value, least=least) == value
    else:
        with pytest.raises(ValueError, match=f"^k = {value}; allowed: an int >= {least}$"):
            check_whole("k", value, least=least)


@pytest.mark.parametrize("value", [4, np.int32(4), np.uint8(4), torch.tensor(4)])
def test_every_integer_type_becomes_an_int(value):
    assert type(check_whole("k", value, least=0)) is int
    assert check_whole("k", value) == 4


@pytest.mark.parametrize("value", [True, np.True_, 1.0, "1", None, torch.tensor(1.0)])
def test_what_is_no_whole_number_is_named_with_its_type(value):
    with pytest.raises(TypeError, match=rf"k = .* is a {type(value).__name__}; allowed: an int$"):
        check_whole("k", value)


def test_a_choice_is_returned_as_it_is():
    assert check_choice("mode", "fast", ["slow", "fast"]) == "fast"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("fsat", "mode = 'fsat'; did you mean 'fast'? allowed: slow, fast"),
        ("zzz", "mode = 'zzz'; allowed: slow, fast"),
        (None, "mode = None; allowed: slow, fast"),
        (["fast"], "mode = ['fast']; "),
    ],
)
def test_another_choice_is_named_with_the_nearest(value, words):
    with pytest.raises(ValueError, match="mode = ") as caught:
        check_choice("mode", value, ["slow", "fast"])
    assert str(caught.value).startswith(words)
