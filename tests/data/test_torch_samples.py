import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import IterableDataset, Subset, TensorDataset

from wola.data import DataError, Dataset
from wola.data.torch_samples import own_classes

X = torch.arange(24.0).view(12, 2)
Y = torch.tensor([0, 1, 2] * 4)


class Photographs(torch.utils.data.Dataset):
    """As torchvision's: PIL images with whole numbers, and the names of the classes."""

    classes = ("cat", "dog", "eel")

    def __init__(self, count):
        self.pixels = np.random.default_rng(0).integers(0, 256, (count, 4, 5, 3), dtype=np.uint8)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        return Image.fromarray(self.pixels[index]), index % 3


def test_tensors_with_a_test_set_come_through_unchanged():
    dataset = Dataset.from_torch(TensorDataset(X, Y), TensorDataset(X[:3], Y[:3]))
    assert torch.equal(dataset.x_train, X)
    assert torch.equal(dataset.y_train, Y)
    assert torch.equal(dataset.x_test, X[:3])
    assert dataset.classes == ("0", "1", "2")
    assert (dataset.name, dataset.scale) == ("torch", 1)


def test_without_a_test_set_it_is_the_split_of_the_arrays():
    one, other = Dataset.from_torch(TensorDataset(X, Y)), Dataset.from_arrays(X, Y)
    assert one.digest() == other.digest()
    assert len(one.y_test) == 3


def test_images_bring_their_class_names_and_are_scaled_by_255():
    dataset = Dataset.from_torch(Photographs(9), Photographs(3))
    assert dataset.classes == ("cat", "dog", "eel")
    assert dataset.sample_shape == (3, 4, 5)
    assert dataset.scale == 255
    assert dataset.y_train.tolist() == [0, 1, 2] * 3
    expected = Photographs(9).pixels.transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(dataset.x_train, expected)


def test_a_subset_keeps_the_names_and_numbers_of_the_whole():
    dataset = Dataset.from_torch(Subset(Subset(Photographs(12), range(9)), [0, 2, 3, 5]))
    assert dataset.classes == ("cat", "dog", "eel")
    assert set(dataset.y_train.tolist()) == {0, 2}


def test_given_names_scale_and_clients_win():
    clients = list("aabbaabbaabb")
    dataset = Dataset.from_torch(
        Photographs(12), Photographs(3), classes=list("xyz"), clients=clients, name="n", scale=2
    )
    assert (dataset.classes, dataset.name, dataset.scale) == (("x", "y", "z"), "n", 2)
    assert [dataset.client_names[c] for c in dataset.clients] == clients


def test_labels_in_words_are_taken():
    pairs = [(torch.zeros(2), "no"), (torch.ones(2), "yes")] * 3
    assert Dataset.from_torch(pairs).classes == ("no", "yes")


def test_a_dataset_without_names_has_none():
    assert own_classes(TensorDataset(X, Y)) is None
    assert own_classes(Subset(TensorDataset(X, Y), [0])) is None


class Endless(IterableDataset):
    def __iter__(self):
        yield X[0], 0


@pytest.mark.parametrize(
    ("train", "message"),
    [
        (Endless(), "train of torch is a Endless; expected a map-style dataset"),
        (TensorDataset(X), r"sample 0 is a tuple; expected a pair \(input, label\)"),
        ([{"image": 1}], r"sample 0 is a dict; expected a pair"),
        ([], "train of torch holds no samples"),
    ],
)
def test_what_is_no_dataset_of_pairs_is_refused(train, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_torch(train)
