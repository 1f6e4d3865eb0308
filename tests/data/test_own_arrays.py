import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wola.data import DataError
from wola.data.arrays import split
from wola.data.own_arrays import as_array, named_labels, numbered, own_arrays, plain_values

X = np.arange(20, dtype=np.float32).reshape(10, 2)
Y = np.array([0, 1] * 5)


def made(y, y_test=None, **more):
    x_test = None if y_test is None else np.zeros((len(y_test), 2))
    return own_arrays(np.zeros((len(y), 2)), y, x_test, y_test, origin="a test", **more)


@pytest.mark.parametrize(
    ("labels", "names", "numbers"),
    [
        ([3, 42, 7, 3], ("3", "7", "42"), [0, 2, 1, 0]),
        ([10, 9, 100, 9], ("9", "10", "100"), [1, 0, 2, 0]),
        ([-1, 1, -1, 1], ("-1", "1"), [0, 1, 0, 1]),
        (["dog", "cat", "dog", "ant"], ("ant", "cat", "dog"), [2, 1, 2, 0]),
        (["10", "9", "10", "9"], ("10", "9"), [0, 1, 0, 1]),
        ([True, False, False, True], ("False", "True"), [1, 0, 0, 1]),
        (np.array(["b", "a", "b", "a"], dtype=object), ("a", "b"), [1, 0, 1, 0]),
        (np.array([5, 3, 5, 3], dtype=object), ("3", "5"), [1, 0, 1, 0]),
        (torch.tensor([8, 2, 8, 2]), ("2", "8"), [1, 0, 1, 0]),
        ([1, 2, 2, 1], ("1", "2"), [0, 1, 1, 0]),
    ],
)
def test_labels_of_any_kind_become_class_names_in_sorted_order(labels, names, numbers):
    arrays = made(labels, y_test=labels)
    assert arrays.classes == names
    assert arrays.y_train.tolist() == arrays.y_test.tolist() == numbers
    assert arrays.y_train.dtype == np.int64


def test_labels_from_0_without_gaps_stay_as_they_are_and_need_no_names():
    for kind in (np.int64, np.uint8, np.int32):
        arrays = made(np.array([2, 0, 1, 2], dtype=kind), y_test=np.array([1], dtype=kind))
        assert arrays.classes == ()
        assert arrays.y_train.tolist() == [2, 0, 1, 2]


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_the_name_of_a_samples_class_is_its_label(labels):
    numbers, tests, names = named_labels(np.array(labels), np.array(labels), origin="a test")
    spoken = [int(names[number]) if names else int(number) for number in numbers]
    assert spoken == labels
    assert numbers.tolist() == tests.tolist()
    assert sorted(set(numbers.tolist())) == list(range(len(set(labels))))


def test_given_class_names_are_the_order_of_labels_in_words():
    arrays = made(["no", "yes", "no"], y_test=["yes"], classes=("yes", "no"))
    assert arrays.classes == ("yes", "no")
    assert arrays.y_train.tolist() == [1, 0, 1]
    assert arrays.y_test.tolist() == [0]


def test_given_class_names_leave_whole_numbers_as_they_are():
    arrays = made([0, 2, 2], y_test=[2], classes=("a", "b", "c"))
    assert arrays.y_train.tolist() == [0, 2, 2]
    assert arrays.classes == ("a", "b", "c")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0, 2]), "y_test of a test holds 2; expected the labels of the training set"),
        ((["a", "b"], ["c", "d"]), "y_test of a test holds 'c', 'd'; expected"),
        (([3, 7], [7, 9]), "y_test of a test holds 9; expected .*: 3, 7"),
        (([0.5, 1.5], [0.5]), r"y_train of a test: float64 of shape \(2,\); expected whole"),
        (([[0], [1]], [0]), r"y_train of a test: int64 of shape \(2, 1\)"),
        ((np.array(["a", 1], dtype=object), ["a"]), "expected whole numbers or text"),
        ((np.array(["a", None], dtype=object), ["a"]), "expected whole numbers or text"),
        (([0, 1], ["a"]), "y_test of a test holds 'a'"),
    ],
)
def test_labels_that_cannot_be_learnt_or_are_none_are_named(arguments, message):
    with pytest.raises(DataError, match=message):
        made(*arguments)


def test_many_unknown_labels_are_cut_short():
    with pytest.raises(DataError, match="holds 10, 11, 12, 13, 14 and 3 more"):
        made([0, 1], y_test=list(range(10, 18)))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"classes": ("a", "a")}, "classes = a, a; expected each name once"),
        ({"classes": ("a",)}, "label 1; expected 0 to 0"),
        ({"classes": ("a", "b", "c"), "y_test": [2]}, "the test set holds 'c', which the training"),
        ({"clients": [1, 2, 3]}, "the clients of a test have lengths 2 and 3"),
        ({"clients": [0.5, 1.5]}, "the clients of a test: float64"),
    ],
)
def test_names_and_clients_that_do_not_fit_are_refused(more, message):
    with pytest.raises(DataError, match=message):
        made([0, 1], **{"y_test": [1], **more})


def test_without_a_test_set_the_one_split_is_used_and_clients_go_along():
    y = np.array([0, 1, 2] * 20)
    x, clients = np.arange(120).reshape(60, 2), np.array([f"site {i % 7}" for i in range(60)])
    arrays = own_arrays(x, y, clients=clients, origin="a test")
    x_train, y_train, x_test, y_test = split(x, y)
    np.testing.assert_array_equal(arrays.x_train, x_train)
    np.testing.assert_array_equal(arrays.x_test, x_test)
    assert arrays.y_train.tolist() == y_train.tolist()
    assert arrays.y_test.tolist() == y_test.tolist()
    rows = arrays.x_train[:, 0].astype(int) // 2
    assert [arrays.client_names[c] for c in arrays.clients] == clients[rows].tolist()


def test_a_class_of_one_sample_cannot_be_split():
    with pytest.raises(DataError, match=r"holds 'ant', which .* each class needs two samples"):
        made(["ant", "bee", "bee", "bee", "bee"])


@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=40))
def test_two_samples_per_class_are_always_enough_for_a_split(letters):
    arrays = made(letters + letters)
    assert set(arrays.y_test.tolist()) <= set(arrays.y_train.tolist())
    assert len(arrays.y_train) + len(arrays.y_test) == 2 * len(letters)


def test_one_half_of_a_test_set_is_refused():
    with pytest.raises(DataError, match="x_test without y_test; expected both or neither"):
        own_arrays(X, Y, X, origin="a test")
    with pytest.raises(DataError, match="y_test without x_test"):
        own_arrays(X, Y, y_test=Y, origin="a test")


def test_inputs_and_labels_of_two_lengths_are_refused():
    with pytest.raises(DataError, match="x_train and y_train of a test have lengths 10 and 3"):
        own_arrays(X, Y[:3], origin="a test")
    with pytest.raises(DataError, match="have lengths 10 and 0"):
        own_arrays(X, 3, origin="a test")


def test_images_with_their_channels_last_are_refused_with_the_remedy():
    with pytest.raises(DataError, match=r"channels last.*transpose it by \(0, 3, 1, 2\)"):
        own_arrays(np.zeros((10, 8, 8, 3), dtype=np.uint8), Y, origin="a test")


def test_what_the_caller_does_to_its_bytes_later_changes_nothing():
    x = np.zeros((10, 2), dtype=np.uint8)
    arrays = own_arrays(x, Y, x, Y, origin="a test")
    x += 1
    assert arrays.x_train.max() == arrays.x_test.max() == 0


def test_ragged_samples_are_refused():
    with pytest.raises(DataError, match="expected numbers of one shape"):
        as_array([[1, 2], [3]])
    with pytest.raises(DataError, match="no array can be made"):
        as_array(torch.zeros(2, dtype=torch.bfloat16))


def test_clients_are_numbered_in_sorted_order_numbers_numerically():
    numbers, names = numbered(np.array([10, 9, 10]), "clients")
    assert (numbers.tolist(), names) == ([1, 0, 1], ("9", "10"))


def test_numpys_own_strings_are_text():
    words = np.array(["a", "b"], dtype=np.dtypes.StringDType())
    assert plain_values(words, "labels").tolist() == ["a", "b"]
