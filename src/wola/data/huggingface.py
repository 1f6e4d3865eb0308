"""The arrays of Hugging Face tables, by the names of their columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wola.data.arrays import Arrays, DataError
from wola.data.own_arrays import as_array, own_arrays
from wola.data.samples import plain_list, stacked_inputs


def huggingface_arrays(
    train: Any,
    test: Any = None,
    *,
    inputs: str | Sequence[str] = "image",
    label: str = "label",
    client: str | None = None,
    origin: str,
) -> Arrays:
    """The arrays of one or two ``datasets.Dataset``; anything with columns by name will do.

    ``datasets`` itself is not needed: a table has ``column_names`` and gives a column by its name;
    ``features[label].names`` are the class names where they exist.
    """
    parts = [_inputs(train, inputs, "train"), _values(train, label, "train", "label")]
    if test is not None:
        parts += [_inputs(test, inputs, "test"), _values(test, label, "test", "label")]
    names = getattr((getattr(train, "features", None) or {}).get(label), "names", None)
    clients = None if client is None else _values(train, client, "train", "client")
    return own_arrays(*parts, classes=names, clients=clients, origin=origin)


def _inputs(table: Any, inputs: str | Sequence[str], part: str) -> NDArray[Any]:
    if isinstance(inputs, str):
        return stacked_inputs(_column(table, inputs, part, "inputs"), f"{part}, column {inputs!r}")
    columns = [_values(table, name, part, "inputs") for name in inputs]
    if not columns:
        raise DataError(f"inputs = {inputs!r}; expected a column or several")
    return np.stack(columns, axis=1)


def _values(table: Any, name: str, part: str, argument: str) -> NDArray[Any]:
    return as_array(plain_list(_column(table, name, part, argument)))


def _column(table: Any, name: str, part: str, argument: str) -> list[Any]:
    columns = getattr(table, "column_names", None)
    if isinstance(columns, Mapping):
        splits = ", ".join(map(str, columns))
        raise DataError(
            f"{part} is a collection of splits ({splits}); expected one of them, such as "
            f"{part}=data[{next(iter(columns), 'train')!r}]"
        )
    if columns is None:
        raise DataError(f"{part} is a {type(table).__name__}; expected a table with column_names")
    if name not in columns:
        raise DataError(f"{argument} = {name!r}; expected a column of {part}: {', '.join(columns)}")
    return list(table[name])
