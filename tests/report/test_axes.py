"""What can be the rows and columns of a table, and how its values are called."""

import polars as pl
import pytest

from tests.report.invented import invented, scattered
from wola.report.axes import AXIS_FIELDS, Axis, UnknownAxis, axis_named, several, with_axes
from wola.training import Scenario

RULES = ["multi-krum", "multi-krum(power=1)", "mine:Rule(k=3)"]


def runs(**changes: list[object]):
    return invented(scattered, seed=[1], aggregator=RULES, **changes)


def test_every_field_of_a_scenario_is_an_axis() -> None:
    for name in ("strategy", "setting", *Scenario.model_fields):
        assert axis_named(name, runs()) == Axis(name, name)
        assert name in AXIS_FIELDS


def test_a_field_may_be_written_as_its_flag() -> None:
    assert axis_named("local-steps", runs()) == Axis("local_steps", "local_steps")


@pytest.mark.parametrize("name", ["power", "k"])
def test_a_parameter_is_an_axis_of_the_part_that_has_it(name: str) -> None:
    assert axis_named(name, runs()) == Axis(name, "aggregator", name)
    full = f"aggregator.{name}"
    assert axis_named(full, runs()) == Axis(full, "aggregator", name)


def test_a_parameter_of_two_kinds_of_parts_must_say_which() -> None:
    found = runs(attack=["foe(k=1)", "sf"])
    with pytest.raises(UnknownAxis, match=r"allowed: aggregator\.k, attack\.k"):
        axis_named("k", found)
    assert axis_named("attack.k", found).field == "attack"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("agregator", "did you mean 'aggregator'"),
        ("pwer", "did you mean 'power'"),
        ("xyzzy", "allowed: strategy, "),
        ("model.power", "allowed: strategy, "),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(UnknownAxis, match=hint):
        axis_named(name, runs())


def test_values_are_ordered_as_in_the_paper_or_by_size() -> None:
    assert Axis("alpha", "alpha").ordered([0.3, 3.0, 0.3]) == [3.0, 0.3]
    assert Axis("batch", "batch").ordered([128, 16]) == [16, 128]
    assert Axis("participants", "participants").ordered([9, None, 4]) == [None, 4, 9]
    assert Axis("strategy", "strategy").ordered(["WoLA", "Mine", "-"]) == ["-", "WoLA", "Mine"]
    assert Axis("attack", "attack").ordered(["sf", "alie"]) == ["alie", "sf"]
    assert Axis("power", "aggregator", "power").ordered(["-", "10", "2"]) == ["2", "10", "-"]


def test_headings_say_what_numbers_are_of_and_parts_speak_for_themselves() -> None:
    assert Axis("alpha", "alpha").headed([0.3]) == {0.3: "alpha = 0.3"}
    assert Axis("power", "aggregator", "power").headed(["1"]) == {"1": "power = 1"}
    assert Axis("participants", "participants").headed([None]) == {None: "participants = none"}
    assert list(Axis("aggregator", "aggregator").headed(RULES[:2]).values()) == [
        "MKrum",
        "MKrum(power=1)",
    ]


def test_several_values_are_counted_in_words() -> None:
    assert several("strategy", 8) == "8 strategies"
    assert several("alpha", 3) == "3 values of alpha"
    assert several("batch", 2) == "2 values of batch"
    assert several("aggregator", 1) == "1 aggregator"


def test_only_parameters_need_a_column() -> None:
    table = pl.DataFrame({"aggregator": RULES})
    found = with_axes(table, [Axis("aggregator", "aggregator"), Axis("k", "aggregator", "k")])
    assert found.columns == ["aggregator", "k"]
    assert found["k"].to_list() == ["-", "-", "3"]
