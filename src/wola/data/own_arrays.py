"""The arrays of a user's data: labels and clients of any kind numbered, a test set split off."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wola.data.arrays import Arrays, DataError, checked_arrays, held_out_rows

_Labels = NDArray[np.int64]
CHANNELS = (1, 3, 4)
SHOWN = 5


def own_arrays(
    x_train: Any,
    y_train: Any,
    x_test: Any = None,
    y_test: Any = None,
    *,
    classes: Sequence[str] | None = None,
    clients: Any = None,
    origin: str,
) -> Arrays:
    """Checked arrays from whatever holds inputs and labels.

    _Labels that are the numbers 0 to C - 1 stay as they are. Others, numbers with gaps or text,
    become numbers in sorted order, with ``classes`` their names; given ``classes`` decide the order
    of labels in words. ``clients`` has one name or number per sample of ``x_train``. Without a test
    set one sample in five is split off, see :func:`~wola.data.arrays.split`.

    >>> made = own_arrays(np.zeros((4, 2)), ["cat", "ant"] * 2, origin="a doctest")
    >>> made.classes, made.y_train, made.y_test
    (('ant', 'cat'), array([1, 1, 0]), array([0]))
    """
    if (x_test is None) != (y_test is None):
        given, missing = ("y_test", "x_test") if x_test is None else ("x_test", "y_test")
        raise DataError(f"{origin}: {given} without {missing}; expected both or neither")
    x, y = as_array(x_train), as_array(y_train)
    _check_lengths(x, y, f"x_train and y_train of {origin}")
    _check_channels(x, origin)
    labels, tests, names = named_labels(
        y, None if y_test is None else as_array(y_test), classes=classes, origin=origin
    )
    members: _Labels | None = None
    client_names: tuple[str, ...] = ()
    if clients is not None:
        members, client_names = numbered(as_array(clients), f"the clients of {origin}")
        _check_lengths(x, members, f"x_train and the clients of {origin}")
    if tests is None:
        test = held_out_rows(labels)
        parts = x[~test], labels[~test], x[test], labels[test]
        members = None if members is None else members[~test]
    else:
        # Bytes are kept as they come: a copy is safe from what the caller does to theirs.
        parts = x.copy(), labels, as_array(x_test).copy(), tests
    made = checked_arrays(*parts, classes=names, origin=origin)
    _check_learnable(made, origin, split=tests is None)
    return replace(made, clients=members, client_names=client_names)


def as_array(values: Any) -> NDArray[Any]:
    """A NumPy array from an array, a tensor or a sequence.

    >>> import torch
    >>> as_array(torch.tensor([1, 2]))
    array([1, 2])
    """
    try:
        return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)
    except (TypeError, ValueError) as error:
        raise DataError(f"no array can be made ({error}); expected numbers of one shape") from error


def named_labels(
    train: NDArray[Any],
    test: NDArray[Any] | None,
    *,
    classes: Sequence[str] | None = None,
    origin: str,
) -> tuple[_Labels, _Labels | None, tuple[str, ...]]:
    """_Labels as numbers from 0, for training and test, and the names of the classes.

    No names for whole numbers 0 to C - 1, which need none.

    >>> named_labels(np.array([42, 7]), np.array([7]), origin="a doctest")
    (array([1, 0]), array([0]), ('7', '42'))
    """
    y = plain_values(train, f"y_train of {origin}")
    other = None if test is None else plain_values(test, f"y_test of {origin}")
    if classes is not None:
        names = tuple(map(str, classes))
        if len(set(names)) < len(names):
            raise DataError(f"{origin}: classes = {', '.join(names)}; expected each name once")
        if y.dtype.kind in "iu":
            return y, other, names
        known = np.array(names)
    else:
        names, known = (), np.unique(y)
        if y.dtype.kind in "iu" and np.array_equal(known, np.arange(len(known))):
            known = known.astype(np.int64)
        else:
            names = tuple(str(value) for value in known.tolist())
    return (
        _positions(y, known, f"y_train of {origin}"),
        None if other is None else _positions(other, known, f"y_test of {origin}"),
        names,
    )


def numbered(values: NDArray[Any], what: str) -> tuple[_Labels, tuple[str, ...]]:
    """Values as numbers from 0 in sorted order, numbers numerically, and their names.

    >>> numbered(np.array(["lyon", "bern", "lyon"]), "the clients")
    (array([1, 0, 1]), ('bern', 'lyon'))
    """
    known, places = np.unique(plain_values(values, what), return_inverse=True)
    return places.astype(np.int64), tuple(str(value) for value in known.tolist())


def plain_values(values: NDArray[Any], what: str) -> NDArray[Any]:
    """Whole numbers, truth values or text (N,), or a :class:`DataError`.

    >>> plain_values(np.array(["a", "b"], dtype=object), "the labels").dtype.kind
    'U'
    """
    if values.ndim == 1 and values.dtype.kind in "OT":
        kinds = {type(value) for value in values.tolist()}
        if kinds and (kinds <= {str} or kinds <= {int}):
            values = np.array(values.tolist())
    if values.ndim != 1 or values.dtype.kind not in "biuU":
        raise DataError(
            f"{what}: {values.dtype} of shape {values.shape}; expected whole numbers or text, "
            "shape (N,)"
        )
    return values


def _positions(values: NDArray[Any], known: NDArray[Any], what: str) -> _Labels:
    numbers = {value: place for place, value in enumerate(known.tolist())}
    unknown = sorted({value for value in values.tolist() if value not in numbers}, key=str)
    if unknown:
        raise DataError(
            f"{what} holds {_shown(unknown)}; expected the labels of the training set or the "
            f"given classes: {_shown(known.tolist())}"
        )
    return np.array([numbers[value] for value in values.tolist()], dtype=np.int64)


def _check_learnable(made: Arrays, origin: str, *, split: bool) -> None:
    unseen = np.setdiff1d(made.y_test, made.y_train)
    if len(unseen):
        names = [made.classes[label] if made.classes else int(label) for label in unseen]
        hint = "each class needs two samples, or give a test set" if split else "remove them"
        raise DataError(
            f"{origin}: the test set holds {_shown(names)}, which the training set lacks; expected "
            f"test labels that training has: {hint}"
        )


def _check_channels(x: NDArray[Any], origin: str) -> None:
    if x.ndim == 4 and x.shape[3] in CHANNELS and x.shape[1] > max(CHANNELS):
        raise DataError(
            f"x_train of {origin} has shape {x.shape}, with the channels last; expected "
            "(N, C, H, W): transpose it by (0, 3, 1, 2)"
        )


def _check_lengths(x: NDArray[Any], values: NDArray[Any], what: str) -> None:
    lengths = [len(part) if part.ndim else 0 for part in (x, values)]
    if lengths[0] != lengths[1]:
        raise DataError(f"{what} have lengths {lengths[0]} and {lengths[1]}; expected the same")


def _shown(values: Sequence[Any]) -> str:
    listed = ", ".join(repr(value) for value in values[:SHOWN])
    return listed + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
