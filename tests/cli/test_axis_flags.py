"""Flags for the axes of a grid."""

import pytest

from wola.bench.grid import AXES, Grid, GridError
from wola.cli.axis_flags import cut
from wola.cli.flags import flag_name

GRID = Grid(
    {"dataset": "iris", "participants": 9},
    {"aggregator": ["krum", "multi-krum(power=1)", "median"], "seed": [1, 2, 3]},
)


def test_every_axis_is_a_flag_that_may_be_repeated(wola):
    words = wola("runs", "ls", "--help").stdout.split()

    assert not [name for name in AXES if flag_name(name) not in words]
    assert wola("runs", "ls", "--help-all").stdout.count("Repeatable.") == len(AXES)


def test_an_axis_is_cut_and_any_other_field_is_set():
    made = cut(
        GRID, {"seed": ["1", "3"], "aggregator": ["multi-krum"], "lr": ["0.5"], "beta": None}
    )

    found = {(s.seed, s.aggregator, s.lr) for s in made.scenarios()}
    assert found == {(1, "multi-krum(power=1)", 0.5), (3, "multi-krum(power=1)", 0.5)}


def test_none_stands_for_none_where_a_field_may_be_none():
    assert cut(GRID, {"participants": ["none"]}).scenarios()[0].participants is None


def test_a_field_that_is_no_axis_is_set_once():
    with pytest.raises(GridError, match=r"--lr is given 2 times; allowed: once"):
        cut(GRID, {"lr": ["1", "2"]})


def test_nothing_asked_is_the_grid_itself():
    assert cut(GRID, {"seed": None, "lr": []}).scenarios() == GRID.scenarios()
