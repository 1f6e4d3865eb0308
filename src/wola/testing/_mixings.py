"""The battery for mixings."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from wola.aggregation import CoordinateMedian, Mean
from wola.mixing import Mixing
from wola.testing._calls import call_properties, dtypes_agree, equivariances
from wola.testing._expect import (
    ROUNDING,
    Case,
    as_double,
    column_blocks,
    expect,
    expect_close,
    expect_error,
    expect_same_rows,
    fresh_generator,
    normal,
    properties_of,
    run,
)
from wola.testing._robustness import broken_workers

_EXACT = ROUNDING[torch.float64]


def check_mixing(
    mixing: Mixing,
    *,
    permutation: bool = True,
    translation: bool = True,
    scale: bool = True,
    average: bool = True,
    workers: Iterable[int] = (11, 8),
) -> None:
    """Run the battery on a mixing; an AssertionError says which property failed and where.

    Always checked: the properties of any call on updates (see `check_rule`); `matrix` times the
    updates gives the mixtures, with a column of zeros for a worker that was dropped as non-finite;
    there are `count(n, f)` mixtures; a chain of the mixing and a rule gives what the rule makes of
    the mixtures, with weights over the original workers, from blocks too; f >= n/2 is refused. The
    options say what else the mixing promises, and may be switched off:

    - `permutation`: another order of the workers gives the same mixtures, in whatever order, also
      where there are ties;
    - `translation`: a translation of all updates translates every mixture;
    - `scale`: a positive factor on all updates, from 1e-300 to 1e300, is one on every mixture;
    - `average`: each mixture is an average: the rows of the matrix sum to 1.

    `workers` lists the numbers n to try, each with f = 0 and with the largest f that `mixing |
    Mean()` accepts. The calls pass a generator that starts afresh each time.

    >>> from wola.mixing import NNM, Clipping
    >>> check_mixing(NNM())
    >>> check_mixing(Clipping(max_norm=1.0), translation=False, scale=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Clipping(max_norm=1.0) fails 'The rows of the matrix sum to 1' ...
    """
    cases = [Case(n, f) for n in workers for f in sorted({0, (mixing | Mean()).max_byzantine(n)})]
    expect(bool(cases), "workers is empty: there is nothing to check")
    claimed = [
        (permutation, order_of_workers_is_nothing),
        (permutation, order_of_tied_workers_is_nothing),
        (average, rows_sum_to_one),
    ]
    always = [
        too_many_byzantine_workers_are_refused,
        matrix_makes_the_mixtures,
        non_finite_workers_change_nothing,
        chains_are_compositions,
        ties_and_one_worker_are_ordinary,
    ]
    run(mixing, properties_of(cases, *always, mixing=mixing))
    call = partial(_mixtures, mixing)
    run(mixing, equivariances(call, cases, translation=translation, scale=scale))
    run(mixing, properties_of(cases, *(f for given, f in claimed if given), mixing=mixing))
    run(mixing, call_properties(call, cases) + properties_of(cases, dtypes_agree, call=call))


def _mixtures(mixing: Mixing, updates: Any, f: int) -> Any:
    return mixing(updates, f, generator=fresh_generator())


def _matrix(mixing: Mixing, updates: Any, f: int) -> Any:
    return mixing.matrix(updates, f, generator=fresh_generator())


def too_many_byzantine_workers_are_refused(case: Case, *, mixing: Mixing) -> None:
    """check(n, f) refuses f >= n/2 with both numbers, and so does a call."""
    mixing.check(case.n, case.f)
    f = (case.n + 1) // 2
    numbers = str(case.n), str(f)
    expect_error(ValueError, partial(mixing.check, case.n, f), f"check({case.n}, {f})", *numbers)
    call = partial(_mixtures, mixing, case.updates(), f)
    expect_error(ValueError, call, f"a call with f = {f}", *numbers)


def matrix_makes_the_mixtures(case: Case, *, mixing: Mixing) -> None:
    """There are count(n, f) mixtures, and the matrix times the updates makes them."""
    for d in (case.d, 9000):
        updates = Case(case.n, case.f, d).updates()
        matrix, mixtures = _matrix(mixing, updates, case.f), _mixtures(mixing, updates, case.f)
        _expect_matrix(mixing, case, matrix)
        expect_close(mixtures, matrix @ updates, size=updates, tolerance=_EXACT, what="mixtures")
    array = _matrix(mixing, case.updates().numpy(), case.f)
    expect(not isinstance(array, Tensor), "NumPy updates in, tensor matrix out")


def _expect_matrix(mixing: Mixing, case: Case, matrix: Tensor, f: int | None = None) -> None:
    gone = 0 if f is None else 1
    count = mixing.count(case.n - gone, case.f if f is None else f)
    shape = (count, case.n)
    expect(matrix.shape == shape, f"a matrix of shape {tuple(matrix.shape)}, expected {shape}")
    expect(bool(matrix.isfinite().all()), "the matrix is not finite")


def non_finite_workers_change_nothing(case: Case, *, mixing: Mixing) -> None:
    """A non-finite or overflowing worker counts as absent: the others with n - 1 and f - 1."""
    f = max(0, case.f - 1)
    for dtype in (torch.float64, torch.float32):
        for name, worker, bad in broken_workers(case, dtype):
            others = torch.cat([bad[:worker], bad[worker + 1 :]])
            mixtures = _mixtures(mixing, bad, case.f)
            expected = _mixtures(mixing, others, f)
            expect_close(mixtures, expected, size=others, tolerance=ROUNDING[dtype], what=name)
            matrix = _matrix(mixing, bad, case.f)
            _expect_matrix(mixing, case, matrix, f)
            expect(not matrix[:, worker].any(), f"{name}: its column of the matrix is not zero")
            rebuilt = matrix @ bad.nan_to_num(0.0, 0.0, 0.0).where(bad.abs() < 1e30, 0.0)
            what = f"{name}: matrix @ updates"
            expect_close(rebuilt, mixtures, size=others, tolerance=ROUNDING[dtype], what=what)


def chains_are_compositions(case: Case, *, mixing: Mixing) -> None:
    """A chain gives what its rule makes of the mixtures, whole or in blocks, with weights."""
    updates = case.updates()
    mixtures, matrix = (make(mixing, updates, case.f) for make in (_mixtures, _matrix))
    for rule in (Mean(), CoordinateMedian()):
        chain, expected = mixing | rule, rule(mixtures, case.f)
        for what, result in (
            (f"{chain}", chain(updates, case.f, generator=fresh_generator())),
            (
                f"{chain} in blocks",
                chain.blocks(column_blocks(updates, 3, 4), case.f, generator=fresh_generator()),
            ),
        ):
            expect_close(result, expected, size=updates, tolerance=_EXACT, what=what)
    weights = (mixing | Mean()).weights(updates, case.f, generator=fresh_generator())
    expect_close(weights, matrix.mean(dim=0), tolerance=_EXACT, what="weights of mixing | Mean()")


def ties_and_one_worker_are_ordinary(case: Case, *, mixing: Mixing) -> None:
    """Equal updates, equal distances, huge values and a single worker give finite mixtures."""
    equal = case.updates()[:1].expand(case.n, -1)
    inputs = {
        "equal updates": (equal, case.f),
        "equal distances": (torch.eye(case.n, dtype=torch.float64), case.f),
        "zeros": (torch.zeros(case.n, case.d), case.f),
        "float32 values of 1e38": ((1e38 * case.updates().sign()[:, :3]).float(), case.f),
        "a single update": (equal[:1], 0),
    }
    for name, (updates, f) in inputs.items():
        result = as_double(_mixtures(mixing, updates, f))
        expect(bool(result.isfinite().all()), f"{name}: the mixtures are not finite")


def order_of_workers_is_nothing(case: Case, *, mixing: Mixing) -> None:
    """Another order of the workers gives the same mixtures."""
    for seed in range(3):
        updates = case.updates(seed)
        order = normal(case.n, seed=seed + 100).argsort()
        result = _mixtures(mixing, updates[order], case.f)
        expected = _mixtures(mixing, updates, case.f)
        what = f"order {order.tolist()}"
        expect_same_rows(result, expected, tolerance=_EXACT, what=what)


def order_of_tied_workers_is_nothing(case: Case, *, mixing: Mixing) -> None:
    """Another order of tied workers gives the same mixtures: see wola.aggregation.smallest."""
    for name, updates in case.tied_updates().items():
        expected = _mixtures(mixing, updates, case.f)
        for seed in range(3):
            order = normal(case.n, seed=seed + 100).argsort()
            result = _mixtures(mixing, updates[order], case.f)
            what = f"{name} in the order {order.tolist()}"
            expect_same_rows(result, expected, tolerance=_EXACT, what=what)


def rows_sum_to_one(case: Case, *, mixing: Mixing) -> None:
    """The rows of the matrix sum to 1."""
    sums = _matrix(mixing, case.updates(), case.f).sum(dim=1)
    expect_close(sums, torch.ones(len(sums)), tolerance=1e-9, what="row sums")
