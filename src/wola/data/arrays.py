"""What a reader returns: the four arrays of a dataset, checked, and the error it raises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wola.ground.files import write_whole

SPLIT_SEED = 20_240_607
TEST_SHARE = 5


class DataError(ValueError):
    """A dataset could not be read, fetched or written; the message says what was expected.

    >>> raise DataError("labels.gz cannot be read")
    Traceback (most recent call last):
    wola.data.arrays.DataError: labels.gz cannot be read
    """


@dataclass(frozen=True, eq=False)
class Arrays:
    """A dataset as read: inputs (N, ...) uint8 or float32, labels (N,) int64, class names.

    Made by :func:`checked_arrays`, which refuses arrays that do not fit together. ``classes`` is
    empty where the source has no names. ``clients`` (N,) int64 says which of ``client_names`` each
    training sample belongs to, where the source knows.

    >>> x, y = np.zeros((2, 3), dtype=np.float32), np.array([0, 1])
    >>> Arrays(x, y, x, y).classes
    ()
    """

    x_train: NDArray[Any]
    y_train: NDArray[np.int64]
    x_test: NDArray[Any]
    y_test: NDArray[np.int64]
    classes: tuple[str, ...] = ()
    clients: NDArray[np.int64] | None = None
    client_names: tuple[str, ...] = ()


def checked_arrays(
    x_train: NDArray[Any],
    y_train: NDArray[Any],
    x_test: NDArray[Any],
    y_test: NDArray[Any],
    *,
    classes: Sequence[str] = (),
    origin: str,
) -> Arrays:
    """The arrays in their final types, or a :class:`DataError` that names ``origin``.

    Inputs stay uint8 or become float32 and must be finite; labels are whole numbers from 0, below
    the number of ``classes`` where there are names. Grey images (N, H, W) become (N, 1, H, W).

    >>> made = checked_arrays(*[np.zeros((2, 3)), np.arange(2)] * 2, origin="a doctest")
    >>> made.x_train.dtype, made.y_test
    (dtype('float32'), array([0, 1]))
    """
    inputs = [_inputs(x, f"x_{part} of {origin}") for part, x in _parts(x_train, x_test)]
    labels = [_labels(y, f"y_{part} of {origin}") for part, y in _parts(y_train, y_test)]
    for (part, x), y in zip(_parts(*inputs), labels, strict=True):
        if len(x) != len(y):
            raise DataError(
                f"{origin}: x_{part} has {len(x)} samples and y_{part} {len(y)} labels; "
                "expected one label per sample"
            )
    if inputs[0].shape[1:] != inputs[1].shape[1:] or inputs[0].dtype != inputs[1].dtype:
        raise DataError(
            f"{origin}: train samples are {inputs[0].dtype} {inputs[0].shape[1:]}, test samples "
            f"{inputs[1].dtype} {inputs[1].shape[1:]}; expected the same"
        )
    if classes and max(int(y.max()) for y in labels) >= len(classes):
        raise DataError(
            f"{origin}: label {max(int(y.max()) for y in labels)}; expected 0 to "
            f"{len(classes) - 1}, since there are {len(classes)} class names"
        )
    return Arrays(inputs[0], labels[0], inputs[1], labels[1], tuple(classes))


def split(x: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """x_train, y_train, x_test, y_test: one sample in five for the test, the same in each class.

    For data that comes in one piece. The seed ``SPLIT_SEED`` shuffles the samples; in the order
    of their labels, every fifth is a test sample. Both parts keep the order of the source.

    >>> x_train, y_train, x_test, y_test = split(np.arange(10), np.array([0] * 5 + [1] * 5))
    >>> y_train, y_test
    (array([0, 0, 0, 0, 1, 1, 1, 1]), array([0, 1]))
    """
    test = held_out_rows(y)
    return x[~test], y[~test], x[test], y[test]


def held_out_rows(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Which samples :func:`split` takes for the test, (N,).

    >>> int(held_out_rows(np.zeros(10)).sum())
    2
    """
    generator = torch.Generator().manual_seed(SPLIT_SEED)
    shuffled = torch.randperm(len(y), generator=generator).numpy()
    by_class = shuffled[np.argsort(y[shuffled], kind="stable")]
    test = np.zeros(len(y), dtype=bool)
    test[by_class[::TEST_SHARE]] = True
    return test


def _parts(train: NDArray[Any], test: NDArray[Any]) -> tuple[tuple[str, NDArray[Any]], ...]:
    return ("train", train), ("test", test)


def _inputs(x: NDArray[Any], name: str) -> NDArray[Any]:
    if x.ndim < 2 or x.ndim > 4 or x.size == 0:
        raise DataError(
            f"{name} has shape {x.shape}; expected (N, features), (N, H, W) or (N, C, H, W), "
            "with no dimension of size 0"
        )
    if x.ndim == 3:
        x = x[:, None]
    if x.dtype == np.uint8:
        # Views of a file's bytes are read-only, which torch does not take.
        return np.require(x, requirements=["C", "W"])
    if x.dtype.kind not in "biuf":
        raise DataError(f"{name} has dtype {x.dtype}; expected numbers")
    x = x.astype(np.float32)
    if not np.isfinite(x).all():
        raise DataError(f"{name} holds values that are not finite in float32; expected none")
    return x


def _labels(y: NDArray[Any], name: str) -> NDArray[np.int64]:
    if y.ndim != 1 or y.dtype.kind not in "iu":
        raise DataError(f"{name} is {y.dtype} {y.shape}; expected whole numbers, shape (N,)")
    labels = y.astype(np.int64)
    if labels.size and labels.min() < 0:
        raise DataError(f"{name} holds {labels.min()}; expected labels from 0")
    return labels


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Writes arrays by name as an ``.npz``, whole or not at all."""
    write_whole(path, lambda stream: np.savez(stream, allow_pickle=False, **arrays))
