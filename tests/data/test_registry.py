from dataclasses import FrozenInstanceError, fields, is_dataclass

import pytest

from wola.data import DATASETS, load
from wola.data.source import DataSource

OWN = {"npz", "folder", "csv", "parquet"}


@pytest.mark.parametrize("name", DATASETS)
def test_every_dataset_is_a_frozen_value_with_a_name_and_one_line_about_it(name):
    kind = DATASETS[name]
    assert issubclass(kind, DataSource)
    assert is_dataclass(kind)
    assert kind.name == name
    assert kind.own == (name in OWN)
    first = kind.__doc__.split("\n")[0]
    assert first.endswith(".")
    value = kind("place") if name in OWN else kind()
    assert value == (kind("place") if name in OWN else kind())
    assert len({value, value}) == 1
    for field in fields(value):
        with pytest.raises(FrozenInstanceError):
            setattr(value, field.name, "other")


@pytest.mark.parametrize("name", DATASETS)
def test_own_data_alone_name_files(name):
    kind = DATASETS[name]
    files = (kind("place") if name in OWN else kind()).files()
    assert [file.name for file in files] == (["place"] if name in OWN else [])


@pytest.mark.parametrize("name", ["digits", "iris"])
def test_a_value_loads_what_its_name_loads(name):
    assert DATASETS[name]().load().digest() == load(name).digest()
    assert DATASETS[name]().load().name == name
