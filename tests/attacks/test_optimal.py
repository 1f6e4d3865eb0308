"""What the optimised attacks share."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from checks.attack_searches import ENOUGH, cases, reached
from tests.attacks.sample import generator, honest_updates
from wola.aggregation import (
    Bulyan,
    ColumnRule,
    CoordinateMedian,
    GeometricMedian,
    GramRule,
    Krum,
    Mean,
    MultiKrum,
    TrimmedMean,
)
from wola.attacks import ALIE, FOE, OptimalALIE, OptimalFOE
from wola.mixing import NNM, Bucketing

RULES = [
    TrimmedMean(),
    CoordinateMedian(),
    GeometricMedian(),
    Krum(),
    NNM() | TrimmedMean(),
    NNM() | MultiKrum(),
    Bucketing(size=2) | TrimmedMean(),
    Bucketing(size=2) | GeometricMedian(),
]


def shift(rule, honest, rows, seed=0):
    aggregate = rule(torch.cat([honest, rows]), len(rows), generator(seed))
    return float((aggregate - honest.mean(0)).norm())


@dataclass(frozen=True)
class CountedMean(GramRule):
    calls: list = field(default_factory=list)

    def weigh(self, space, f):
        self.calls.append(f)
        return np.full(space.n, 1.0 / space.n)


@dataclass(frozen=True)
class Midrange(ColumnRule):
    """A third party's rule: half the sum of the extremes left after dropping f on each side."""

    def columns(self, block, f):
        ranked = block.sort(dim=0).values
        return (ranked[f] + ranked[len(block) - f - 1]) / 2


@pytest.mark.parametrize("rule", [*RULES, Midrange(), NNM() | Midrange()], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_optimised_attack_is_at_least_as_strong_as_the_plain_one(rule, dtype):
    honest = honest_updates(11, 40, dtype=dtype)
    for optimal, plain in [(OptimalALIE(), ALIE()), (OptimalFOE(), FOE())]:
        rows = optimal(honest, 3, rule=rule, generator=generator())
        assert shift(rule, honest, rows) >= shift(rule, honest, plain(honest, 3)) * (1 - 1e-5)


@pytest.mark.parametrize("start", [-1.0, 0.0, 0.7, 5.0])
@pytest.mark.parametrize("rule", [TrimmedMean(), NNM() | Krum()], ids=str)
def test_it_is_never_weaker_than_its_start(start, rule):
    honest = honest_updates(9, 40)
    alie = OptimalALIE(evaluations=7, start=start)(honest, 3, rule=rule)
    assert shift(rule, honest, alie) >= shift(rule, honest, ALIE(z=start)(honest, 3)) - 1e-9
    foe = OptimalFOE(evaluations=7, start=start)(honest, 3, rule=rule)
    assert shift(rule, honest, foe) >= shift(rule, honest, FOE(start)(honest, 3)) - 1e-9


@pytest.mark.parametrize("evaluations", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("make", [OptimalALIE, OptimalFOE])
def test_the_rule_is_evaluated_as_often_as_asked_and_no_more(make, evaluations):
    rule = CountedMean()
    make(evaluations=evaluations)(honest_updates(6, 4), 2, rule=rule)
    assert len(rule.calls) == evaluations


def test_growth_without_end_stops_before_the_attackers_overflow():
    honest = honest_updates(5, 4, dtype=torch.float32)
    rows = OptimalALIE(evaluations=400)(honest, 2, rule=Mean())
    assert torch.isfinite(rows).all()
    half = OptimalFOE(evaluations=400)(honest.half(), 2, rule=Mean())
    assert torch.isfinite(half).all()


def test_every_evaluation_meets_the_same_draw_and_the_generator_stays():
    @dataclass(frozen=True)
    class Drawing(CountedMean):
        def solve(self, space, f, generator):
            self.calls.append(int(torch.randint(1 << 30, (1,), generator=generator)))
            return super().solve(space, f, generator)

    rule, server = Drawing(), generator(7)
    state = server.get_state()
    OptimalALIE(evaluations=5)(honest_updates(9, 30), 3, rule=rule, generator=server)
    assert torch.equal(server.get_state(), state)
    assert set(rule.calls[::2]) == {int(torch.randint(1 << 30, (1,), generator=server))}


def test_a_random_rule_without_a_generator_is_refused():
    with pytest.raises(ValueError, match="generator is None"):
        OptimalALIE()(honest_updates(9, 30), 2, rule=Bucketing(size=2) | TrimmedMean())


def test_broken_honest_updates_lower_what_the_server_takes_f_to_be():
    honest = honest_updates(8, 10)
    broken = torch.cat([honest, torch.full((1, 10), float("nan"), dtype=torch.float64)])
    rule = CountedMean()
    OptimalALIE(evaluations=2)(broken, 3, rule=rule)
    assert rule.calls == [2, 2]


def test_a_round_that_the_server_will_refuse_is_met_with_the_start():
    honest = honest_updates(3, 10)
    honest[:2] = float("nan")
    refusing = MultiKrum(m=4)
    torch.testing.assert_close(OptimalALIE(start=0.5)(honest, 1, rule=refusing), honest[2:])
    torch.testing.assert_close(OptimalFOE(start=0.5)(honest, 1, rule=refusing), -honest[2:] / 2)


@pytest.mark.parametrize("make", [OptimalALIE, OptimalFOE])
def test_a_missing_or_wrong_rule_is_named(make):
    honest = honest_updates(5, 3)
    with pytest.raises(ValueError, match=r"rule is None; allowed: a Rule, such as NNM\(\)"):
        make()(honest, 2)
    with pytest.raises(TypeError, match="rule is a str; allowed: a Rule"):
        make()(honest, 2, rule="krum")
    with pytest.raises(ValueError, match=r"Bulyan.*n = 3 "):
        make()(honest[:2], 1, rule=Bulyan())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"evaluations": 0}, ValueError, "evaluations = 0; allowed: an int >= 1"),
        ({"evaluations": 2.0}, TypeError, r"evaluations = 2\.0 is a float"),
        ({"evaluations": True}, TypeError, "evaluations = True"),
        ({"start": float("nan")}, ValueError, "start = nan"),
    ],
)
def test_a_wrong_option_is_named(options, error, message):
    with pytest.raises(error, match=message):
        OptimalALIE(**options)


HARD = [case for case in list(cases(seed=3))[7::24] if "geometric" in case.rule]


@pytest.mark.parametrize("case", HARD, ids=str)
def test_the_search_comes_near_the_best_of_a_fine_grid(case):
    assert reached(case) >= ENOUGH
