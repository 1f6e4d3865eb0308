"""Label shifting."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.attacks import LabelShift


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(-40, 40), st.data())
def test_labels_move_on_by_k_and_back_again(classes, k, data):
    labels = data.draw(st.lists(st.integers(0, classes - 1), max_size=20))
    given_labels = torch.tensor(labels, dtype=torch.int64)
    shifted = LabelShift(k).labels(given_labels, classes)
    assert shifted.tolist() == [(y + k) % classes for y in labels]
    assert torch.equal(LabelShift(-k).labels(shifted, classes), given_labels)
    assert given_labels.tolist() == labels


@pytest.mark.parametrize("k", [1.5, "1", True])
def test_a_wrong_shift_is_named(k):
    with pytest.raises(TypeError, match=r"k = .*allowed: an int"):
        LabelShift(k)
