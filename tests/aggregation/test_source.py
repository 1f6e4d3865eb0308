"""Where updates come from: forms of updates, column blocks, and what is refused."""

import numpy as np
import pytest
import torch

from tests.rules import RULES, generator, updates
from wola.aggregation import CoordinateMedian, Krum, Mean, TrimmedMean
from wola.aggregation.source import ColumnBlocks, Matrix, as_matrix, like
from wola.mixing import NNM, FoundationFL


def test_a_contiguous_tensor_or_array_is_not_copied():
    x = torch.rand(3, 4, generator=generator())
    assert as_matrix(x).data_ptr() == x.data_ptr()
    array = x.numpy()
    assert as_matrix(array).data_ptr() == x.data_ptr()


def test_like_gives_back_the_kind_that_came_in():
    x = torch.zeros(2, 3)
    assert isinstance(like(x[0], x), torch.Tensor)
    assert isinstance(like(x[0], list(x)), torch.Tensor)
    assert isinstance(like(x[0], x.numpy()), np.ndarray)
    assert isinstance(like(x[0], list(x.numpy())), np.ndarray)


def test_half_precision_is_walked_through_in_float32():
    (piece,) = Matrix(torch.ones(2, 3, dtype=torch.bfloat16)).pieces()
    assert piece.dtype == torch.float32
    (block,) = ColumnBlocks([torch.ones(2, 3, dtype=torch.float16)]).pieces()
    assert block.dtype == torch.float32


def test_keeping_rows_twice_keeps_their_first_positions():
    x = torch.arange(12.0).reshape(6, 2)
    for source in (Matrix(x), ColumnBlocks([x[:, :1], x[:, 1:]])):
        kept = source.keep(np.array([1, 2, 4, 5])).keep(np.array([0, 3]))
        assert kept.rows.tolist() == [1, 5]
        assert torch.equal(torch.cat(list(kept.pieces()), 1), x[[1, 5]])


class Afresh:
    """Blocks that can only be walked through one at a time, and that count the walks."""

    def __init__(self, x, width):
        self.x, self.width, self.passes = x, width, 0

    def __iter__(self):
        self.passes += 1
        for start in range(0, self.x.shape[1], self.width):
            yield self.x[:, start : start + self.width]


@pytest.mark.parametrize("entry", RULES, ids=str)
@pytest.mark.parametrize("width", [1, 512, 700, 5000])
def test_column_blocks_give_what_the_whole_gives(entry, width):
    n = 9
    d = 40 if width == 1 else 2100
    f = entry.rule.max_byzantine(n)
    x = torch.from_numpy(updates(n, d))
    result = entry.rule.blocks(Afresh(x, width), f, generator())
    torch.testing.assert_close(result, entry.rule(x, f, generator()), rtol=0, atol=1e-9)


@pytest.mark.parametrize("rule", [TrimmedMean(), Krum(), NNM() | TrimmedMean()], ids=str)
def test_blocks_are_read_through_twice_beyond_a_look_at_the_first(rule):
    whole = []

    class Counted(Afresh):
        def __iter__(self):
            yield from super().__iter__()
            whole.append(1)

    rule.blocks(Counted(torch.from_numpy(updates(7, 100)), 30), 2)
    assert len(whole) == 2


def test_a_nan_in_the_last_block_drops_the_worker_from_the_first():
    x = updates(7, 50)
    broken = x.copy()
    broken[3, 49] = np.nan
    blocks = np.split(broken, [20, 40], axis=1)
    for rule in (TrimmedMean(), Krum(), Mean(), NNM() | FoundationFL() | CoordinateMedian()):
        expected = rule(np.delete(x, 3, axis=0), 1)
        np.testing.assert_allclose(rule.blocks(blocks, 2), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        (iter([torch.ones(3, 2)]), TypeError, "blocks is an iterator"),
        ([], ValueError, "blocks is empty"),
        ([torch.ones(3)], ValueError, r"blocks\[0\] has shape \(3,\)"),
        ([torch.ones(3, 2), torch.ones(4, 2)], ValueError, r"blocks\[1\] has 4 rows; expected 3"),
        ([torch.ones(3, 2), torch.ones(3, 2).int()], TypeError, r"blocks\[1\] has dtype"),
        ([torch.ones(3, 2), None], TypeError, r"blocks\[1\] is a NoneType"),
        (7, TypeError, "blocks"),
    ],
    ids=["iterator", "none", "1-d", "rows", "ints", "None", "number"],
)
def test_bad_blocks_are_refused_by_name(blocks, error, message):
    for rule in (TrimmedMean(), Krum()):
        with pytest.raises(error, match=message):
            rule.blocks(blocks, 0)


def test_blocks_keep_kind_and_dtype():
    x = updates(5, 40)
    for dtype in (np.float16, np.float32, np.float64):
        result = TrimmedMean().blocks(np.split(x.astype(dtype), 4, axis=1), 1)
        assert isinstance(result, np.ndarray)
        assert result.dtype == dtype
    halves = [torch.ones(3, 4, dtype=torch.bfloat16)] * 2
    assert Krum().blocks(halves, 0).dtype == torch.bfloat16


def test_big_endian_arrays_are_used_or_refused_as_a_dtype():
    x = updates(5, 4)
    try:
        result = TrimmedMean()(x.astype(">f8"), 1)
    except TypeError as error:
        assert "updates" in str(error)  # noqa: PT017 either outcome is fine
    else:
        np.testing.assert_array_equal(result, TrimmedMean()(x, 1))


class Changing:
    """Blocks that are others in a pass after the first."""

    def __init__(self, first, later):
        self.first, self.later, self.passes = first, later, 0

    def __iter__(self):
        self.passes += 1
        # The first pass is preceded by a look at the first block.
        return iter(self.first if self.passes <= 2 else self.later)


COLUMNS = torch.from_numpy(updates(7, 40))
PARTS = list(COLUMNS.split(10, dim=1))
FLIPPED = COLUMNS.clone().view(torch.int64)
FLIPPED[3, 35] ^= 1


@pytest.mark.parametrize("rule", [TrimmedMean(), Krum(), NNM() | TrimmedMean()], ids=str)
@pytest.mark.parametrize(
    ("later", "message"),
    [
        (PARTS[:3], "blocks has 3 blocks in a later pass; allowed: 4"),
        ([], "blocks has 0 blocks in a later pass; allowed: 4|blocks is empty"),
        ([*PARTS, PARTS[0]], "blocks has more than 4 blocks in a later pass; allowed: 4"),
        ([PARTS[0], PARTS[2], PARTS[1], PARTS[3]], r"blocks\[1\] differs between two passes"),
        ([*PARTS[:3], PARTS[3].flip(1)], r"blocks\[3\] differs between two passes"),
        ([COLUMNS[:, :20], COLUMNS[:, 20:]], r"blocks\[0\] differs between two passes"),
        (list(FLIPPED.view(torch.float64).split(10, 1)), r"blocks\[3\] differs between"),
    ],
    ids=["shorter", "empty", "longer", "other order", "columns flipped", "other cuts", "one bit"],
)
def test_passes_that_differ_are_noticed(rule, later, message):
    with pytest.raises(ValueError, match=message):
        rule.blocks(Changing(PARTS, later), 2)


def test_a_later_pass_without_blocks_is_noticed():
    source = ColumnBlocks(Changing(PARTS, []))
    list(source.pieces())
    with pytest.raises(ValueError, match="blocks has 0 blocks in a later pass; allowed: 4"):
        list(source.pieces())


def test_passes_that_differ_are_noticed_when_a_worker_was_dropped():
    broken = [part.clone() for part in PARTS]
    broken[2][4, 0] = torch.nan
    assert torch.isfinite(TrimmedMean().blocks(Changing(broken, broken), 2)).all()
    with pytest.raises(ValueError, match=r"blocks\[2\] differs between two passes"):
        TrimmedMean().blocks(Changing(broken, PARTS), 2)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_the_same_blocks_of_any_dtype_pass_any_number_of_times(dtype):
    source = ColumnBlocks([part.to(dtype) for part in [*PARTS, COLUMNS[:, :0]]])
    passes = [torch.cat(list(source.pieces()), 1) for _ in range(3)]
    assert torch.equal(passes[0], passes[1])
    assert torch.equal(passes[0], passes[2])
