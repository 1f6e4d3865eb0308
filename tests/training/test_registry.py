"""Every name stands for something that can be made and says what it is."""

import pytest

from wola.aggregation import GeometricMedian, Krum, MultiKrum, TrimmedMean
from wola.mixing import NNM, Bucketing
from wola.training import registry

KINDS = {
    "aggregators": registry.AGGREGATORS,
    "mixings": registry.MIXINGS,
    "attacks": registry.ATTACKS,
    "label attacks": registry.LABEL_ATTACKS,
    "objectives": registry.OBJECTIVES,
    "objective attacks": registry.OBJECTIVE_ATTACKS,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_can_be_made_and_described(kind):
    for thing in KINDS[kind].values():
        made = thing if isinstance(thing, str) else thing()
        assert made is not None
        assert len(registry.described(thing)) > 10


def test_paper_definitions_change_three_aggregators():
    made = {name: registry.make_rule(name) for name in registry.AGGREGATORS}
    library = {n: registry.make_rule(n, definitions="library") for n in registry.AGGREGATORS}
    changed = {name for name in made if made[name] != library[name]}
    assert changed == {"geometric-median", "krum", "multi-krum"}
    assert made["geometric-median"] == GeometricMedian(iterations=10, nu=0.1)
    assert (made["krum"], made["multi-krum"]) == (Krum(power=1), MultiKrum(power=1))


def test_mixings_run_in_the_order_they_are_written():
    assert registry.make_rule("trimmed-mean", mixing="bucketing+nnm") == (
        Bucketing() | NNM() | TrimmedMean()
    )


def test_the_papers_objective_takes_three_steps():
    assert registry.make_objective("paper").rule == GeometricMedian(iterations=3, nu=0.1)
    assert registry.make_objective("median").rule == registry.make_rule("median")


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(ValueError, match="did you mean 'trimmed-mean'"):
        registry.make_rule("trimed-mean")
    with pytest.raises(ValueError, match=r"^allowed: mean, median"):
        registry.make_rule("qqqq")


@pytest.mark.parametrize("name", registry.STRATEGIES)
def test_strategies_are_found_in_any_case(name):
    assert registry.strategy_named(name.upper()) == name
    assert registry.strategy_named(name.lower()) == name
