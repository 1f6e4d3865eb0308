import pytest

from wola.data import (
    Cifar10,
    Csv,
    Digits,
    ImageFolder,
    Iris,
    Mnist,
    Npz,
    Parquet,
    default_partition,
)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (Digits(), "dirichlet"),
        (Iris(), "dirichlet"),
        (Mnist(), "dirichlet"),
        (Cifar10("a folder"), "dirichlet"),
        (Npz("not there.npz"), "dirichlet(mode=disjoint)"),
        (ImageFolder("not there"), "dirichlet(mode=disjoint)"),
        (Csv("not there.csv"), "dirichlet(mode=disjoint)"),
        (Csv("not there.csv", client="site"), "clients"),
        (Parquet("not there.parquet", client="site", test="x"), "clients"),
    ],
    ids=str,
)
def test_own_data_keep_their_label_mix_by_default(source, text):
    assert default_partition(source) == text
