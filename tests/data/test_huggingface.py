from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image

from wola.data import DataError, Dataset

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (6, 3, 4), dtype=np.uint8)


class Table:
    """As datasets.Dataset: columns by name, and features with class names."""

    def __init__(self, names=None, **columns):
        self.columns = columns
        self.features = {name: SimpleNamespace() for name in columns}
        if names is not None:
            self.features["label"].names = names

    @property
    def column_names(self):
        return list(self.columns)

    def __getitem__(self, name):
        return self.columns[name]


def images(names=("a", "b"), **more):
    pictures = [Image.fromarray(image) for image in PIXELS]
    return Table(names, image=pictures, label=[0, 1] * 3, **more)


def test_images_come_with_the_names_of_their_label_feature():
    dataset = Dataset.from_huggingface(images(), images())
    assert dataset.classes == ("a", "b")
    np.testing.assert_array_equal(dataset.x_train[:, 0], PIXELS)
    assert dataset.y_test.tolist() == [0, 1] * 3
    assert (dataset.name, dataset.scale) == ("huggingface", 255)


def test_columns_of_any_name_and_a_client_column_are_taken():
    table = Table(
        pixels=[[1.0, 2.0]] * 5 + [[3.0, 4.0]] * 5, kind=["x"] * 5 + ["y"] * 5, writer=[7, 9] * 5
    )
    dataset = Dataset.from_huggingface(table, inputs="pixels", label="kind", client="writer")
    assert dataset.classes == ("x", "y")
    assert dataset.client_names == ("7", "9")
    assert len(dataset.clients) == len(dataset.y_train) == 8


def test_several_columns_of_numbers_are_the_features():
    table = Table(a=[1, 2, 3, 4], label=[0, 1, 0, 1], b=[5.5, 6.5, 7.5, 8.5])
    dataset = Dataset.from_huggingface(table, table, inputs=["b", "a"])
    assert dataset.x_train.tolist() == [[5.5, 1], [6.5, 2], [7.5, 3], [8.5, 4]]


def test_columns_of_tensors_are_taken():
    table = Table(image=torch.zeros(4, 1, 2, 2), label=torch.tensor([0, 1, 0, 1]))
    assert Dataset.from_huggingface(table).sample_shape == (1, 2, 2)


def test_a_table_without_features_needs_none():
    table = images(names=None)
    del table.features
    assert Dataset.from_huggingface(table).classes == ("0", "1")


def test_an_unlabelled_sample_is_refused():
    table = images()
    table.columns["label"] = [0, 1, -1, 0, 1, 0]
    with pytest.raises(DataError, match="holds -1; expected labels from 0"):
        Dataset.from_huggingface(table, images())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": "img"}, "inputs = 'img'; expected a column of train: image, label"),
        ({"inputs": []}, r"inputs = \[\]; expected a column or several"),
        ({"label": "fine"}, "label = 'fine'; expected a column of train: image, label"),
        ({"client": "who"}, "client = 'who'; expected a column of train: image, label"),
        ({"test": Table(image=[1])}, "label = 'label'; expected a column of test: image"),
        ({"train": [1, 2]}, "train is a list; expected a table with column_names"),
        (
            {"train": SimpleNamespace(column_names={"fit": ["a"], "test": ["a"]})},
            r"train is a collection of splits \(fit, test\); .* train=data\['fit'\]",
        ),
    ],
)
def test_wrong_columns_and_tables_are_named_with_those_that_are_there(arguments, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_huggingface(**{"train": images(), **arguments})
