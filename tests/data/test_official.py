import re

from wola.data import DATASETS, official
from wola.data.cifar import BATCHES
from wola.data.idx import IDX_FILES


def test_every_official_file_has_a_checksum():
    for checksums in (official.MNIST_CHECKSUMS, official.FASHION_CHECKSUMS):
        assert tuple(checksums) == IDX_FILES
    assert tuple(official.CIFAR10_CHECKSUMS) == tuple(f"{batch}.bin" for batch in BATCHES)
    tables = (official.MNIST_CHECKSUMS, official.FASHION_CHECKSUMS, official.CIFAR10_CHECKSUMS)
    values = [value for table in tables for value in table.values()]
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in values)
    assert len(set(values)) == len(values) == 14


def test_only_purchase100_is_downloaded_without_a_checksum():
    unchecked = {
        name
        for name, kind in DATASETS.items()
        for remote in getattr(kind, "remotes", ())
        if remote.checksum is None
    }
    assert unchecked == {"purchase100"}


def test_every_dataset_says_what_it_is_and_ten_classes_have_names():
    assert all(len((kind.__doc__ or "").split("\n")[0]) > 20 for kind in DATASETS.values())
    for names in (official.DIGIT_NAMES, official.FASHION_NAMES, official.CIFAR10_NAMES):
        assert len(set(names)) == 10
    flips = {name for name, kind in DATASETS.items() if getattr(kind, "augment", None)}
    assert flips == {"fashion-mnist", "cifar10"}
