"""Fang's attack on Krum."""

import numpy as np
import pytest
import torch

from tests.attacks.sample import honest_updates
from tests.reference import distance, norm
from wola.aggregation import (
    FLTrust,
    GReco,
    Krum,
    MultiKrum,
    ReferenceRows,
    TrimmedMean,
    View,
)
from wola.aggregation.opening import open_space
from wola.aggregation.source import Matrix
from wola.attacks import FangKrum
from wola.mixing import NNM
from wola.testing import check_attack


def bound(x, f):
    """The largest lambda, from the definition."""
    h, d = x.shape
    n = h + f
    sums = [sum(sorted(distance(a, b) for b in x)[1:][: max(1, n - f - 2)]) for a in x]
    return min(sums) / (max(1, n - 2 * f - 1) * d**0.5) + max(map(norm, x)) / d**0.5


def followed(rule, honest, f, factor):
    sent = (-factor * honest.mean(0).sign()).expand(f, -1)
    # Krum asks for a minority of liars; attackers among themselves may be more.
    space, _, _ = open_space(Matrix(torch.cat([honest, sent])), 0, needs_products=True)
    solution = rule.solve(space, f, None)
    return bool((solution.weights @ solution.space.mixture)[-f:].sum() > 0)


@pytest.mark.parametrize("rule", [Krum(), Krum(power=1), NNM() | MultiKrum()], ids=str)
@pytest.mark.parametrize(("h", "f"), [(9, 8), (11, 6), (13, 4), (15, 2)])
def test_the_rule_follows_it_and_would_not_follow_twice_as_much_unless_that_is_the_bound(
    rule, h, f
):
    for seed in range(3):
        honest = honest_updates(h, 30, seed)
        sent = FangKrum()(honest, f, rule=rule)
        factor, first = float(sent[0].abs().max()), bound(honest.numpy(), f)
        assert torch.equal(sent, (-factor * honest.mean(0).sign()).expand(f, -1))
        halvings = np.log2(first / factor)
        assert halvings == pytest.approx(round(halvings), abs=1e-9)
        if factor >= 1e-5 * first:
            assert followed(rule, honest, f, factor)
        if halvings > 0.5:
            assert not followed(rule, honest, f, 2 * factor)


def test_without_a_rule_that_has_weights_it_is_made_for_krum():
    honest = honest_updates(9, 20)
    wanted = FangKrum()(honest, 3, rule=Krum())
    assert torch.equal(FangKrum()(honest, 3), wanted)
    assert torch.equal(FangKrum()(honest, 3, rule=TrimmedMean()), wanted)


def test_a_mean_of_zero_is_met_with_zeros():
    assert torch.equal(FangKrum()(torch.tensor([[1.0], [-1.0]]), 1), torch.zeros(1, 1))


def partial_by_definition(own):
    """The lambda of attackers who know nothing but `own` (f, d), and how many copies it took."""
    f = len(own)
    for copies in range(1, f + 2):
        first = factor = bound(own.numpy(), copies)
        while factor >= 1e-5 * first:
            if followed(Krum(), own, copies, factor):
                return factor, copies
            factor /= 2
    raise AssertionError("no number of copies is enough")


@pytest.mark.parametrize("f", [1, 2, 3, 5, 8])
def test_attackers_who_know_themselves_alone_persuade_krum_among_themselves(f):
    needed = set()
    for seed in range(4):
        own = honest_updates(f, 30, seed) * (0.01 if seed == 3 else 1.0) + (seed == 3)
        sent = FangKrum(knowledge="partial")(honest_updates(9, 30, seed), f, own=own)
        factor, copies = partial_by_definition(own)
        needed.add(copies)
        wanted = (-factor * own.mean(0).sign()).expand(f, -1)
        torch.testing.assert_close(sent, wanted, rtol=1e-9, atol=0)
    assert needed != {1} or f < 4


def test_the_server_rule_is_judged_with_what_the_server_knows():
    honest = honest_updates(7, 12)
    for row in (honest.mean(0), -honest.mean(0)):
        server = FLTrust().at(View(ReferenceRows(mean=row)))
        sent = FangKrum()(honest, 2, rule=server)
        first = bound(honest.numpy(), 2)
        trusted = bool(server.weights(torch.cat([honest, first * sent.sign()]), 2)[-1] > 0)
        reached = float(sent[0].abs().max())
        assert reached == pytest.approx(first) if trusted else reached < 1.1e-5 * first


def test_what_is_wrong_is_named():
    with pytest.raises(ValueError, match="knowledge = 'none'"):
        FangKrum(knowledge="none")


def test_the_battery_holds():
    check_attack(FangKrum())
    check_attack(FangKrum(knowledge="partial"))
    check_attack(FangKrum(), rule=NNM() | MultiKrum())


def test_a_rule_that_knows_more_than_the_updates_is_followed_too():
    honest = honest_updates(9, 30, 1)
    own = ReferenceRows(mean=-honest.mean(0, keepdim=True))
    reports = torch.full((12, 3), 1 / 3)
    for rule in (FLTrust().at(View(own)), GReco().at(View(labels=reports))):
        sent = FangKrum()(honest, 3, rule=rule)
        assert bool(rule.weights(torch.cat([honest, sent]), 3)[-3:].sum() > 0)
