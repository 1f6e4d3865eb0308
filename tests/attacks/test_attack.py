"""What holds for every attack."""

import numpy as np
import pytest
import torch

from tests.attacks.sample import ATTACKS, BLIND, COLLUDING, OTHERS, RULE, honest_updates, sent
from wola.aggregation import GeometricMedian
from wola.attacks import FOE, Attack, ColludingAttack, FangKrum, FangTrim, Zero
from wola.attacks.attack import look
from wola.attacks.optimal import Optimal
from wola.mixing import NNM
from wola.training import ATTACKS as REGISTERED


def test_every_attack_on_updates_is_in_the_sample():
    on_updates = {kind for kind in REGISTERED.values() if issubclass(kind, Attack)}
    assert {type(attack) for attack in ATTACKS} == on_updates


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16], ids=str
)
def test_f_rows_come_back_in_the_dtype_of_the_honest_ones(attack, dtype):
    rows = sent(attack, honest_updates(7, 5, dtype=dtype), 3)
    assert rows.shape == (3, 5)
    assert rows.dtype == dtype


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_numpy_in_gives_numpy_out(attack):
    honest = honest_updates(6, 4).numpy()
    rows = sent(attack, honest, 2)
    assert isinstance(rows, np.ndarray)
    assert rows.dtype == honest.dtype
    tensors = sent(attack, torch.from_numpy(honest), 2)
    np.testing.assert_array_equal(rows, tensors.numpy())


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_a_sequence_of_updates_is_taken_like_a_matrix(attack):
    honest = honest_updates(5, 4)
    from_list = sent(attack, list(honest), 2)
    torch.testing.assert_close(from_list, sent(attack, honest, 2), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_neither_the_input_nor_the_global_random_state_changes(attack):
    honest = honest_updates(6, 5)
    before, state, numpy_state = honest.clone(), torch.get_rng_state(), np.random.get_state()  # noqa: NPY002
    rows = sent(attack, honest, 2)
    assert torch.equal(honest, before)
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state[1])  # noqa: NPY002
    rows.clone().fill_(7.0)
    assert rows.untyped_storage().data_ptr() != honest.untyped_storage().data_ptr()


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_the_same_call_gives_the_same_bits(attack):
    honest = honest_updates(6, 5, dtype=torch.float32)
    once, again = sent(attack, honest, 2), sent(attack, honest, 2)
    torch.testing.assert_close(once, again, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_no_attackers_send_no_rows(attack):
    rows = attack(honest_updates(4, 3), 0)
    assert rows.shape == (0, 3)


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_updates_without_coordinates_are_answered_with_such(attack):
    assert sent(attack, torch.zeros(4, 0), 1).shape == (1, 0)


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_non_contiguous_and_transposed_input_makes_no_difference(attack):
    honest = honest_updates(6, 5)
    for view in (honest.T.contiguous().T, torch.stack([honest, honest], dim=2)[:, :, 0]):
        assert not view.is_contiguous()
        torch.testing.assert_close(
            sent(attack, view, 2), sent(attack, honest, 2), rtol=0, atol=0, equal_nan=True
        )


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_an_update_that_requires_grad_is_used_without_its_graph(attack):
    assert not sent(attack, honest_updates(5, 4).requires_grad_(), 2).requires_grad


@pytest.mark.parametrize("attack", COLLUDING, ids=str)
def test_colluding_attackers_send_one_row_in_one_memory(attack):
    rows = sent(attack, honest_updates(6, 5), 3)
    assert rows.stride(0) == 0


@pytest.mark.parametrize("attack", COLLUDING, ids=str)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1.5e308], ids=str)
def test_a_broken_honest_update_is_left_out(attack, bad):
    honest = honest_updates(8, 5, seed=3)
    honest[0, 2:4] = bad  # The norm of the last one overflows.
    rows = sent(attack, honest, 2)
    assert torch.isfinite(rows).all()
    assert rows.abs().max() < 1e8


@pytest.mark.parametrize("attack", COLLUDING, ids=str)
def test_if_every_honest_update_is_broken_zeros_are_sent(attack):
    honest = torch.full((4, 3), float("nan"))
    assert torch.equal(sent(attack, honest, 2), torch.zeros(2, 3))


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_attackers_that_are_no_minority_are_refused_by_name(attack):
    with pytest.raises(ValueError, match=r"f = 4 .* h = 4 .* n = 8; allowed: 2f < n, so f <= 3"):
        sent(attack, honest_updates(4, 3), 4)


@pytest.mark.parametrize(
    ("f", "error", "message"),
    [
        (-1, ValueError, "f = -1"),
        (1.5, TypeError, r"f = 1\.5 is a float"),
        ("2", TypeError, "f = '2' is a str"),
        (True, TypeError, "f = True"),
    ],
)
def test_a_wrong_f_is_named(f, error, message):
    with pytest.raises(error, match=message):
        Zero()(honest_updates(4, 3), f)


@pytest.mark.parametrize(
    ("honest", "error", "message"),
    [
        (torch.zeros(3, dtype=torch.float32), ValueError, r"honest has shape \(3,\)"),
        (torch.zeros(3, 2, dtype=torch.int64), TypeError, "honest has dtype torch.int64"),
        (torch.zeros(0, 2), ValueError, "honest is empty"),
        ([torch.zeros(2), torch.zeros(3)], ValueError, r"honest\[1\] has shape"),
        ([], ValueError, "honest is empty"),
        (7, TypeError, "honest is a int"),
        (np.zeros((3, 2), dtype=np.int32), TypeError, "honest has dtype int32"),
    ],
    ids=str,
)
def test_wrong_honest_updates_are_named(honest, error, message):
    with pytest.raises(error, match=message):
        Zero()(honest, 1)


@pytest.mark.parametrize("attack", BLIND + COLLUDING + OTHERS, ids=str)
def test_an_attack_is_a_frozen_value_with_a_state_to_save(attack):
    with pytest.raises(AttributeError):
        attack.anything = 1
    run = attack.fresh()
    run.load_state_dict(run.state_dict())


def test_an_attack_without_memory_refuses_a_state():
    assert Zero().fresh() == Zero()
    with pytest.raises(ValueError, match=r"keys \['round'\].*Zero"):
        Zero().load_state_dict({"round": 3})


def test_a_third_party_attack_needs_one_method():
    class Double(ColludingAttack):
        def row(self, seen, rule, generator):
            return 2 * seen.honest[0] + seen.n + seen.f

    assert isinstance(Double(), Attack)
    assert Double()(torch.ones(3, 2), 2).tolist() == [[9.0, 9.0], [9.0, 9.0]]


SCALES = [2.0**-997, 2.0**-400, 2.0**-140, 2.0**140, 2.0**400, 2.0**997]
EQUIVARIANT = [attack for attack in ATTACKS if attack.scale_equivariant]


@pytest.mark.parametrize("attack", EQUIVARIANT, ids=str)
@pytest.mark.parametrize("scale", SCALES, ids="{:.0e}".format)
@pytest.mark.parametrize("rule", [RULE, NNM() | GeometricMedian()], ids=str)
def test_updates_of_any_size_are_met_in_proportion(attack, scale, rule):
    honest = honest_updates(7, 6, seed=5)
    expected = sent(attack, honest, 3, rule)
    assert torch.equal(sent(attack, honest * scale, 3, rule), expected * scale)


@pytest.mark.parametrize(
    "attack", [attack for attack in EQUIVARIANT if not isinstance(attack, Optimal)], ids=str
)
@pytest.mark.parametrize("scale", [1e-300, 3e-120, 7e80, 1e160, 1e300], ids=str)
def test_factors_that_are_no_powers_of_two_pass_through_too(attack, scale):
    honest = honest_updates(7, 6, seed=5)
    expected = sent(attack, honest, 3)
    torch.testing.assert_close(sent(attack, honest * scale, 3) / scale, expected, rtol=1e-9, atol=0)


def test_all_attacks_but_those_that_go_by_something_else_are_scale_equivariant():
    others = {type(attack).__name__ for attack in ATTACKS if not attack.scale_equivariant}
    assert others == {"Gaussian", "Infinite", "NaN", "Patient", "PoisonedFL", "WorstOf"}


PARTIAL = [FangKrum(knowledge="partial"), FangTrim(sample=False, knowledge="partial")]


@pytest.mark.parametrize("attack", PARTIAL, ids=str)
def test_attackers_with_partial_knowledge_learn_nothing_of_the_honest_updates(attack):
    own = honest_updates(3, 6, seed=1)
    for seed in (2, 3):
        rows = attack(honest_updates(5, 6, seed), 3, own=own)
        assert torch.equal(rows, attack(torch.zeros(5, 6).double(), 3, own=own))


@pytest.mark.parametrize("attack", PARTIAL, ids=str)
def test_own_updates_that_are_missing_or_of_another_shape_are_named(attack):
    honest = honest_updates(5, 6)
    with pytest.raises(ValueError, match=r"own is None; allowed: updates \(2, 6\)"):
        attack(honest, 2)
    with pytest.raises(ValueError, match=r"own has shape \(3, 6\); allowed: \(2, 6\)"):
        attack(honest, 2, own=honest[:3])


@pytest.mark.parametrize("attack", PARTIAL, ids=str)
def test_a_broken_update_of_an_attackers_own_is_left_out(attack):
    honest, own = honest_updates(5, 6), honest_updates(3, 6, seed=1)
    own[1, 2] = float("nan")
    alone = attack(honest, 2, own=own[[0, 2]])
    assert torch.equal(attack(honest, 3, own=own)[:2], alone)


def test_what_the_server_does_changes_nothing_unless_an_attack_says_so():
    assert Zero().observe(torch.ones(3), 0.1) is None


@pytest.mark.parametrize("attack", COLLUDING, ids=str)
def test_duplicated_honest_updates_are_no_obstacle(attack):
    honest = honest_updates(3, 5).repeat(3, 1)
    rows = sent(attack, honest, 4)
    assert torch.isfinite(rows).all()
    assert rows.abs().max() <= 20 * honest.abs().max()


def test_an_attack_that_does_not_claim_it_sees_updates_as_they_are():
    class Plain(ColludingAttack):
        def row(self, seen, rule, generator):
            assert seen.exponent == 0
            return seen.honest[0]

    honest = honest_updates(3, 2) * 1e200
    assert torch.equal(Plain()(honest, 1), honest[:1])


def test_attacks_have_nothing_to_say_unless_they_do():
    assert Zero().note(10, 1) is None


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_the_default_dtype_of_torch_changes_nothing(attack):
    honest = honest_updates(6, 5, dtype=torch.float32)
    expected = sent(attack, honest, 2)
    torch.set_default_dtype(torch.float64)
    try:
        found = sent(attack, honest, 2)
    finally:
        torch.set_default_dtype(torch.float32)
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def test_attackers_know_which_rows_of_all_the_server_will_not_drop():
    honest = honest_updates(4, 5)
    honest[1, 2] = float("nan")
    seen = look(honest, 2)
    assert seen.dropped == 1
    assert seen.rows.tolist() == [0, 2, 3, 4, 5]


def test_attackers_with_partial_knowledge_take_their_own_updates_for_all_unless_told_otherwise():
    class Blinkered(FOE):
        partial_knowledge = True

    honest, own = honest_updates(7, 5, 1), honest_updates(3, 5, 2)
    torch.testing.assert_close(
        Blinkered(epsilon=2.0)(honest, 3, own=own), (-2.0 * own.mean(0)).expand(3, -1)
    )
