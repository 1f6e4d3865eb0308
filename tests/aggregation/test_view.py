"""What a server knows reaches a rule, in chains, blocks and attacks, and is asked for in words."""

import numpy as np
import pytest
import torch

from tests.aggregation.server_rules import BOUND, rows_of, skewed, view
from wola.aggregation import (
    BOBA,
    FLTrust,
    Krum,
    MissingReference,
    ReferenceRows,
    TooFewUpdates,
    View,
    ZenoPlusPlus,
)
from wola.attacks import OptimalALIE
from wola.mixing import NNM

RULES = [FLTrust(), ZenoPlusPlus(), BOBA()]


@pytest.mark.parametrize("rule", [*RULES, NNM() | BOBA()], ids=str)
def test_a_rule_without_its_reference_says_how_to_give_one(rule):
    message = r"needs a reference of the server's own; allowed: rule.at\(View\(reference=...\)\)"
    with pytest.raises(MissingReference, match=message):
        rule(skewed(), 3)
    with pytest.raises(MissingReference, match=message):
        rule.at(View())


@pytest.mark.parametrize(
    ("rule", "missing"), [(FLTrust(), "mean"), (ZenoPlusPlus(), "mean"), (BOBA(), "classes")]
)
def test_a_reference_without_the_rows_is_named(rule, missing):
    bound = rule.at(View(ReferenceRows()))
    with pytest.raises(MissingReference, match=f"no {missing}; allowed: ReferenceRows"):
        bound(skewed(), 3)


def test_a_rule_that_needs_nothing_is_not_changed_by_a_view():
    assert Krum().at(view()) == Krum()


@pytest.mark.parametrize("rule", BOUND, ids=str)
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_reference_that_is_not_finite_is_refused(rule, value):
    x = skewed()
    mean, classes = rows_of(x)
    mean[0, 0] = classes[0, 0] = value
    bound = rule.rule.at(View(ReferenceRows(mean=mean, classes=classes)))
    with pytest.raises(ValueError, match=r"own rows \(reference or memory\) are not finite"):
        bound(x, 3)


@pytest.mark.parametrize("rule", BOUND, ids=str)
def test_a_reference_of_another_length_is_refused(rule):
    message = r"\(reference or memory\) have d = 40 coordinates, the updates 39"
    with pytest.raises(ValueError, match=message):
        rule(skewed()[:, :39].contiguous(), 3)


@pytest.mark.parametrize("rule", BOUND, ids=str)
def test_a_worker_that_is_not_finite_changes_nothing_but_n_and_f(rule):
    x = skewed()
    x[4, 7] = float("nan")
    outcome = rule.aggregate(x, 3)
    others = [i for i in range(len(x)) if i != 4]
    expected = rule.aggregate(x[others], 2)
    assert outcome.dropped == (4,)
    assert torch.equal(outcome.update, expected.update)
    assert outcome.weights[4] == 0
    assert torch.equal(outcome.weights[others], expected.weights)


@pytest.mark.parametrize("rule", BOUND, ids=str)
def test_too_many_broken_workers_are_too_few_updates(rule):
    with pytest.raises(TooFewUpdates):
        rule(torch.full((6, 40), float("nan"), dtype=torch.float64), 1)


@pytest.mark.parametrize("rule", [*BOUND, *((NNM() | r.rule).at(r.view) for r in BOUND)], ids=str)
def test_column_blocks_weights_and_the_whole_matrix_agree(rule):
    x = skewed()
    whole = rule.aggregate(x, 3)
    assert torch.allclose(whole.weights @ x, whole.update, atol=1e-12)
    assert torch.allclose(rule.blocks(list(x.split(7, dim=1)), 3), whole.update, atol=1e-12)
    single = rule(x.float(), 3)
    assert single.dtype == torch.float32
    assert torch.allclose(single.double(), whole.update, atol=1e-4)


@pytest.mark.parametrize("rule", BOUND, ids=str)
def test_mixings_act_on_workers_and_never_on_the_server(rule):
    x = skewed()
    mixed = NNM()(x, 3)
    chain = (NNM() | rule.rule).at(rule.view)
    assert torch.allclose(chain(x, 3), rule(mixed, 3), atol=1e-10)


# The epsilon of Zeno++ has a unit.
@pytest.mark.parametrize("rule", [r for r in BOUND if not getattr(r.rule, "epsilon", 0)], ids=str)
@pytest.mark.parametrize("factor", [1e-300, 1e-100, 1.0, 1e100, 1e300])
def test_updates_and_reference_may_have_any_scale(rule, factor):
    x = skewed()
    mean, classes = rows_of(x)
    bound = rule.rule.at(View(ReferenceRows(mean=mean * factor, classes=classes * factor, lr=0.1)))
    scaled = bound(x * factor, 3).numpy() / factor
    np.testing.assert_allclose(scaled, rule(x, 3).numpy(), atol=1e-9)


@pytest.mark.parametrize("rule", BOUND, ids=str)
def test_an_attack_that_optimises_against_the_rule_sees_what_the_server_sees(rule):
    honest = skewed()[:8]
    lies = OptimalALIE(evaluations=8)(honest, 3, rule=rule)
    assert torch.isfinite(lies).all()
    moved = rule(torch.cat([honest, lies]), 3) - honest.mean(dim=0)
    silent = rule(torch.cat([honest, honest.mean(dim=0).expand(3, -1)]), 3) - honest.mean(dim=0)
    assert moved.norm() >= silent.norm() * (1 - 1e-9)
