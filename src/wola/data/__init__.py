"""Data: datasets, one's own among them, and how they are divided among workers."""

from collections.abc import Mapping

from wola.data.arrays import Arrays, DataError
from wola.data.augmentation import HorizontalFlip, horizontal_flip
from wola.data.clients import Clients
from wola.data.content import content_digest
from wola.data.dataset import Dataset, make_dataset
from wola.data.dirichlet import Dirichlet
from wola.data.embedded import Digits, Iris
from wola.data.groups import Groups
from wola.data.indices import FromIndices
from wola.data.indices_file import IndicesFile
from wola.data.label_mix import LabelMix, label_shift
from wola.data.load import cached_file, fetch, load
from wola.data.own import ImageFolder, Npz
from wola.data.paper_datasets import Cifar10, FashionMnist, Mnist, Purchase100
from wola.data.partition import (
    DrawnPartition,
    Partition,
    partition_counts,
    resampled_test_indices,
)
from wola.data.pictures import partition_figure, partition_table, sample_figure
from wola.data.public import SOURCES
from wola.data.registry import DATASETS
from wola.data.server_share import (
    SERVER_SHARES,
    EqualShare,
    PriorShare,
    ServerShare,
    SkewedShare,
)
from wola.data.shards import Shards
from wola.data.similarity import GammaSimilarity, Iid
from wola.data.source import DataSource, default_partition
from wola.data.tables import Csv, Parquet

#: Every partition that a scenario can name.
PARTITIONS: Mapping[str, type[Partition]] = {
    "dirichlet": Dirichlet,
    "iid": Iid,
    "shards": Shards,
    "gamma-similarity": GammaSimilarity,
    "groups": Groups,
    "clients": Clients,
    "indices": IndicesFile,
}

__all__ = [
    "DATASETS",
    "PARTITIONS",
    "SERVER_SHARES",
    "SOURCES",
    "Arrays",
    "Cifar10",
    "Clients",
    "Csv",
    "DataError",
    "DataSource",
    "Dataset",
    "Digits",
    "Dirichlet",
    "DrawnPartition",
    "EqualShare",
    "FashionMnist",
    "FromIndices",
    "GammaSimilarity",
    "Groups",
    "HorizontalFlip",
    "Iid",
    "ImageFolder",
    "IndicesFile",
    "Iris",
    "LabelMix",
    "Mnist",
    "Npz",
    "Parquet",
    "Partition",
    "PriorShare",
    "Purchase100",
    "ServerShare",
    "Shards",
    "SkewedShare",
    "cached_file",
    "content_digest",
    "default_partition",
    "fetch",
    "horizontal_flip",
    "label_shift",
    "load",
    "make_dataset",
    "partition_counts",
    "partition_figure",
    "partition_table",
    "resampled_test_indices",
    "sample_figure",
]
