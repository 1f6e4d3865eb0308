"""`wola list`."""

import pytest

from wola.cli.listing import catalogue
from wola.data import DATASETS
from wola.training import AGGREGATORS, ATTACKS, LABEL_ATTACKS, MIXINGS, STRATEGIES, Scenario


def test_every_name_of_a_registry_is_listed_with_one_line(wola):
    text = wola("list").stdout

    assert "\x1b" not in text
    for names in (DATASETS, AGGREGATORS, MIXINGS, ATTACKS, LABEL_ATTACKS, STRATEGIES):
        assert all(f"\n {name} " in text for name in names)
    assert all(
        line and "\n" not in line for names in catalogue().values() for line in names.values()
    )


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("partitions", "partition"),
        ("models", "model"),
        ("aggregators", "aggregator"),
        ("mixings", "mixing"),
        ("attacks", "attack"),
        ("objectives", "objective"),
        ("objective-attacks", "objective_attack"),
    ],
)
def test_a_scenario_takes_every_listed_name(kind, field):
    for name in catalogue()[kind]:
        assert getattr(Scenario(byzantine=3, **{field: name}), field) == name


def test_one_kind_can_be_listed_alone(wola):
    result = wola("list", "strategies")

    assert result.exit_code == 0
    assert "WoLA-dagger+NNM" in result.stdout
    assert "fashion-mnist" not in result.stdout
