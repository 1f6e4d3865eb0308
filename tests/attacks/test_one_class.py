"""Training on the rarest class that the attackers hold."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.attacks import LabelFlip, LabelShift, OneClass


@given(st.data())
def test_all_samples_of_the_rarest_class_held_are_chosen_and_no_others(data):
    classes = data.draw(st.integers(1, 8))
    labels = data.draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=40))
    honest = data.draw(st.lists(st.integers(0, 5), min_size=classes, max_size=classes))
    rarest = sorted(set(labels), key=lambda c: (honest[c], c))[0]
    chosen = OneClass().choose(torch.tensor(labels), torch.tensor(honest))
    assert chosen.tolist() == [y == rarest for y in labels]


def test_a_class_that_no_attacker_holds_is_passed_over():
    chosen = OneClass().choose(torch.tensor([1, 2, 2]), torch.tensor([0, 9, 4]))
    assert chosen.tolist() == [False, True, True]


def test_no_label_is_changed():
    labels = torch.tensor([3, 0, 2, 2])
    assert torch.equal(OneClass().labels(labels, 4), labels)


@pytest.mark.parametrize("attack", [LabelFlip(), LabelShift()])
def test_other_label_attacks_choose_every_sample(attack):
    assert attack.choose(torch.tensor([1, 0, 1]), torch.tensor([5, 0])).tolist() == [True] * 3
