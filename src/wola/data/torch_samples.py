"""The arrays of map-style torch datasets: pairs of an input and a label."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from wola.data.arrays import Arrays, DataError
from wola.data.own_arrays import as_array, own_arrays
from wola.data.samples import plain_list, stacked_inputs


def torch_arrays(
    train: Any,
    test: Any = None,
    *,
    classes: Sequence[str] | None = None,
    clients: Any = None,
    origin: str,
) -> Arrays:
    """The arrays of a torch dataset, with its own class names unless ``classes`` are given.

    >>> torch_arrays([([0.0], 1), ([1.0], 0), ([0.5], 1), ([0.2], 0)], origin="a doctest").y_test
    array([0])
    """
    parts = [*_pairs(train, f"train of {origin}")]
    if test is not None:
        parts += _pairs(test, f"test of {origin}")
    names = own_classes(train) if classes is None else classes
    return own_arrays(*parts, classes=names, clients=clients, origin=origin)


def own_classes(dataset: Any) -> list[str] | None:
    """The ``classes`` of a dataset, or of the one it is a subset of; None if it names none.

    >>> own_classes([])
    """
    while dataset is not None:
        names = getattr(dataset, "classes", None)
        if isinstance(names, list | tuple):
            return [str(name) for name in names]
        dataset = getattr(dataset, "dataset", None)
    return None


def _pairs(dataset: Any, origin: str) -> tuple[NDArray[Any], NDArray[Any]]:
    if not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
        raise DataError(
            f"{origin} is a {type(dataset).__name__}; expected a map-style dataset, with a length "
            "and samples by number"
        )
    inputs, labels = [], []
    for number in range(len(dataset)):
        sample = dataset[number]
        if not isinstance(sample, tuple | list) or len(sample) != 2:
            raise DataError(
                f"{origin}: sample {number} is a {type(sample).__name__}; expected a pair "
                "(input, label)"
            )
        inputs.append(sample[0])
        labels.append(sample[1])
    return stacked_inputs(inputs, origin), as_array(plain_list(labels))
