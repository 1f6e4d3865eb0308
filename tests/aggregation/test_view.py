"""What a server knows reaches a rule, in chains, blocks and attacks, and is asked for in words."""

import copy
import pickle

import numpy as np
import pytest
import torch

from tests.aggregation.server_rules import BOUND, rows_of, skewed, view
from wola.aggregation import (
    BOBA,
    CenteredClipping,
    FLTrust,
    FoolsGold,
    Krum,
    MissingReference,
    ReferenceRows,
    TooFewUpdates,
    View,
    ZenoPlusPlus,
)
from wola.aggregation.view import NO_MEMORY
from wola.attacks import OptimalALIE
from wola.mixing import NNM, Bucketing

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


NAMED = View(
    labels=torch.eye(4, dtype=torch.float64)[:3],
    workers=("a", "b", "c"),
    memory={"a": torch.tensor(1.0), "z": torch.tensor(2.0)},
)


def test_the_rows_of_a_view_take_their_names_and_labels_along():
    some = NAMED.of_rows([2, 0])
    assert some.workers == ("c", "a")
    assert torch.equal(some.labels, NAMED.labels[[2, 0]])
    assert some.memory is NAMED.memory
    assert NAMED.of_rows(np.array([], dtype=np.int64)).workers == ()
    assert some.of_rows([1]).workers == ("a",)


def test_rows_without_names_are_called_by_their_numbers():
    assert View().of_rows([4, 1]).workers == (4, 1)
    assert list(View().names(3)) == [0, 1, 2]
    assert NAMED.names(3) == ("a", "b", "c")


def test_a_mixture_for_each_worker_keeps_its_name_and_any_other_is_nobodys():
    matrix = np.array([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.25, 0.25, 0.5]])
    mixed = NAMED.mixed(matrix)
    assert mixed.workers == ("a", "b", "c")
    np.testing.assert_allclose(mixed.labels, matrix @ NAMED.labels.numpy())
    fewer = NAMED.mixed(matrix[:2])
    assert fewer.workers is None
    assert fewer.labels.shape == (2, 4)
    assert fewer.memory is NAMED.memory


def test_those_who_are_here_are_shown_their_own_memory_alone():
    assert list(NAMED.present().memory) == ["a"]
    assert View(memory=NAMED.memory).present().memory is NAMED.memory


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"workers": ("a", "b", "a")}, ValueError, "workers holds 'a' twice"),
        ({"workers": (1, 2.5)}, TypeError, "workers holds 2.5, a float; allowed: .* str or int"),
        ({"workers": (True,)}, TypeError, "workers holds True, a bool"),
        ({"workers": np.arange(2)}, TypeError, "a int64; allowed: names that are str or int"),
        ({"memory": [torch.zeros(1)]}, TypeError, "memory is a list; allowed: a mapping"),
    ],
)
def test_names_and_memory_that_cannot_be_kept_are_refused(fields, error, message):
    with pytest.raises(error, match=message):
        View(**fields)


def test_as_many_names_as_updates_are_needed():
    bound = FoolsGold().at(View(workers=("a", "b")))
    with pytest.raises(ValueError, match="workers has 2 names; allowed: 3, one for each update"):
        bound(torch.eye(3), 1)


def test_what_is_kept_cannot_be_changed_through_the_view():
    given = {"a": torch.tensor(1.0)}
    seen = View(memory=given)
    given["b"] = torch.tensor(2.0)
    assert list(seen.memory) == ["a"]
    with pytest.raises(TypeError):
        seen.memory["a"] = torch.tensor(3.0)
    with pytest.raises(TypeError):
        del seen.memory["a"]
    assert repr(seen.memory) == "FrozenMemory of ['a']"


def test_views_compare_hash_copy_and_pickle_with_what_they_keep():
    one, other = View(memory={"a": torch.ones(2)}), View(memory={"a": torch.ones(2)})
    assert one == other
    assert hash(one) == hash(other)
    assert one != View(memory={"a": torch.zeros(2)})
    assert one != View(memory={"b": torch.ones(2)})
    assert one != View()
    assert one.memory != {"a": torch.ones(2)}
    assert copy.deepcopy(one) == one == pickle.loads(pickle.dumps(one))


def test_a_rule_that_remembers_nothing_keeps_nothing():
    assert Krum().aggregate(skewed(), 3).memory is NO_MEMORY
    assert Krum().among([0, 1]) == Krum()
    assert FLTrust().at(view()).aggregate(skewed(), 3).memory == NO_MEMORY


def test_a_chain_hands_memory_on_and_an_outcome_says_what_is_kept():
    x = skewed()
    names = [f"w{i}" for i in range(len(x))]
    chain = NNM() | FoolsGold()
    assert chain.remembers == "workers"
    first = chain.at(View(workers=names)).aggregate(x, 3)
    assert list(first.memory) == names
    second = chain.at(View(workers=names, memory=first.memory)).aggregate(x, 3)
    mixed = NNM()(x, 3)
    for i, name in enumerate(names):
        torch.testing.assert_close(second.memory[name], 2 * mixed[i])
    history = Bucketing(size=2) | CenteredClipping(history=True)
    kept = history.aggregate(x, 2, torch.Generator().manual_seed(1))
    assert torch.equal(kept.memory["aggregate"], kept.update)
    assert "memory" not in repr(first)


def test_a_bound_rule_among_some_workers_knows_them_alone():
    x = skewed()
    names = [f"w{i}" for i in range(len(x))]
    memory = FoolsGold().at(View(workers=names)).aggregate(x, 3).memory
    bound = FoolsGold().at(View(workers=names, memory=memory))
    rows = [8, 1, 5, 0]
    some = bound.among(rows)(x[rows], 1)
    named = View(workers=[names[i] for i in rows], memory=memory)
    assert torch.equal(some, FoolsGold().at(named)(x[rows], 1))
