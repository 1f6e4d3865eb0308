"""Label flipping."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wola.attacks import LabelFlip


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.data())
def test_labels_are_counted_from_the_other_end_and_back_again(classes, data):
    labels = data.draw(st.lists(st.integers(0, classes - 1), max_size=20))
    given_labels = torch.tensor(labels, dtype=torch.int64)
    flipped = LabelFlip().labels(given_labels, classes)
    assert flipped.tolist() == [classes - 1 - y for y in labels]
    assert torch.equal(LabelFlip().labels(flipped, classes), given_labels)
    assert given_labels.tolist() == labels
