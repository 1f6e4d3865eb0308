"""Sorting networks: which rows to compare, in which order, so that chosen ranks come out right."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Comparators = list[tuple[int, int]]


def odd_even_merge_sort(n: int) -> Comparators:
    """Batcher's odd-even merge sort for any `n`: comparators (a, b), a < b, that sort n rows.

    Reference: K. Batcher, Sorting networks and their applications, AFIPS 1968.

    >>> odd_even_merge_sort(3)
    [(0, 1), (0, 2), (1, 2)]
    """
    comparators = []
    run = 1
    while run < n:
        step = run
        while step:
            for first in range(step % run, n - step, 2 * step):
                for a in range(first, min(first + step, n - step)):
                    if a // (2 * run) == (a + step) // (2 * run):
                        comparators.append((a, a + step))
            step //= 2
        run *= 2
    return comparators


def select_ranks(n: int, low: int, high: int) -> Comparators:
    """The comparators that bring the values of rank low..high-1 into rows low..high-1, unordered.

    Going backwards, a comparator is left out when nothing later tells its two rows apart: both
    are thrown away, or both end in the same sum.
    """
    told_apart: list[bool | None] = [None if low <= row < high else False for row in range(n)]
    kept = []
    for a, b in reversed(odd_even_merge_sort(n)):
        if told_apart[a] is told_apart[b] and told_apart[a] is not True:
            continue
        told_apart[a] = told_apart[b] = True
        kept.append((a, b))
    return kept[::-1]


@cache
def comparator_array(n: int, low: int, high: int) -> NDArray[np.int64]:
    """The pruned network as a (k, 2) array; the whole sort when low..high-1 is every rank."""
    whole = low == 0 and high == n
    comparators = odd_even_merge_sort(n) if whole else select_ranks(n, low, high)
    return np.array(comparators, dtype=np.int64).reshape(-1, 2)


def unrolled_source(n: int, low: int, high: int, *, keep_equal: bool) -> str:
    """Python text of a kernel for exactly these n, low and high, one coordinate per lane.

    Every row is a local variable and every comparator two lines, so that the compiler keeps the
    whole column in vector registers. The kernel returns whether the squares of every column it
    read add up to at most `limit`, which no column with a non-finite value does. Its sums run in
    the same order as those of the kernel for any n, so that both give the same bits. With
    `keep_equal` the mean of equal values is that value: only float64 needs it, where sums round.
    """
    lines = [
        "import numpy as np",
        "",
        "def kernel(x, start, stop, limit, out):",
        "    clean = True",
        *_rows_of("x", n),
        "    o = out[start:stop]",
        "    for j in range(stop - start):",
        *(f"        v{i} = r{i}[j]" for i in range(n)),
        f"        energy = {' + '.join(f'v{i} * v{i}' for i in range(n))}",
        "        clean &= energy <= limit",
        *_middle_of(n, low, high, keep_equal=keep_equal),
        "    return clean",
        "",
    ]
    return "\n".join(lines)


def unrolled_mixture_source(base: int, distinct: int, n: int, low: int, high: int) -> str:
    """Python text of a kernel that mixes `base` rows into n and takes the mean of the middle ranks.

    `matrix` (distinct, base) gives the first mixtures; the others are copies of the last of them,
    as the updates of colluding attackers are.
    """
    mixtures = [
        f"        v{r} = {' + '.join(f'm{r}_{i} * u{i}' for i in range(base))}"
        for r in range(distinct)
    ]
    lines = [
        "import numpy as np",
        "",
        "def kernel(x, matrix, start, stop, out):",
        *_rows_of("x", base),
        *(f"    m{r}_{i} = matrix[{r}, {i}]" for r in range(distinct) for i in range(base)),
        "    o = out[start:stop]",
        "    for j in range(stop - start):",
        *(f"        u{i} = r{i}[j]" for i in range(base)),
        *mixtures,
        *(f"        v{r} = v{distinct - 1}" for r in range(distinct, n)),
        *_middle_of(n, low, high),
        "",
    ]
    return "\n".join(lines)


def _rows_of(name: str, n: int) -> list[str]:
    return [f"    r{i} = {name}[{i}, start:stop]" for i in range(n)]


def _middle_of(n: int, low: int, high: int, *, keep_equal: bool = False) -> list[str]:
    lines = []
    for a, b in select_ranks(n, low, high):
        lines += [
            f"        less = v{a} < v{b}",
            f"        low = v{a} if less else v{b}",
            f"        v{b} = v{b} if less else v{a}",
            f"        v{a} = low",
        ]
    total = " + ".join(f"np.float64(v{i})" for i in range(low, high))
    mean = f"({total}) / {high - low}.0"
    if keep_equal and high - low > 2:
        # The mean of equal values is that value; in float64 their sum would round.
        same = " & ".join(f"(v{low} == v{i})" for i in range(low + 1, high))
        mean = f"v{low} if {same} else {mean}"
    return [*lines, f"        o[j] = {mean}"]
