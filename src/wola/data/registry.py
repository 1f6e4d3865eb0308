"""The datasets by name."""

from collections.abc import Mapping

from wola.data.embedded import Digits, Iris
from wola.data.own import ImageFolder, Npz
from wola.data.paper_datasets import Cifar10, FashionMnist, Mnist, Purchase100
from wola.data.source import DataSource
from wola.data.tables import Csv, Parquet

KINDS: tuple[type[DataSource], ...] = (
    Digits, Iris, Mnist, FashionMnist, Cifar10, Purchase100, Npz, ImageFolder, Csv, Parquet,
)  # fmt: skip

#: Every source by the name that a scenario gives it.
DATASETS: Mapping[str, type[DataSource]] = {kind.name: kind for kind in KINDS}
