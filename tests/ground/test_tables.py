"""Tables in Parquet that carry a checksum and stay readable for everybody."""

import io
import random

import polars as pl
import pytest

from wola.ground.sealed import Damaged
from wola.ground.tables import read_sealed_table, read_table, sealed_table, unsealed_table

TABLE = pl.DataFrame({"step": [1, 2, 3], "name": ["a", None, "c"], "weights": [[0.5], [], None]})


def test_a_sealed_table_is_a_parquet_file_like_any_other():
    assert pl.read_parquet(io.BytesIO(sealed_table(TABLE))).equals(TABLE)
    assert unsealed_table(sealed_table(TABLE)).equals(TABLE)
    assert read_table(sealed_table(TABLE), ["step"]).columns == ["step"]


def test_no_bit_can_be_flipped_and_no_byte_lost():
    whole = sealed_table(TABLE)
    rng = random.Random(1)
    for _ in range(300):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        with pytest.raises(Damaged):
            unsealed_table(bytes(changed))
        with pytest.raises(Damaged):
            unsealed_table(whole[: rng.randrange(len(whole))])


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "index.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(Damaged, match=r"index\.parquet is damaged"):
        read_sealed_table(path)
