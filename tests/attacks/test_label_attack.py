"""What every attack on labels takes and gives."""

import numpy as np
import pytest
import torch

from wola.attacks import LabelFlip, LabelShift


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int32, torch.int64], ids=str)
def test_dtype_and_shape_are_kept(dtype):
    labels = torch.tensor([[0, 99], [50, 1]], dtype=dtype)
    shifted = LabelShift(90).labels(labels, 100)
    assert shifted.dtype == dtype
    assert shifted.tolist() == [[90, 89], [40, 91]]


def test_numpy_in_gives_numpy_out():
    labels = np.array([0, 3, 9], dtype=np.uint8)
    flipped = LabelFlip().labels(labels, 10)
    assert flipped.dtype == np.uint8
    assert flipped.tolist() == [9, 6, 0]
    assert labels.tolist() == [0, 3, 9]


@pytest.mark.parametrize("bad", [-1, 10])
def test_a_label_outside_the_classes_is_named(bad):
    with pytest.raises(ValueError, match=f"labels holds {bad} with classes = 10; allowed: 0 to 9"):
        LabelFlip().labels(torch.tensor([0, bad]), 10)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (torch.tensor([0.0]), "labels has dtype torch.float32"),
        (torch.tensor([True]), "labels has dtype torch.bool"),
        (np.array([0.5]), "labels has dtype float64"),
        ([0, 1], "labels is a list"),
    ],
    ids=str,
)
def test_labels_of_a_wrong_kind_are_refused(labels, message):
    with pytest.raises(TypeError, match=message):
        LabelShift().labels(labels, 3)


@pytest.mark.parametrize(
    ("classes", "error"), [(0, ValueError), (2.0, TypeError), (True, TypeError)]
)
def test_a_wrong_number_of_classes_is_named(classes, error):
    with pytest.raises(error, match=f"classes = {classes}"):
        LabelFlip().labels(torch.tensor([0]), classes)
