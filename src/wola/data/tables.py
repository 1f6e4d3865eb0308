"""Tables of the user's own: a row per sample, a column of labels, the others numbers."""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wola.data.arrays import Arrays, DataError
from wola.data.dataset import Dataset, make_dataset
from wola.data.own import OwnFile
from wola.data.own_arrays import own_arrays

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class TableFile(OwnFile):
    """A table in a file: ``label`` names the column of labels, the others are the features.

    ``client`` names the column that says whom a sample belongs to, if there is one. ``test`` is a
    second file with the test samples; without it one sample in five is held out.
    """

    label: str = "label"
    client: str | None = None
    test: str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.test is not None:
            object.__setattr__(self, "test", os.fspath(self.test))
        if self.client == self.label:
            raise ValueError(
                f"client = {self.client!r}; allowed: another column than label = {self.label!r}"
            )

    def files(self) -> list[Path]:
        """The file, and the one with the test samples if there is one."""
        return [self.place, *([Path(self.test).expanduser()] if self.test is not None else [])]

    def names_clients(self) -> bool:
        """Whether a column of clients is named."""
        return self.client is not None

    def load(self) -> Dataset:
        """The dataset."""
        return make_dataset(self.name, self._arrays())

    @abstractmethod
    def read(self, path: Path) -> pl.DataFrame:
        """The table in a file."""

    def _arrays(self) -> Arrays:
        places = self.files()
        tables = [self._table(place) for place in places]
        self._check_columns(tables[0], places[0])
        features = [name for name in tables[0].columns if name not in (self.label, self.client)]
        if not features:
            raise DataError(
                f"{places[0]} has no columns beside {', '.join(tables[0].columns)}; expected at "
                "least one with a number per sample"
            )
        parts: list[NDArray[Any]] = []
        for table, place in zip(tables, places, strict=True):
            self._check_same(table, features, place, places[0])
            numbers = [_numbers(table[name], place) for name in features]
            parts += [np.stack(numbers, axis=1), _values(table[self.label], place)]
        clients = None if self.client is None else _values(tables[0][self.client], places[0])
        return own_arrays(*parts, clients=clients, origin=str(places[0]))

    def _table(self, place: Path) -> pl.DataFrame:
        import polars as pl

        try:
            # Polars reads a folder or a pattern as many files: here a path is one file.
            with place.open("rb"):
                table = self.read(place)
        except (OSError, pl.exceptions.PolarsError) as error:
            reason = str(error).split("\n")[0]
            raise DataError(
                f"{place} cannot be read ({reason}); expected a table as .{self.name}"
            ) from error
        if table.is_empty():
            raise DataError(f"{place} has no rows; expected one per sample")
        return table

    def _check_columns(self, table: pl.DataFrame, place: Path) -> None:
        for argument, column in (("label", self.label), ("client", self.client)):
            if column is not None and column not in table.columns:
                raise DataError(
                    f"{argument} = {column!r}; expected a column of {place}: "
                    + ", ".join(table.columns)
                )

    def _check_same(
        self, table: pl.DataFrame, features: list[str], place: Path, first: Path
    ) -> None:
        wanted = {*features, self.label}
        missing = [name for name in (*features, self.label) if name not in table.columns]
        extra = [name for name in table.columns if name not in {*wanted, self.client}]
        if missing or extra:
            raise DataError(
                f"{place} lacks the columns {', '.join(missing) or 'none'} and has "
                f"{', '.join(extra) or 'none'} more; expected those of {first}"
            )


@dataclass(frozen=True)
class Csv(TableFile):
    r"""Your own table: a .csv with a column of labels and features that are numbers.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "flowers.csv")
    ...     written = path.write_text("width,species\n1,a\n2,b\n1.5,a\n2.5,b\n")
    ...     Csv(path, label="species").load().classes
    ('a', 'b')
    """

    name: ClassVar[str] = "csv"

    def read(self, path: Path) -> pl.DataFrame:
        """The table in a file."""
        import polars as pl

        return pl.read_csv(path, infer_schema_length=None)


@dataclass(frozen=True)
class Parquet(TableFile):
    """Your own table: a .parquet with a column of labels and features that are numbers.

    >>> Parquet("visits.parquet", client="site", test="later.parquet").files()[1].name
    'later.parquet'
    """

    name: ClassVar[str] = "parquet"

    def read(self, path: Path) -> pl.DataFrame:
        """The table in a file."""
        import polars as pl

        return pl.read_parquet(path)


def _numbers(column: pl.Series, place: Path) -> NDArray[np.float32]:
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise DataError(
            f"{place}: column {column.name!r} holds {column.dtype}; expected numbers: encode it as "
            "numbers, leave it out of the file, or name it as label or client"
        )
    values = _complete(column, place).cast(pl.Float64).to_numpy()
    with np.errstate(over="ignore"):
        numbers = values.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise DataError(
            f"{place}: column {column.name!r} holds values that are not finite in float32; "
            "expected none: fill them in, or leave these rows or the column out"
        )
    return numbers


def _values(column: pl.Series, place: Path) -> NDArray[Any]:
    import polars as pl

    whole = column.dtype.is_integer() or column.dtype == pl.Boolean
    text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
    if not whole and not text:
        raise DataError(
            f"{place}: column {column.name!r} holds {column.dtype}; expected whole numbers or text"
        )
    complete = _complete(column, place)
    return complete.to_numpy() if whole else np.array(complete.cast(pl.String).to_list())


def _complete(column: pl.Series, place: Path) -> pl.Series:
    if column.null_count():
        raise DataError(
            f"{place}: column {column.name!r} lacks {column.null_count()} of {len(column)} values; "
            "expected none missing: fill them in, or leave these rows or the column out"
        )
    return column
