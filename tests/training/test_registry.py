"""Every name stands for something that can be made and says what it is."""

import pytest

from wola.aggregation import GeometricMedian, TrimmedMean
from wola.mixing import NNM, Bucketing
from wola.training import registry
from wola.training.registry import PARTS


@pytest.mark.parametrize("kind", PARTS.kinds)
def test_every_name_is_described_in_a_line(kind):
    lines = PARTS.kinds[kind].described()
    assert set(PARTS.kinds[kind].names) <= set(lines)
    assert all(len(line) > 10 and "\n" not in line for line in lines.values())


def test_no_name_is_that_of_two_different_things_of_one_kind():
    for kind in PARTS.kinds.values():
        assert len({id(thing) for thing in kind.names.values()}) == len(kind.names)


def test_mixings_run_in_the_order_they_are_written():
    assert registry.make_rule("trimmed-mean", mixing="bucketing+nnm") == (
        Bucketing() | NNM() | TrimmedMean()
    )


def test_the_papers_objective_takes_three_steps():
    assert PARTS.make("objective", "shared").rule == GeometricMedian(iterations=3, nu=0.1)


@pytest.mark.parametrize("name", registry.STRATEGIES)
def test_strategies_are_found_in_any_case(name):
    assert registry.strategy_named(name.upper()) == name
    assert registry.strategy_named(name.lower()) == name
