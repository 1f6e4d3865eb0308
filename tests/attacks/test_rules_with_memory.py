"""Attacks that look at the server's rule see its memory, its own rows and the workers' names."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from tests.aggregation.memory_rules import NAMES, RULES, F, N, made, remembered, same, view
from tests.attacks.sample import generator
from wola.aggregation import BOBA, FLTrust, GramRule, MoNNA, ReferenceRows, View
from wola.attacks import FangKrum, OptimalALIE, OptimalFOE, SpanSearch, WorstOf
from wola.attacks._judge import Judge

BOUND = [rule.at(view(made(9)[1], NAMES, remembered(rule))) for rule in RULES]
JUDGING = [OptimalALIE(8), OptimalFOE(8), FangKrum(), WorstOf(), SpanSearch(8)]
SERVER_RULES = [rule.at(view(made(9)[1])) for rule in (FLTrust(), MoNNA(), MoNNA(own=False))]


@pytest.mark.parametrize("rule", [*BOUND, *SERVER_RULES], ids=str)
def test_a_candidate_of_the_attackers_is_judged_as_the_server_will_aggregate_it(rule):
    honest = torch.from_numpy(made(4)[0][: N - F])
    base = torch.cat([honest, torch.from_numpy(made(5)[0][:1])])
    judge = Judge(base, N - F, F, rule, F, None, torch.finfo(torch.float64).max)
    for candidate in (np.full(7, 0.1), np.append(np.zeros(6), -2.0), np.linspace(-1, 1, 7)):
        row = torch.from_numpy(candidate) @ base
        aggregate = rule(torch.cat([honest, row.expand(F, -1)]), F)
        expected = float((aggregate - honest.mean(0)).square().sum())
        assert judge.moved(candidate) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("rule", [*BOUND, *SERVER_RULES], ids=str)
@pytest.mark.parametrize("attack", JUDGING, ids=str)
def test_attacks_that_look_at_the_rule_leave_its_memory_alone(rule, attack):
    honest = torch.from_numpy(made(4)[0][: N - F])
    before = {name: value.clone() for name, value in rule.view.memory.items()}
    assert torch.isfinite(attack(honest, F, rule=rule, generator=generator())).all()
    assert same(rule.view.memory, before)


@dataclass(frozen=True)
class Listening(GramRule):
    """The mean, by a rule that writes down whose updates it was asked about."""

    remembers = "workers"
    heard: set = field(default_factory=set)

    def weigh(self, space, f):
        self.heard.add(tuple(space.view.names(space.n)))
        return np.full(space.n, 1.0 / space.n)


@pytest.mark.parametrize("attack", JUDGING, ids=str)
def test_attackers_keep_the_names_of_those_that_the_server_does_not_drop(attack):
    honest = torch.from_numpy(made(4)[0][: N - F])
    honest[1, 0] = float("nan")
    rule = Listening()
    attack(honest, F, rule=rule.at(view(made(4)[1], NAMES)), generator=generator())
    assert rule.heard == {tuple("acdefghi")}


def test_fang_krum_sees_the_servers_rows_beside_the_updates():
    rule = BOBA().at(View(ReferenceRows(classes=torch.eye(3, 12, dtype=torch.float64))))
    honest = torch.from_numpy(made(4)[0][: N - F])
    sent = FangKrum()(honest, F, rule=rule)
    assert torch.isfinite(sent).all()
