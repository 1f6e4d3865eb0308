"""Data: datasets and how they are divided among workers."""

from wola.data.arrays import Arrays, DataError
from wola.data.augmentation import HorizontalFlip, horizontal_flip
from wola.data.dataset import Dataset, make_dataset
from wola.data.dirichlet import Dirichlet
from wola.data.indices import FromIndices
from wola.data.load import SOURCES, cached_file, fetch, load
from wola.data.partition import Partition, partition_counts, resampled_test_indices
from wola.data.pictures import partition_figure, partition_table, sample_figure
from wola.data.registry import DATASETS
from wola.data.shards import Shards
from wola.data.similarity import GammaSimilarity, Iid

PARTITIONS: dict[str, type[Partition]] = {
    "dirichlet": Dirichlet,
    "iid": Iid,
    "shards": Shards,
    "gamma-similarity": GammaSimilarity,
    "indices": FromIndices,
}

__all__ = [
    "DATASETS",
    "PARTITIONS",
    "SOURCES",
    "Arrays",
    "DataError",
    "Dataset",
    "Dirichlet",
    "FromIndices",
    "GammaSimilarity",
    "HorizontalFlip",
    "Iid",
    "Partition",
    "Shards",
    "cached_file",
    "fetch",
    "horizontal_flip",
    "load",
    "make_dataset",
    "partition_counts",
    "partition_figure",
    "partition_table",
    "resampled_test_indices",
    "sample_figure",
]
