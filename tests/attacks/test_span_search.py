"""The worst update of the honest span."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from tests import reference
from tests.attacks.sample import as_float64, generator, honest_updates
from wola.aggregation import (
    CoordinateMedian,
    FLTrust,
    GeometricMedian,
    GramRule,
    Krum,
    Mean,
    MultiKrum,
    ReferenceRows,
    TrimmedMean,
    View,
)
from wola.attacks import ALIE, FOE, OptimalALIE, SignFlip, SpanSearch
from wola.attacks._judge import Judge
from wola.attacks._span import spanning_rows
from wola.attacks.span_search import _Search
from wola.mixing import NNM, AngleNNM, Bucketing, ClipLargest
from wola.testing import check_attack

#: Rules, and what they are by their definitions.
REFERENCES = {
    "trimmed mean": (TrimmedMean(), reference.trimmed_mean),
    "median": (CoordinateMedian(), lambda x, f: reference.coordinate_median(x)),
    "geometric median": (
        GeometricMedian(iterations=5, nu=0.1),
        lambda x, f: reference.smoothed_weiszfeld(x, 5, 0.1),
    ),
    "Krum": (Krum(), reference.krum),
    "NNM": (
        NNM() | TrimmedMean(),
        lambda x, f: reference.trimmed_mean(reference.nnm(x, f), f),
    ),
    "angle": (
        AngleNNM() | TrimmedMean(),
        lambda x, f: reference.trimmed_mean(reference.angle_nnm(x, f), f),
    ),
}

#: How much less than others it may harm: by rounding, and where a search has an end.
ROUNDING, SEARCH = 1e-6, 0.05


def harm(rule, x, sent, f, goal="distance"):
    """From the definition, in float64, of a rule on updates (h, d) beside f copies of one."""
    aggregate, mean = rule(np.vstack([x, np.tile(sent, (f, 1))]), f), x.mean(0)
    if goal == "ascent":
        return float((mean - aggregate) @ mean)
    return float(np.linalg.norm(aggregate - mean))


def fine_grid(x):
    """Candidates of all kinds but the random ones, from their definitions."""
    mean, std = x.mean(0), x.std(0)
    along, length = mean / np.linalg.norm(mean), np.sqrt((x**2).sum(1).mean())
    for factor in np.geomspace(0.05, 20, 30):
        yield from (mean + factor * std, mean - factor * std, -factor * mean, factor * mean)
    for row in x:
        across = row - mean - ((row - mean) @ along) * along
        across /= np.linalg.norm(across)
        for turn in np.deg2rad(np.arange(-165, 180, 30)):
            yield length * (np.cos(turn) * along + np.sin(turn) * across)


@pytest.mark.parametrize("goal", ["distance", "ascent"])
@pytest.mark.parametrize("name", REFERENCES)
def test_what_each_candidate_is_judged_to_do_is_what_it_does(name, goal):
    rule, by_definition = REFERENCES[name]
    base, draw = spanning_rows(honest_updates(6, 7, seed=2)), np.random.default_rng(1)
    judge = Judge(base, 6, 2, rule, 2, None, torch.finfo(torch.float64).max)
    search = _Search(judge, goal, 60, judge.all_columns)
    search.open(1.0, draw)
    search.refine(draw)
    assert len(search.met) == 60
    assert {one.kind for one in search.met} == {"alie", "foe", "tilt", "random", "refined"}
    rows = as_float64(base)
    for one in search.met[::3]:
        if np.abs(one.candidate).max() > 1e4:
            continue  # Far out a tie of Krum is decided by rounding.
        expected = harm(by_definition, rows[:-1], one.candidate @ rows, 2, goal)
        assert one.harm == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("goal", ["distance", "ascent"])
@pytest.mark.parametrize("name", REFERENCES)
def test_no_candidate_of_a_fine_grid_harms_more(name, goal):
    rule, by_definition = REFERENCES[name]
    for seed in range(2):
        honest = honest_updates(6, 7, seed + 20)
        x = as_float64(honest)
        sent = SpanSearch(goal=goal)(honest, 2, rule=rule, generator=generator(seed))
        most = max(harm(by_definition, x, one, 2, goal) for one in fine_grid(x))
        assert harm(by_definition, x, as_float64(sent[0]), 2, goal) >= (1 - SEARCH) * most


RULES = [
    TrimmedMean(),
    CoordinateMedian(),
    GeometricMedian(),
    Krum(),
    NNM() | TrimmedMean(),
    ClipLargest() | AngleNNM() | TrimmedMean(),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("f", [2, 5])
def test_it_harms_as_much_as_the_attacks_that_it_begins_with(rule, f):
    for seed in range(3):
        honest = honest_updates(11 - f, 40, seed)
        x = as_float64(honest)
        alone = lambda rows, f: as_float64(rule(torch.from_numpy(rows), f))  # noqa: E731
        sent = SpanSearch()(honest, f, rule=rule, generator=generator(seed))
        found = harm(alone, x, as_float64(sent[0]), f)
        for other in (FOE(), SignFlip(), ALIE(), OptimalALIE()):
            rows = as_float64(other(honest, f, rule=rule, generator=generator(seed)))
            assert found >= harm(alone, x, rows[0], f) * (1 - ROUNDING), other


@pytest.mark.parametrize("rule", [NNM() | TrimmedMean(), TrimmedMean()], ids=str)
def test_a_search_on_some_of_many_columns_is_not_much_weaker(rule):
    honest = honest_updates(6, 3000, dtype=torch.float32)
    alone = lambda rows, f: as_float64(rule(torch.from_numpy(rows), f))  # noqa: E731
    harms = [
        harm(alone, as_float64(honest), as_float64(attack(honest, 4, rule, generator(1))[0]), 4)
        for attack in (SpanSearch(columns=300), SpanSearch(columns=5000), OptimalALIE())
    ]
    assert harms[0] >= (1 - SEARCH) * harms[2]
    # Two searches that end elsewhere.
    assert harms[0] >= 0.8 * harms[1]


@dataclass(frozen=True)
class CountedMean(GramRule):
    calls: list = field(default_factory=list)

    def weigh(self, space, f):
        self.calls.append(f)
        return np.full(space.n, 1.0 / space.n)


@pytest.mark.parametrize("evaluations", [1, 2, 7, 30])
def test_the_rule_is_tried_as_often_as_asked_and_once_more_for_each_kind(evaluations):
    rule = CountedMean()
    SpanSearch(evaluations)(honest_updates(6, 9), 2, rule=rule, generator=generator())
    assert evaluations < len(rule.calls) <= evaluations + 5


def test_the_generator_stays_where_it_was_and_decides_alone():
    given, honest = generator(3), honest_updates(6, 30)
    state = given.get_state()
    rule = NNM() | TrimmedMean()
    first = SpanSearch(30)(honest, 2, rule=rule, generator=given)
    assert torch.equal(given.get_state(), state)
    assert torch.equal(SpanSearch(30)(honest, 2, rule=rule, generator=generator(3)), first)
    assert not torch.equal(SpanSearch(30)(honest, 2, rule=rule, generator=generator(4)), first)


def test_every_trial_meets_the_draw_of_the_server():
    honest, rule = honest_updates(8, 20), Bucketing(size=2) | TrimmedMean()
    sent = SpanSearch()(honest, 2, rule=rule, generator=generator(5))
    moved = [
        float((rule(torch.cat([honest, rows]), 2, generator(5)) - honest.mean(0)).norm())
        for rows in (sent, SignFlip()(honest, 2), OptimalALIE()(honest, 2, rule, generator(5)))
    ]
    assert moved[0] >= max(moved) * (1 - ROUNDING)


def test_what_the_server_knows_is_known_to_the_attackers():
    honest, own = honest_updates(6, 12), honest_updates(1, 12, seed=8)
    rule = FLTrust().at(View(ReferenceRows(mean=own)))
    sent = SpanSearch()(honest, 2, rule=rule, generator=generator())
    moved = [
        float((rule(torch.cat([honest, rows]), 2) - honest.mean(0)).norm())
        for rows in (sent, ALIE()(honest, 2), OptimalALIE()(honest, 2, rule))
    ]
    assert moved[0] >= max(moved) * (1 - ROUNDING)


def test_broken_honest_updates_are_left_out_and_lower_f():
    honest = honest_updates(8, 10)
    broken = torch.cat([honest[:3], torch.full((1, 10), float("nan")).double(), honest[3:]])
    rule = CountedMean()
    sent = SpanSearch(20)(broken, 3, rule=rule, generator=generator())
    assert set(rule.calls) == {2}
    assert torch.isfinite(sent).all()


def test_a_round_that_the_server_will_refuse_is_met_with_a_sign_flip():
    honest = honest_updates(3, 10)
    honest[:2] = float("nan")
    sent = SpanSearch()(honest, 1, rule=MultiKrum(m=4), generator=generator())
    torch.testing.assert_close(sent, -honest[2:])


@pytest.mark.parametrize("goal", ["distance", "ascent"])
@pytest.mark.parametrize("value", [0.0, 1.0, 3e4])
def test_updates_that_are_all_alike_are_answered(goal, value):
    honest = torch.full((4, 3), value, dtype=torch.float16)
    sent = SpanSearch(20, goal)(honest, 1, rule=Mean(), generator=generator())
    assert torch.isfinite(sent).all()
    assert sent.dtype == torch.float16


def test_what_is_missing_or_wrong_is_named():
    honest = honest_updates(5, 4)
    with pytest.raises(ValueError, match="rule is None; allowed: a Rule"):
        SpanSearch()(honest, 1, generator=generator())
    with pytest.raises(TypeError, match="rule is a str; allowed: a Rule"):
        SpanSearch()(honest, 1, rule="krum", generator=generator())
    with pytest.raises(ValueError, match="draws candidates and generator is None; allowed"):
        SpanSearch()(honest, 1, rule=Mean())
    for options, message in (
        ({"evaluations": 0}, "evaluations = 0"),
        ({"columns": 0}, "columns = 0"),
        ({"goal": "ascend"}, "goal = 'ascend'; did you mean 'ascent'"),
    ):
        with pytest.raises(ValueError, match=message):
            SpanSearch(**options)


@pytest.mark.parametrize("goal", ["distance", "ascent"])
def test_the_battery_holds(goal):
    check_attack(SpanSearch(12, goal), rule=NNM() | TrimmedMean())
