"""What workers report of their labels reaches the objective and the rules that read it."""

import numpy as np
import pytest
import torch

from wola.aggregation import GReco, View
from wola.labels import LaplaceMechanism, ProjectedDistribution, RarestClass
from wola.training import Scenario, ScenarioError, simulate
from wola.training.federation import assemble
from wola.training.reports import settle_reports
from wola.training.round import Round
from wola.training.streams import stream

BASE = Scenario.paper("digits", aggregator="greco", attack="sf", byzantine=4, steps=4, batch=16)
LIES = ["none", "rarest-class", "outlier", "worst", "dirac", "uniform", "random", "projection"]


def truth(federation):
    counts = federation.counts.double()
    return counts / counts.sum(1, keepdim=True)


def seen_by_the_rule(scenario, steps=3, federation=None):
    """For each round the updates and the view that the rule was given, and the participants."""
    training, seen = Round(scenario, federation or assemble(scenario)), []

    class Watched(GReco):
        def at(self, view):
            bound = super().at(view)

            class Looking(type(bound)):
                def aggregate(self, updates, f, generator=None):
                    seen.append((updates.clone(), view))
                    return super().aggregate(updates, f, generator)

            return Looking(self, view)

    training.rule = Watched()
    present = []
    for step in range(1, steps + 1):
        training.take(step)
        present.append(training.participants(step)[0])
    return seen, present


def test_honest_workers_report_the_truth_and_so_do_attackers_that_do_not_lie():
    federation = assemble(BASE)
    assert torch.equal(federation.reports, truth(federation))


def test_attackers_who_flip_labels_report_the_labels_they_train_on():
    flipped = assemble(BASE.changed(attack="lf"))
    plain = assemble(BASE.changed(attack="none"))
    assert torch.equal(flipped.reports[:13], plain.reports[:13])
    assert torch.equal(flipped.reports[13:], plain.reports[13:].flip(1))


def test_noise_is_on_every_honest_report():
    federation = assemble(BASE.changed(objective="shared(noise=laplace(epsilon=0.5))"))
    for worker, counts in enumerate(federation.counts):
        expected = LaplaceMechanism(0.5)(
            truth(federation)[worker], int(counts.sum()), generator=stream(1, "report", worker)
        )
        assert torch.equal(federation.reports[worker], expected)


def test_a_lie_is_one_report_for_the_objective_and_for_the_rule():
    scenario = BASE.changed(loss="wola", objective="shared", objective_attack="rarest-class")
    federation = assemble(scenario)
    assert torch.equal(federation.reports[:13], truth(federation)[:13])
    lies = RarestClass()(truth(federation)[:13], 4)
    assert torch.equal(federation.reports[13:], lies)
    dagger = assemble(scenario.changed(aggregator="mean"))
    assert torch.equal(federation.q, dagger.q)


@pytest.mark.parametrize("lie", LIES)
def test_every_lie_is_a_distribution_and_the_same_for_the_same_seed(lie):
    scenario = BASE.changed(objective_attack=lie)
    counts = assemble(scenario).counts
    reports = settle_reports(scenario, counts)
    assert reports.shape == (17, 10)
    np.testing.assert_allclose(reports.sum(1), 1)
    assert (reports >= 0).all()
    assert torch.equal(reports, settle_reports(scenario, counts))


@pytest.mark.parametrize("order", ["shuffled", "byzantine-first", "byzantine-last"])
@pytest.mark.parametrize("participants", [None, 12])
def test_each_row_that_the_rule_sees_comes_with_its_own_report(order, participants):
    scenario = BASE.changed(order=order, participants=participants, objective_attack="random")
    federation = assemble(scenario)
    seen, present = seen_by_the_rule(scenario, federation=federation)
    assert len(seen) == 3
    for (_, view), workers in zip(seen, present, strict=True):
        assert sorted(view.workers) == workers
        assert torch.equal(view.labels, federation.reports[list(view.workers)])


def test_a_projected_lie_is_told_anew_in_each_round():
    scenario = BASE.changed(objective_attack="projection")
    seen, _ = seen_by_the_rule(scenario)
    lies = []
    for updates, view in seen:
        places = np.argsort(view.workers)
        reports, sent = view.labels[places], updates[places]
        told = ProjectedDistribution().told(reports, sent, 13)
        np.testing.assert_allclose(reports[13:], told, atol=1e-6)
        lies.append(reports[13])
    assert (lies[0] - lies[2]).abs().max() > 1e-3


def test_a_rule_that_reads_no_reports_is_given_none():
    scenario = BASE.changed(aggregator="mean", objective_attack="projection")
    training = Round(scenario, assemble(scenario))
    assert training.reports(range(17)) is None
    assert training.told(View(), training.momenta, 13) == View()


def test_data_of_the_servers_own_are_not_asked_for_reports():
    scenario = BASE.changed(server_data="equal(samples=50)")
    assert Round(scenario, assemble(scenario)).reference is None


@pytest.mark.parametrize("lie", ["none", "projection"])
@pytest.mark.parametrize("aggregator", ["greco", "hullguard(subsets=20)"])
def test_a_run_that_is_taken_up_again_ends_in_the_same_bits(aggregator, lie):
    scenario = BASE.changed(workers=26, aggregator=aggregator, objective_attack=lie, mixing="nnm")
    federation = assemble(scenario)
    whole, broken = Round(scenario, federation), Round(scenario, federation)
    for step in (1, 2):
        whole.take(step)
        broken.take(step)
    later = Round(scenario, federation)
    later.load_state_dict(broken.state_dict())
    for step in (3, 4):
        whole.take(step)
        later.take(step)
    assert torch.equal(whole.model.parameters, later.model.parameters)


@pytest.mark.parametrize("attack", ["nan", "optimal-alie(evaluations=3)", "fang-krum", "lf"])
def test_every_kind_of_attack_meets_a_rule_that_reads_reports(attack):
    result = simulate(BASE.changed(attack=attack, objective_attack="projection", steps=2))
    assert result.final_accuracy > 0


def test_too_few_workers_are_named_before_the_run_starts():
    message = (
        r"aggregator = 'hullguard' with mixing = 'none': HullGuard with C = 10 classes needs "
        r"n - f > 2 C = 20 workers, .*; n = 17, f = 4 leaves 13"
    )
    with pytest.raises(ScenarioError, match=message):
        simulate(BASE.changed(aggregator="hullguard"))
    halved = BASE.changed(workers=40, aggregator="hullguard", mixing="bucketing(size=2)")
    with pytest.raises(ScenarioError, match="n = 20, f = 4 leaves 16"):
        simulate(halved)


def share_of_attackers(result):
    shares = [sum(record.weights[-4:]) for record in result.steps]
    return sum(shares) / len(shares)


def test_greco_keeps_sign_flips_out_better_than_the_mean():
    scenario = BASE.changed(steps=40, batch=64)
    trusting, plain = simulate(scenario), simulate(scenario.changed(aggregator="mean"))
    assert share_of_attackers(plain) == pytest.approx(4 / 17)
    assert share_of_attackers(trusting) < 0.25 * 4 / 17
    assert trusting.final_accuracy > plain.final_accuracy + 2


def test_hullguard_keeps_sign_flips_out_better_than_the_mean():
    rule = "hullguard(subsets=200, bucket=1, rule=mean)"
    scenario = BASE.changed(workers=30, steps=20, batch=32, aggregator=rule)
    assert share_of_attackers(simulate(scenario)) < 0.75 * 4 / 30
