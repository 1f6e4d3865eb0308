import numpy as np
import pytest

from wola.data.arrays import DataError, checked_arrays, split

X = np.zeros((4, 3))
Y = np.array([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"y_train": Y[:3]}, "x_train has 4 samples and y_train 3 labels"),
        ({"x_test": np.zeros((4, 2))}, "expected the same"),
        ({"x_test": np.zeros((4, 3), dtype=np.uint8)}, "expected the same"),
        ({"x_train": np.full((4, 3), np.nan)}, "not finite"),
        ({"x_train": np.full((4, 3), 1e300)}, "not finite"),
        ({"x_train": np.full((4, 3), "a")}, "expected numbers"),
        ({"x_train": np.zeros(4)}, "has shape"),
        ({"x_train": np.zeros((0, 3)), "y_train": Y[:0]}, "has shape"),
        ({"y_test": np.array([0, -1, 0, 0])}, "labels from 0"),
        ({"y_test": Y.astype(float)}, "whole numbers"),
        ({"y_test": np.array([0, 2, 0, 0])}, "label 2; expected 0 to 1"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_arrays_that_do_not_fit_are_refused_with_the_reason(changed, message):
    parts = {"x_train": X, "y_train": Y, "x_test": X, "y_test": Y} | changed
    with pytest.raises(DataError, match=message):
        checked_arrays(**parts, classes=("a", "b"), origin="a test")


def test_grey_images_get_a_channel_and_read_only_bytes_become_writable():
    images = np.frombuffer(bytes(range(24)), np.uint8).reshape(2, 3, 4)
    made = checked_arrays(images, Y[:2], images, Y[:2], origin="a test")
    assert made.x_train.shape == (2, 1, 3, 4)
    assert made.x_train.flags.writeable
    assert made.x_train.dtype == np.uint8
    np.testing.assert_array_equal(made.x_train[:, 0], images)


def test_a_split_takes_a_fifth_of_every_class_and_loses_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 7, 1000)
    x_train, y_train, x_test, y_test = split(np.arange(1000), y)
    assert len(x_test) == 200
    assert sorted([*x_train, *x_test]) == list(range(1000))
    np.testing.assert_array_equal(y[x_train], y_train)
    np.testing.assert_array_equal(y[x_test], y_test)
    assert np.abs(np.bincount(y_test) - np.bincount(y) / 5).max() < 1


def test_a_split_is_the_same_every_time_and_not_every_fifth_of_the_source():
    y = np.zeros(100, dtype=int)
    first, second = (split(np.arange(100), y)[2] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, np.arange(0, 100, 5))
