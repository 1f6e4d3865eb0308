"""Coordinate-wise reductions of (n, d) updates: compiled on the CPU, plain torch elsewhere."""

import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from wola.aggregation import _rank_kernels
from wola.aggregation._network import (
    comparator_array,
    unrolled_mixture_source,
    unrolled_source,
)
from wola.aggregation.compiled import compiled, usable_kernel_folder
from wola.ground.files import write_whole

#: Up to so many rows a network is unrolled into registers; compiling grows with its square.
UNROLL_ROWS = 24
#: A network is unrolled, which takes seconds once, after so many columns were asked of it. The
#: bits do not depend on it.
UNROLL_AFTER = 1_000_000
#: From so many columns on, a search that mixes and ranks them over and over does so in registers.
MIX_IN_REGISTERS = 100_000
#: Columns are split into chunks of this size for threads; the same for any number of threads.
CHUNK = 131_072


def over_chunks(work: Callable[[int, int], Any], columns: int) -> list[Any]:
    """Run `work(start, stop)` over chunks of the columns, on as many threads as torch uses."""
    bounds = [(s, min(s + CHUNK, columns)) for s in range(0, columns, CHUNK)]
    threads = min(torch.get_num_threads(), len(bounds))
    if threads <= 1:
        return [work(*bound) for bound in bounds]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda bound: work(*bound), bounds))


@cache
def unrolled_kernel(n: int, low: int, high: int, *, keep_equal: bool) -> Any:
    """The compiled kernel generated for n rows and ranks low..high-1, kept on disk if possible."""
    source = unrolled_source(n, low, high, keep_equal=keep_equal)
    return _generated(f"ranks_{n}_{low}_{high}", source)


@cache
def unrolled_mixture_kernel(base: int, distinct: int, n: int, low: int, high: int) -> Any:
    """The compiled kernel that mixes `base` rows into n first, kept on disk if possible."""
    source = unrolled_mixture_source(base, distinct, n, low, high)
    return _generated(f"mixed_{base}_{distinct}_{n}_{low}_{high}", source)


def _generated(name: str, source: str) -> Any:
    name = f"{name}_{sha256(source.encode()).hexdigest()[:12]}"
    folder = usable_kernel_folder()
    if folder is not None:
        with suppress(OSError):
            path = _written(folder / f"{name}.py", source)
            module = ModuleType(f"wola_generated_{name}")
            module.__file__ = str(path)
            # The compiled form is found again through the module that its source belongs to.
            sys.modules[module.__name__] = module
            exec(compile(source, path, "exec"), module.__dict__)
            return compiled(module.__dict__["kernel"], fastmath={"contract"})
    namespace: dict[str, Any] = {}
    exec(compile(source, f"<{name}>", "exec"), namespace)
    return compiled(namespace["kernel"], fastmath={"contract"}, kept=False)


def _written(path: Path, text: str) -> Path:
    if not path.is_file() or path.read_bytes() != text.encode():
        write_whole(path, text.encode(), sync=False)
    return path


_columns_asked: Counter[tuple[int, int, int]] = Counter()


def _pays_to_unroll(n: int, low: int, high: int, columns: int) -> bool:
    if n > UNROLL_ROWS:
        return False
    _columns_asked[n, low, high] += columns
    return _columns_asked[n, low, high] > UNROLL_AFTER


def square_limit(x: Tensor) -> Any:
    """The sum of squares of a column, in its own dtype, below which no row norm can overflow."""
    info = torch.finfo(x.dtype)
    # A row norm is at most sqrt(columns) times its largest value, and so far below the maximum.
    return x.numpy().dtype.type(info.max / max(1, x.shape[1]))


def middle_mean(x: Tensor, low: int, high: int) -> tuple[Tensor, bool]:
    """Mean of the values of rank low..high-1 in each column of x (n, d), and whether x is clean.

    Clean: all values are finite, and none so large that the norm of a row could overflow.
    """
    if x.device.type != "cpu":
        return _middle_mean_torch(x, low, high), _is_clean_torch(x)
    n, columns = x.shape
    out = torch.empty(columns, dtype=x.dtype)
    rows, result, limit = x.numpy(), out.numpy(), square_limit(x)
    if _pays_to_unroll(n, low, high, columns):
        kernel = unrolled_kernel(n, low, high, keep_equal=x.dtype == torch.float64)
        clean = over_chunks(lambda s, e: kernel(rows, s, e, limit, result), columns)
    else:
        network = comparator_array(n, low, high)
        clean = over_chunks(
            lambda s, e: _rank_kernels.network_mean(rows, s, e, limit, network, low, high, result),
            columns,
        )
    return out, all(clean)


def mixed_middle_mean(matrix: Tensor, copies: int, x: Tensor, low: int, high: int) -> Tensor:
    """`middle_mean` of the mixtures `matrix` (m, k) of x (k, d), the last one `copies` times.

    Mixtures of many columns are made in registers and never stored. Which way is taken depends on
    the sizes alone, since the two may differ in the last bit.
    """
    distinct, base = matrix.shape
    n, columns = distinct - 1 + copies, x.shape[1]
    if x.device.type != "cpu" or max(n, base) > UNROLL_ROWS or columns < MIX_IN_REGISTERS:
        mixtures = matrix @ x
        return middle_mean(torch.cat([mixtures, *[mixtures[-1:]] * (copies - 1)]), low, high)[0]
    kernel = unrolled_mixture_kernel(base, distinct, n, low, high)
    out = torch.empty(columns, dtype=x.dtype)
    rows, factors, result = x.numpy(), matrix.numpy(), out.numpy()
    over_chunks(lambda s, e: kernel(rows, factors, s, e, result), columns)
    return out


def mean_around_median(x: Tensor, keep: int) -> tuple[Tensor, bool]:
    """Mean of the `keep` values nearest to the median in each column, and whether x is clean.

    Values tied at the edge, one side of the median against the other, share the places left. A
    tie is exact: the two values add up to twice the median in float64.
    """
    if x.device.type != "cpu":
        return _mean_around_median_torch(x, keep), _is_clean_torch(x)
    n, columns = x.shape
    out = torch.empty(columns, dtype=x.dtype)
    rows, result, limit = x.numpy(), out.numpy(), square_limit(x)
    network = comparator_array(n, 0, n)
    clean = over_chunks(
        lambda s, e: _rank_kernels.network_mean_around_median(
            rows, s, e, limit, network, keep, result
        ),
        columns,
    )
    return out, all(clean)


def _middle_mean_torch(x: Tensor, low: int, high: int) -> Tensor:
    middle = x.sort(dim=0).values[low:high].double()
    return torch.where(middle[0] == middle[-1], middle[0], middle.mean(dim=0)).to(x.dtype)


def _mean_around_median_torch(x: Tensor, keep: int) -> Tensor:
    n = x.shape[0]
    ranked = x.sort(dim=0).values.double()
    twice = ranked[(n - 1) // 2] + ranked[n // 2]
    first = (ranked[: n - keep] + ranked[keep:] < twice).sum(dim=0)
    window = ranked.gather(0, first + torch.arange(keep, device=x.device)[:, None])
    mean = torch.where(window[0] == window[-1], window[0], window.mean(dim=0))
    low, high = window[0], ranked.gather(0, (first + keep).clamp(max=n - 1)[None])[0]
    between = (ranked > low) & (ranked < high)
    edge = (ranked == low) | (ranked == high)
    inside = torch.where(between, ranked, 0.0).sum(dim=0)
    shared = torch.where(edge, ranked, 0.0).sum(dim=0) / edge.sum(dim=0)
    mean_of_ties = (inside + (keep - between.sum(dim=0)) * shared) / keep
    tied = (low + high == twice) & (low < high) & (first + keep < n)
    return torch.where(tied, mean_of_ties, mean).to(x.dtype)


def _is_clean_torch(x: Tensor) -> bool:
    # One comparison answers for NaN too: it is not at most anything.
    bound = (torch.finfo(x.dtype).max / max(1, x.shape[1])) ** 0.5
    return bool((x.abs() <= bound).all())
