"""How a rule takes what is hard: broken, hostile, equal and huge updates."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from wola.aggregation import Rule
from wola.testing._expect import (
    ROUNDING,
    Case,
    as_double,
    expect,
    expect_close,
    expect_error,
    expect_same_bits,
    fresh_generator,
)

_INF, _NAN = float("inf"), float("nan")


def aggregated(rule: Rule, updates: Any, f: int) -> Any:
    """The result of the rule, with a generator that starts afresh."""
    return rule(updates, f, generator=fresh_generator())


def expect_same_result(
    rule: Rule, updates: Tensor, same_as: Tensor, f: int, what: str, remaining: int | None = None
) -> None:
    """The rule makes the same of both, the second with `remaining` for f if given."""
    expected = aggregated(rule, same_as, f if remaining is None else remaining)
    tolerance = ROUNDING[updates.dtype]
    result = aggregated(rule, updates, f)
    expect_close(result, expected, size=same_as, tolerance=tolerance, what=what)


def broken_workers(case: Case, dtype: torch.dtype) -> list[tuple[str, int, Tensor]]:
    """Updates in which one worker is broken: what it sends, which worker, the updates."""
    cases = []
    largest = torch.finfo(dtype).max
    for name, worker, columns, value in (
        ("a NaN worker", 0, slice(None), _NAN),
        ("a worker with one NaN coordinate", case.n - 1, slice(1, 2), _NAN),
        ("a worker with one NaN in its last coordinate", case.n // 2, slice(-1, None), _NAN),
        ("an Inf worker", case.n // 2, slice(None), _INF),
        ("a worker with one -Inf coordinate", 1, slice(0, 1), -_INF),
        ("a worker whose norm overflows", 2, slice(None), 0.9 * largest),
    ):
        updates = case.updates(dtype=dtype)
        updates[worker, columns] = value
        cases.append((f"{name}, {dtype}", worker, updates))
    return cases


def non_finite_workers_change_nothing(case: Case, *, rule: Rule) -> None:
    """A non-finite or overflowing worker counts as absent: the others with n - 1 and f - 1."""
    for dtype in (torch.float64, torch.float32):
        for name, worker, bad in broken_workers(case, dtype):
            others = torch.cat([bad[:worker], bad[worker + 1 :]])
            f = max(0, case.f - 1)
            if f > rule.max_byzantine(case.n - 1):
                continue
            expect_same_result(rule, bad, others, case.f, name, remaining=f)


def too_many_non_finite_workers_are_refused(case: Case, *, rule: Rule) -> None:
    """When every worker is non-finite there is nothing to aggregate: a ValueError."""
    updates = torch.full((case.n, case.d), _NAN)
    expect_error(ValueError, partial(aggregated, rule, updates, case.f), "all workers NaN")


def agreement_wins(case: Case, *, rule: Rule) -> None:
    """n - f equal updates come back whatever the others send."""
    update = case.updates()[0]
    for distance in (1e2, 1e6, 1e12):
        for first in (False, True):
            liars = update + distance * (2.0 + case.updates(seed=3)[: case.f].abs())
            honest = update.expand(case.n - case.f, -1)
            updates = torch.cat([liars, honest] if first else [honest, liars])
            what = f"{case.f} updates about {distance:g} away {'before' if first else 'after'}"
            expect_close(aggregated(rule, updates, case.f), update, tolerance=1e-6, what=what)


def liars_do_not_carry_the_result_off(case: Case, *, rule: Rule) -> None:
    """f liars, however far away, leave the result near the honest updates."""
    honest = case.updates()[case.f :]
    reach = float((honest - honest.mean(dim=0)).norm(dim=1).max())
    for distance in (1e4, 1e12, 1e30):
        liars = distance * (2.0 + case.updates(seed=3)[: case.f].abs())
        result = as_double(aggregated(rule, torch.cat([liars, honest]), case.f))
        off = float((result - honest.mean(dim=0)).norm())
        expect(
            off <= 100 * reach,
            f"{case.f} updates about {distance:g} away carry it {off:g} from the honest mean, "
            f"from which no honest update is more than {reach:g} away",
        )


def duplicates_and_ties_are_ordinary(case: Case, *, rule: Rule) -> None:
    """A duplicate pair, equal distances and equal coordinates give a finite result."""
    twins = case.updates()
    twins[-1] = twins[0]
    corners = torch.eye(case.n, dtype=torch.float64)
    grid = case.updates().round().clamp(-1, 1)
    zeros = torch.zeros(case.n, case.d)
    inputs = {"a duplicate pair": twins, "equal distances": corners, "ties": grid, "zeros": zeros}
    for name, updates in inputs.items():
        result = as_double(aggregated(rule, updates, case.f))
        expect(bool(result.isfinite().all()), f"{name}: the result is not finite")
        expect_same_bits(aggregated(rule, updates, case.f), result, f"{name}, second call")


def one_worker_is_ordinary(case: Case, *, rule: Rule, average: bool) -> None:
    """A single update is accepted, and an average returns it."""
    update = case.updates()
    result = aggregated(rule, update, 0)
    expect(result.shape == (case.d,), f"shape {tuple(result.shape)}, expected ({case.d},)")
    if average:
        expect_close(result, update[0], tolerance=1e-6, what="the only update")


def huge_values_stay_finite(case: Case, *, rule: Rule, average: bool) -> None:
    """float32 values of 1e38, whose squares and sums overflow, give a finite result."""
    update = torch.tensor([1e38, -1e38, 0.5e38])
    result = as_double(aggregated(rule, update.expand(case.n, -1), case.f))
    expect(bool(result.isfinite().all()), "equal updates of 1e38: the result is not finite")
    if average:
        expect_close(result, update, tolerance=1e-6, what="equal updates of 1e38")
    signs = case.updates().sign()[:, :3]
    result = as_double(aggregated(rule, (1e38 * signs).float(), case.f))
    expect(bool(result.isfinite().all()), "updates of +-1e38: the result is not finite")
