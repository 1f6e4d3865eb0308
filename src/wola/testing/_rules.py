"""The battery for aggregation rules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import torch
from torch import Tensor

from wola.aggregation import Rule
from wola.testing._calls import call_properties, dtypes_agree, equivariances
from wola.testing._expect import (
    ROUNDING,
    Case,
    as_double,
    column_blocks,
    expect,
    expect_close,
    expect_error,
    fresh_generator,
    normal,
    properties_of,
    run,
)
from wola.testing._knowing import Knowing, MakeView, reported
from wola.testing._robustness import (
    aggregated,
    agreement_wins,
    broken_workers,
    duplicates_and_ties_are_ordinary,
    expect_same_result,
    huge_values_stay_finite,
    liars_do_not_carry_the_result_off,
    non_finite_workers_change_nothing,
    one_worker_is_ordinary,
    too_many_non_finite_workers_are_refused,
)

_EXACT = ROUNDING[torch.float64]


def check_rule(
    rule: Rule,
    *,
    permutation: bool = True,
    translation: bool = True,
    scale: bool = True,
    average: bool = True,
    agreement: bool = True,
    workers: Iterable[int] = (11, 8),
    labels: int | None = None,
    view: MakeView | None = None,
) -> None:
    """Run the battery on a rule; an AssertionError says which property failed and where.

    Always checked: the same call gives the same bits; the input and every global random state are
    untouched; tensors, sequences and NumPy arrays of any layout agree and keep kind, dtype and
    device; gradients are left behind; a worker with a NaN, an infinity or an overflowing norm
    changes nothing but n and f; column blocks give what the whole matrix gives; `weights` rebuild
    the result and are zero for dropped workers; `check` accepts `max_byzantine(n)` and refuses one
    more; n = 1 (where it is accepted), d = 0, d = 1, duplicates and ties are ordinary; bad input is
    refused. The options say what else the rule promises, and may be switched off:

    - `permutation`: rule(x[p]) = rule(x) for any order p of the workers, also where duplicates,
      equal distances or small whole numbers make ties;
    - `translation`: rule(x + t) = rule(x) + t for any t (d,);
    - `scale`: rule(c x) = c rule(x) for any c > 0, from 1e-300 to 1e300;
    - `average`: weights sum to 1, so that equal updates come back as they are;
    - `agreement`: n - f equal updates come back however far away the other f are, and f liars do
      not carry the result away from honest updates that differ.

    `workers` lists the numbers n to try, each with f = 0 and with f at its largest. The calls pass
    a generator that starts afresh each time.

    A rule that must know more than the updates is given as it is, not at a view. One that reads
    label reports needs the number of classes as `labels`: every update then brings a report and a
    name that depend on it alone, and go where it goes. For any other, `view` makes the view of a
    call from its updates, an (n, d) tensor in float64 that may hold broken workers: rows of the
    server's own have d columns too, and should depend on nothing else, since neither the order of
    the workers nor a broken one may change them. Where only n matters it is given zeros (n, 1).

    >>> from wola.aggregation import FLTrust, ReferenceRows, View
    >>> def server(updates):
    ...     return View(ReferenceRows(mean=torch.linspace(0.5, 1.5, updates.shape[1])))
    >>> check_rule(
    ...     FLTrust(), view=server, translation=False, scale=False, average=False, agreement=False)

    >>> from wola.aggregation import Mean, TrimmedMean
    >>> check_rule(TrimmedMean())
    >>> check_rule(Mean())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Mean() fails 'n - f equal updates come back whatever the others send' ...
    """
    if labels is not None:
        expect(view is None, "labels and view are both given: the view has labels of its own")
        view = partial(reported, classes=labels)
    if view is not None:
        rule = Knowing(rule, view)
    cases = [Case(n, f) for n in workers for f in sorted({0, rule.max_byzantine(n)})]
    expect(bool(cases), "workers is empty: there is nothing to check")
    claimed = [
        (permutation, order_of_workers_is_nothing),
        (permutation, order_of_tied_workers_is_nothing),
        (average, equal_updates_come_back),
        (agreement, agreement_wins),
        (agreement, liars_do_not_carry_the_result_off),
    ]
    always = [
        preconditions_are_stated,
        result_is_one_update,
        non_finite_workers_change_nothing,
        too_many_non_finite_workers_are_refused,
        blocks_are_the_whole,
        duplicates_and_ties_are_ordinary,
    ]
    run(rule, properties_of(cases, *always, rule=rule))
    run(rule, properties_of(cases, weights_explain_the_result, rule=rule, average=average))
    call = partial(aggregated, rule)
    run(rule, equivariances(call, cases, translation=translation, scale=scale))
    run(rule, properties_of(cases, *(f for given, f in claimed if given), rule=rule))
    alone = [Case(1, 0)] if rule.max_byzantine(1) >= 0 else []
    run(rule, properties_of(alone, one_worker_is_ordinary, rule=rule, average=average))
    run(rule, properties_of(cases, huge_values_stay_finite, rule=rule, average=average))
    run(rule, call_properties(call, cases) + properties_of(cases, dtypes_agree, call=call))


def preconditions_are_stated(case: Case, *, rule: Rule) -> None:
    """check(n, f) accepts max_byzantine(n), and refuses one more with both numbers."""
    for n in range(1, 41):
        most = rule.max_byzantine(n)
        if most >= 0:
            rule.check(n, most)
            rule.check(n, 0)
        over = max(most, -1) + 1
        what = f"check({n}, {over}) with max_byzantine({n}) = {most}"
        expect_error(ValueError, partial(rule.check, n, over), what, str(n), str(over))
    over = rule.max_byzantine(case.n) + 1
    call = partial(aggregated, rule, case.updates(), over)
    expect_error(ValueError, call, f"a call with f = {over}", str(case.n), str(over))


def result_is_one_update(case: Case, *, rule: Rule) -> None:
    """The result is a finite update of shape (d,)."""
    for d in (0, 1, case.d, 2 * case.n, 1500):
        result = as_double(aggregated(rule, Case(case.n, case.f, d).updates(), case.f))
        expect(result.shape == (d,), f"d = {d}: shape {tuple(result.shape)}, expected ({d},)")
        expect(bool(result.isfinite().all()), f"d = {d}: the result is not finite")


def order_of_workers_is_nothing(case: Case, *, rule: Rule) -> None:
    """The order of the workers makes no difference."""
    for seed in range(3):
        updates = case.updates(seed)
        order = normal(case.n, seed=seed + 100).argsort()
        expect_same_result(rule, updates[order], updates, case.f, f"order {order.tolist()}")


def order_of_tied_workers_is_nothing(case: Case, *, rule: Rule) -> None:
    """The order of tied workers makes no difference: ties share (see wola.aggregation.smallest)."""
    for name, updates in case.tied_updates().items():
        for seed in range(3):
            order = normal(case.n, seed=seed + 100).argsort()
            what = f"{name} in the order {order.tolist()}"
            expect_same_result(rule, updates[order], updates, case.f, what)


def equal_updates_come_back(case: Case, *, rule: Rule) -> None:
    """n equal updates come back as they are."""
    update = case.updates()[0]
    result = aggregated(rule, update.expand(case.n, -1), case.f)
    expect_close(result, update, tolerance=1e-6, what="equal updates")


def blocks_are_the_whole(case: Case, *, rule: Rule) -> None:
    """Column blocks give what the whole matrix gives."""
    whole = Case(case.n, case.f, 1100).updates()
    broken = whole.clone()
    broken[1, -1] = float("nan")
    for name, updates in (("finite updates", whole), ("a NaN in the last block", broken)):
        if name != "finite updates" and max(0, case.f - 1) > rule.max_byzantine(case.n - 1):
            continue
        expected = aggregated(rule, updates, case.f)
        for widths in ((1100,), (1, 0, 599, 500), (513, 587)):
            blocks = column_blocks(updates, *widths)
            result = rule.blocks(blocks, case.f, generator=fresh_generator())
            what = f"{name} in blocks of {widths} columns"
            expect_close(result, expected, size=whole, tolerance=_EXACT, what=what)
    arrays = [block.numpy() for block in column_blocks(whole, 600, 500)]
    result = rule.blocks(arrays, case.f, generator=fresh_generator())
    expect(not isinstance(result, Tensor), "NumPy blocks in, tensor out")


def weights_explain_the_result(case: Case, *, rule: Rule, average: bool) -> None:
    """weights @ updates is the result; they sum to 1 for averages and skip dropped workers."""
    inputs: list[tuple[str, int | None, Tensor]] = [("finite updates", None, case.updates())]
    if max(0, case.f - 1) <= rule.max_byzantine(case.n - 1):
        inputs += broken_workers(case, torch.float64)
    for name, dropped, updates in inputs:
        weights = rule.weights(updates, case.f, generator=fresh_generator())
        if weights is None:
            continue
        expect(weights.shape == (case.n,), f"{name}: weights of shape {tuple(weights.shape)}")
        expect(weights.dtype == updates.dtype, f"{name}: weights of dtype {weights.dtype}")
        finite = updates if dropped is None else updates.clone()
        if dropped is not None:
            expect(float(weights[dropped]) == 0.0, f"{name}: weight {float(weights[dropped])}")
            finite[dropped] = 0.0
        result = aggregated(rule, updates, case.f)
        what = f"{name}: weights @ updates"
        expect_close(weights @ finite, result, size=finite, tolerance=_EXACT, what=what)
        total = float(weights.sum())
        expect(not average or abs(total - 1) < 1e-9, f"{name}: weights sum to {total}, not 1")
    array = rule.weights(case.updates().numpy(), case.f, generator=fresh_generator())
    expect(not isinstance(array, Tensor), "NumPy updates in, tensor weights out")
