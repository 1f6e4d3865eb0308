"""A store of its own for every test."""

from pathlib import Path

import pytest

from wola.bench.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store")
