"""Where a dataset comes from: a value with parameters and one verb, load."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from wola.data.dataset import Dataset


class DataSource(ABC):
    """A dataset before it is loaded: a frozen value whose parameters say where it is.

    ``name`` is what ``DATASETS`` calls it, and the name of the dataset it loads. ``own`` tells
    whether it is the user's own data. The first line of its docstring is what ``wola list`` shows.

    >>> class Coin(DataSource):
    ...     name = "coin"
    ...     def load(self):
    ...         return Dataset.from_arrays([[0.0], [1.0]] * 4, ["heads", "tails"] * 4, name="coin")
    >>> Coin().load().classes
    ('heads', 'tails')
    """

    name: ClassVar[str]
    own: ClassVar[bool] = False

    @abstractmethod
    def load(self) -> Dataset:
        """The dataset."""

    def files(self) -> list[Path]:
        """The files and folders whose content decides the data; none where the name decides it."""
        return []

    def names_clients(self) -> bool:
        """Whether the parameters alone say that every sample belongs to a client."""
        return False


def default_partition(source: DataSource) -> str:
    """The partition that suits a source, as text, decided from its parameters without loading.

    Data of the user's own keep their label mix: natural clients where a column names them, else
    every sample at one worker at most and the test set as it is. Public data are divided as in
    the paper.

    >>> from wola.data.registry import DATASETS
    >>> from wola.data.tables import Csv
    >>> default_partition(Csv("data.csv", client="site"))
    'clients'
    >>> default_partition(Csv("data.csv")), default_partition(DATASETS["iris"]())
    ('dirichlet(mode=disjoint)', 'dirichlet')
    """
    if source.names_clients():
        return "clients"
    return "dirichlet(mode=disjoint)" if source.own else "dirichlet"
