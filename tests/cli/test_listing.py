"""`wola list`."""

import json

import pytest

from wola.cli.listing import catalogue, kind_name, signature
from wola.parts import part_name
from wola.training import PARTS, STRATEGIES, Scenario


def test_every_name_of_every_kind_is_listed_with_one_line(wola):
    text = wola("list").stdout
    listed = catalogue()

    assert "\x1b" not in text
    for field, kind in PARTS.kinds.items():
        assert [part_name(name) for name in listed[kind_name(field)]] == list(kind.described())
    assert list(listed["strategy"]) == list(STRATEGIES)
    for names in listed.values():
        assert all(f"\n {part_name(name)}" in text for name in names)
        assert all(line and "\n" not in line and ":math:" not in line for line in names.values())


def complete(text: str) -> bool:
    """Whether a listed part has no parameter that must be given."""
    inside = text.partition("(")[2].rstrip(")")
    return not inside or all("=" in piece for piece in inside.split(", ") if "(" not in piece)


@pytest.mark.parametrize("field", [k for k in PARTS.kinds if k in Scenario.model_fields])
def test_a_scenario_takes_every_listed_part_and_its_parameters_are_the_defaults(field):
    for text in catalogue()[kind_name(field)]:
        if complete(text) and field != "partition":
            settled = PARTS.settle(field, text)
            assert settled == part_name(text)


def test_parameters_are_shown_with_their_defaults_and_required_ones_by_name():
    listed = catalogue()

    assert "krum(power=2)" in listed["aggregator"]
    assert "dirichlet(mode=resampled)" in listed["partition"]
    assert "npz(path)" in listed["dataset"]
    assert "gaussian(epsilon, delta)" in listed["noise"]
    assert "shared(rule=geometric-median(iterations=3, nu=0.1), noise=none)" in listed["objective"]
    assert "adam(beta=0.9, beta2=0.99)" in listed["server"]


def test_a_function_is_listed_with_what_it_is_not_given_later():
    def network(shape, classes, width=8, deep=False):
        """A network."""

    assert signature("net", network, {"shape": None, "classes": None}) == "net(width=8, deep=false)"


def test_one_kind_can_be_listed_alone(wola):
    result = wola("list", "strategy")

    assert result.exit_code == 0
    assert "WoLA-dagger+NNM" in result.stdout
    assert "fashion-mnist" not in result.stdout


def test_json_is_the_catalogue_and_nothing_else(wola):
    assert json.loads(wola("list", "--json").stdout) == catalogue()
    assert json.loads(wola("list", "mixing", "--json").stdout) == {"mixing": catalogue()["mixing"]}
