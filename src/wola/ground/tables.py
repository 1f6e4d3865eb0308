"""Tables as Parquet: to bytes and back, with a checksum inside."""

import io
from hashlib import sha256
from pathlib import Path

import polars as pl
from polars.exceptions import PanicException, PolarsError

from wola.ground.sealed import Damaged


def table_bytes(table: pl.DataFrame) -> bytes:
    """A table as the content of a Parquet file.

    >>> read_table(table_bytes(pl.DataFrame({"step": [1, 2]})))["step"].to_list()
    [1, 2]
    """
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return buffer.getvalue()


def read_table(content: bytes, columns: list[str] | None = None) -> pl.DataFrame:
    """The table of a Parquet file's content, or some columns of it; a `Damaged` if it is none.

    >>> read_table(b"PAR1")
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: it is no Parquet table (ComputeError)
    """
    try:
        return pl.read_parquet(io.BytesIO(content), columns=columns)
    # A panic of polars is no `Exception`, and would end the process.
    except (PolarsError, PanicException, OSError, ValueError) as error:
        raise Damaged(f"it is no Parquet table ({type(error).__name__})") from None


def sealed_table(table: pl.DataFrame) -> bytes:
    """A table as the content of a Parquet file that carries its own checksum.

    The SHA-256 of all else stands before the footer, where no reader of Parquet looks.

    >>> content = sealed_table(pl.DataFrame({"step": [1, 2]}))
    >>> unsealed_table(content).equals(read_table(content))
    True
    """
    content = table_bytes(table)
    place = _footer(content)
    return content[:place] + sha256(content).hexdigest().encode() + content[place:]


def unsealed_table(content: bytes) -> pl.DataFrame:
    """The table that was sealed; a `Damaged` if a bit of the file has changed.

    >>> unsealed_table(table_bytes(pl.DataFrame({"step": [1, 2]})))
    Traceback (most recent call last):
    ...
    wola.ground.sealed.Damaged: its content is not what was written
    """
    end = _footer(content)
    start = end - 64
    rest = content[: max(start, 0)] + content[max(end, 0) :]
    if start < 0 or content[start:end] != sha256(rest).hexdigest().encode():
        raise Damaged("its content is not what was written")
    return read_table(content)


def read_sealed_table(path: Path) -> pl.DataFrame:
    """The table of a sealed Parquet file; a `Damaged` that names it if it is not as written."""
    try:
        return unsealed_table(path.read_bytes())
    except Damaged as error:
        raise Damaged(f"{path} is damaged: {error}") from None


def _footer(content: bytes) -> int:
    # A Parquet file ends with its footer, the length of that in four bytes, and four letters.
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")
