"""Where updates come from: one matrix in memory, or column blocks that are read twice."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Updates = Tensor | NDArray[Any] | Sequence[Tensor] | Sequence[NDArray[Any]]
Blocks = Iterable[Any]

_HALF = (torch.float16, torch.bfloat16)
_ALLOWED = "float32, float64, float16 or bfloat16"

#: Columns of the workers' rows and the server's that are joined at a time.
STACKED_BLOCK = 65_536


def as_tensor(values: Any, what: str) -> Tensor:
    """A floating tensor without gradient from a tensor or NumPy array; a copy only if needed."""
    if isinstance(values, np.ndarray):
        if not np.issubdtype(values.dtype, np.floating) or values.dtype.itemsize > 8:
            raise TypeError(f"{what} has dtype {values.dtype}; allowed: {_ALLOWED}")
        # What torch cannot look at in place: reversed, byte-swapped or write-protected arrays.
        direct = (
            values.flags.writeable and values.dtype.isnative and all(s >= 0 for s in values.strides)
        )
        native = values.dtype.newbyteorder("=")
        values = torch.from_numpy(values if direct else np.array(values, native, order="C"))
    if not isinstance(values, Tensor):
        kind = type(values).__name__
        raise TypeError(f"{what} is a {kind}; allowed: a torch.Tensor or a numpy.ndarray")
    if not values.dtype.is_floating_point:
        raise TypeError(f"{what} has dtype {values.dtype}; allowed: {_ALLOWED}")
    return values.detach()


def as_matrix(updates: Updates, name: str = "updates") -> Tensor:
    """The (n, d) tensor of any accepted form of updates; the caller's own memory if it can be."""
    if isinstance(updates, (Tensor, np.ndarray)):
        matrix = as_tensor(updates, name)
        if matrix.ndim != 2:
            raise ValueError(
                f"{name} has shape {tuple(matrix.shape)}; allowed: (n, d), one row per worker, "
                "or a sequence of n one-dimensional updates"
            )
    else:
        matrix = _stacked(updates, name)
    if matrix.shape[0] == 0:
        raise ValueError(f"{name} is empty: n = 0 workers; at least one update is needed")
    return matrix.contiguous()


def _stacked(updates: Any, name: str) -> Tensor:
    if not isinstance(updates, Sequence):
        raise TypeError(
            f"{name} is a {type(updates).__name__}; allowed: an (n, d) tensor or array, or a "
            "sequence of n one-dimensional ones"
        )
    rows = [as_tensor(row, f"{name}[{i}]") for i, row in enumerate(updates)]
    if not rows:
        raise ValueError(f"{name} is empty: n = 0 workers; at least one update is needed")
    first = rows[0]
    for i, row in enumerate(rows):
        if row.ndim != 1 or row.shape != first.shape:
            expected = f"({first.shape[0]},)" if first.ndim == 1 else "(d,)"
            raise ValueError(
                f"{name}[{i}] has shape {tuple(row.shape)}; expected {expected}, the shape of all"
            )
        if row.dtype != first.dtype or row.device != first.device:
            raise TypeError(
                f"{name}[{i}] is {row.dtype} on {row.device}; expected {first.dtype} on "
                f"{first.device}, as {name}[0] is"
            )
    return torch.stack(rows)


def like(values: Tensor, updates: Any) -> Any:
    """`values` as a NumPy array if the updates came as NumPy, otherwise as it is."""
    first = updates if isinstance(updates, (Tensor, np.ndarray)) else next(iter(updates))
    return values.numpy() if isinstance(first, np.ndarray) else values


def times_power_of_two(values: Tensor, exponent: int) -> Tensor:
    """`values` times 2^exponent, exact unless it leaves the range of the dtype.

    >>> times_power_of_two(torch.tensor([3.0, -0.5]), 2)
    tensor([12., -2.])
    """
    if exponent == 0:
        return values
    # In two steps, since 2^exponent alone may leave the range.
    half = exponent // 2
    return values * 2.0**half * 2.0 ** (exponent - half)


class UpdateSource(ABC):
    """n updates that can be walked through, piece of columns by piece of columns, twice."""

    rows: NDArray[np.int64]
    """The workers that are kept: positions among those given."""

    @abstractmethod
    def pieces(self) -> Iterator[Tensor]:
        """The kept workers' columns in order, as contiguous (n, b) tensors of a full dtype."""

    @property
    def n(self) -> int:
        """How many workers are kept."""
        return len(self.rows)

    @abstractmethod
    def keep(self, rows: NDArray[np.int64]) -> UpdateSource:
        """The same source with only these of its kept rows."""

    def workers(self) -> UpdateSource:
        """The same source without rows of the server's."""
        return self


class Matrix(UpdateSource):
    """Updates that lie in memory as one (n, d) tensor: a single piece."""

    def __init__(self, matrix: Tensor, rows: NDArray[np.int64] | None = None) -> None:
        self.matrix = matrix.float() if matrix.dtype in _HALF else matrix
        self.rows = np.arange(matrix.shape[0]) if rows is None else rows

    def pieces(self) -> Iterator[Tensor]:
        """The matrix itself."""
        yield self.matrix

    def keep(self, rows: NDArray[np.int64]) -> Matrix:
        """The same source with only these of its kept rows."""
        chosen = torch.from_numpy(rows).to(self.matrix.device)
        return Matrix(self.matrix.index_select(0, chosen), self.rows[rows])


class ColumnBlocks(UpdateSource):
    """Updates that come as an iterable of (n, b) column blocks, iterated afresh for each pass.

    Weights found in one pass mean nothing in another that gives other columns: a pass that differs
    from the first in the number, the order, the shape or the content of its blocks is a ValueError.
    """

    def __init__(
        self,
        blocks: Blocks,
        rows: NDArray[np.int64] | None = None,
        first_pass: _FirstPass | None = None,
    ) -> None:
        if isinstance(blocks, Iterator) or not isinstance(blocks, Iterable):
            kind = type(blocks).__name__
            what = "an iterator, read only once" if isinstance(blocks, Iterator) else f"a {kind}"
            raise TypeError(
                f"blocks is {what}; allowed: a list, or an object whose __iter__ starts afresh "
                "each time, giving (n, b) column blocks"
            )
        self.blocks = blocks
        self._first_pass = first_pass or _FirstPass()
        self.rows = np.arange(self._first().shape[0]) if rows is None else rows

    def _first(self) -> Tensor:
        for block in self.blocks:
            self._numpy = isinstance(block, np.ndarray)
            return as_matrix(block, "blocks[0]")
        raise ValueError("blocks is empty; at least one (n, b) column block is needed")

    def as_given(self, values: Tensor) -> Any:
        """`values` in the dtype of the blocks, as a NumPy array if they are."""
        given = values.to(self._first().dtype)
        return given.numpy() if self._numpy else given

    def pieces(self) -> Iterator[Tensor]:
        """Each block, checked to have as many rows as the first, with the kept rows only."""
        given: int | None = None
        count = 0
        for k, block in enumerate(self.blocks):
            piece = as_matrix(block, f"blocks[{k}]")
            given = piece.shape[0] if given is None else given
            if piece.shape[0] != given:
                raise ValueError(
                    f"blocks[{k}] has {piece.shape[0]} rows; expected {given}, as blocks[0] has"
                )
            self._first_pass.check(k, piece)
            count = k + 1
            if len(self.rows) != given:
                piece = piece.index_select(0, torch.from_numpy(self.rows).to(piece.device))
            yield piece.float() if piece.dtype in _HALF else piece
        self._first_pass.check_end(count)

    def keep(self, rows: NDArray[np.int64]) -> ColumnBlocks:
        """The same source with only these of its kept rows."""
        return ColumnBlocks(self.blocks, self.rows[rows], self._first_pass)


class Stacked(UpdateSource):
    """A source with the server's own rows (r, d) below it, joined some columns at a time.

    They are no workers: their `rows` are counted on after those of the workers given.
    """

    def __init__(self, source: UpdateSource, marks: Tensor, given: int | None = None) -> None:
        self.source, self.marks = source, marks
        self._given = source.n if given is None else given
        self.rows = np.append(source.rows, self._given + np.arange(len(marks)))

    def pieces(self) -> Iterator[Tensor]:
        """Each piece of the source in parts that stay in the cache, the server's rows below."""
        first, columns = 0, self.marks.shape[1]
        for piece in self.source.pieces():
            for part in torch.split(piece, STACKED_BLOCK, dim=1):
                last = first + part.shape[1]
                if last <= columns:
                    yield torch.cat([part, self.marks[:, first:last].to(part)])
                first = last
        if first != columns:
            raise ValueError(
                f"the server's own rows (reference or memory) have d = {columns} coordinates, the "
                f"updates {first}"
            )

    def keep(self, rows: NDArray[np.int64]) -> Stacked:
        """The same source with only these of its rows; those of the server are all among them."""
        workers = rows[rows < self.source.n]
        return Stacked(self.source.keep(workers), self.marks, self._given)

    def workers(self) -> UpdateSource:
        """The source above the server's rows."""
        return self.source


class Scaled(UpdateSource):
    """The updates of another source times 2^-exponent."""

    def __init__(self, source: UpdateSource, exponent: int) -> None:
        self.source, self.exponent, self.rows = source, exponent, source.rows

    def pieces(self) -> Iterator[Tensor]:
        """Each piece of the other source, scaled."""
        return (times_power_of_two(piece, -self.exponent) for piece in self.source.pieces())

    def keep(self, rows: NDArray[np.int64]) -> Scaled:
        """The same source with only these of its kept rows."""
        return Scaled(self.source.keep(rows), self.exponent)

    def workers(self) -> UpdateSource:
        """The same source without rows of the server's."""
        return Scaled(self.source.workers(), self.exponent)


class SomeColumns(UpdateSource):
    """The updates of another source in some of their columns, given in ascending order."""

    def __init__(self, source: UpdateSource, columns: NDArray[np.int64]) -> None:
        self.source, self.columns, self.rows = source, columns, source.rows

    def pieces(self) -> Iterator[Tensor]:
        """What each piece of the other source has of these columns."""
        return (part for _, part in split_pieces(self.source, [self.columns]))

    def keep(self, rows: NDArray[np.int64]) -> SomeColumns:
        """The same source with only these of its kept rows."""
        return SomeColumns(self.source.keep(rows), self.columns)


def split_pieces(
    source: UpdateSource, groups: Sequence[NDArray[np.int64]]
) -> Iterator[tuple[int, Tensor]]:
    """One pass: of each piece what belongs to each group of columns, (n, b), beside its number.

    The columns of a group are in ascending order. What has no columns is left out.
    """
    start = 0
    for piece in source.pieces():
        stop = start + piece.shape[1]
        for k, group in enumerate(groups):
            first, last = np.searchsorted(group, (start, stop))
            if first < last:
                here = torch.from_numpy(group[first:last] - start).to(piece.device)
                yield k, piece.index_select(1, here)
        start = stop


class _FirstPass:
    """Shape, dtype and CRC-32 of each block of the first pass, for the others to be held to."""

    def __init__(self) -> None:
        self._seen: list[tuple[tuple[int, ...], torch.dtype, int]] = []
        self._count: int | None = None

    def check(self, k: int, block: Tensor) -> None:
        """Notes block k in the first pass; a ValueError if it is another one in a later pass."""
        if k == self._count:
            raise ValueError(
                f"blocks has more than {k} blocks in a later pass; allowed: {k}, as in the first"
            )
        content = block.cpu().flatten().view(torch.uint8).numpy().data
        found = (tuple(block.shape), block.dtype, zlib.crc32(content))
        if k == len(self._seen):
            self._seen.append(found)
        elif self._seen[k] != found:
            raise ValueError(
                f"blocks[{k}] differs between two passes; allowed: the same blocks, in the same "
                "order, in every pass"
            )

    def check_end(self, count: int) -> None:
        """Notes how many blocks there are; a ValueError if there were more in the first pass."""
        if count < len(self._seen):
            raise ValueError(
                f"blocks has {count} blocks in a later pass; allowed: {len(self._seen)}, as in "
                "the first"
            )
        self._count = count
