"""Names in messages."""

import pytest

from wola.ground import counted, nearest


def test_a_known_name_is_itself():
    assert nearest("nnm", iter(["arc", "nnm"])) == "nnm"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bucketin", "did you mean 'bucketing'? allowed: nnm, bucketing"),
        ("NNM", "did you mean 'nnm'? allowed: nnm, bucketing"),
        ("???", "allowed: nnm, bucketing"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_in_any_case(name, words):
    with pytest.raises(ValueError, match="allowed") as caught:
        nearest(name, ["nnm", "bucketing"])
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 seeds"), (1, "1 seed"), (2, "2 seeds"), (1234567, "1,234,567 seeds")],
)
def test_a_number_of_things_has_the_right_ending(number, words):
    assert counted(number, "seed") == words


def test_the_nearest_name_is_found_in_whatever_case() -> None:
    with pytest.raises(ValueError, match="did you mean 'WoLA'"):
        nearest("WLA", ["NNM", "WoLA"])
