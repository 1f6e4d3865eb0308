"""The battery for attacks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Any

import torch

from wola.aggregation import Rule, TrimmedMean
from wola.aggregation.source import as_matrix
from wola.testing._calls import call_properties, dtypes_agree
from wola.testing._expect import (
    ROUNDING,
    Case,
    as_double,
    expect,
    expect_close,
    expect_error,
    expect_same_bits,
    expect_same_rows,
    fresh_generator,
    normal,
    properties_of,
    run,
)

Attack = Callable[..., Any]


def check_attack(
    attack: Attack,
    *,
    permutation: bool = True,
    scale: bool | None = None,
    rule: Rule | None = None,
    honest: Iterable[int] = (11, 8),
) -> None:
    """Run the battery on an attack; an AssertionError says which property failed and where.

    An attack is called as `attack(honest, f, rule=rule, generator=generator)` with the h honest
    updates (h, d) and gives what the f Byzantine workers send, (f, d). Checked: that shape, f = 0
    included; kind, dtype, device and layout as for any call on updates (see `check_rule`); the
    honest updates and every global random state are untouched; equal generators give equal bits;
    dtypes agree up to rounding, unless the attack draws at random; f >= h, half of all workers or
    more, is refused. With `permutation`, another order of the honest workers gives the same
    updates, in whatever order, also among duplicated workers. With `scale`, by default where the
    attack's `scale_equivariant` claims it, a positive factor on the honest updates is a factor on
    what is sent, from 1e-300 to 1e300.

    `rule` is the server's, handed to every call (by default a trimmed mean); `honest` lists the
    numbers h to try. An attack with `partial_knowledge` is also given `own`, f updates of the
    attackers', which are of the size of the honest ones and do not depend on their order. Every
    call is made on a copy of the attack, so that one with a memory starts from the same state.

    >>> import torch
    >>> def send_mean(honest, f, rule=None, generator=None):
    ...     return honest.mean(0).repeat(f, 1)
    >>> check_attack(send_mean)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: ...send_mean... fails 'Half of all workers or more is refused' ...
    """
    cases = [Case(h, f) for h in honest for f in (0, 1, h - 1)]
    expect(bool(cases), "honest is empty: there is nothing to check")
    call = partial(_sent, attack, TrimmedMean() if rule is None else rule)
    always = [
        one_update_for_each_byzantine_worker,
        half_or_more_is_refused,
        equal_generators_equal_bits,
    ]
    run(attack, properties_of(cases, *always, call=call))
    if permutation:
        run(attack, properties_of(cases, order_of_honest_workers_is_nothing, call=call))
    if getattr(attack, "scale_equivariant", False) if scale is None else scale:
        run(attack, properties_of(cases, factors_pass_through, call=call))
    run(attack, call_properties(call, cases))
    if not draws_at_random(call, cases[0].n):
        run(attack, properties_of(cases, dtypes_agree, call=call))


def _sent(attack: Attack, rule: Rule, honest: Any, f: int, seed: int = 0) -> Any:
    known: dict[str, Any] = {}
    if getattr(attack, "partial_knowledge", False):
        known["own"] = as_matrix(honest).sort(dim=0).values[:f]
    return deepcopy(attack)(honest, f, rule=rule, generator=fresh_generator(seed), **known)


def draws_at_random(call: Attack, h: int) -> bool:
    """Whether another generator gives another result: then each dtype has its own draws."""
    updates = Case(h, 1).updates()
    first, second = (as_double(call(updates, 1, seed)) for seed in (0, 1))
    return not torch.allclose(first, second, equal_nan=True)


def one_update_for_each_byzantine_worker(case: Case, *, call: Attack) -> None:
    """The result has shape (f, d)."""
    for d in (case.d, 1, 1500):
        sent = call(Case(case.n, case.f, d).updates(), case.f)
        expect(sent.shape == (case.f, d), f"shape {tuple(sent.shape)}, expected {(case.f, d)}")


def half_or_more_is_refused(case: Case, *, call: Attack) -> None:
    """Half of all workers or more is refused."""
    for f in (case.n, case.n + 1):
        what = f"f = {f} with {case.n} honest workers"
        expect_error(ValueError, partial(call, case.updates(), f), what, str(f))


def equal_generators_equal_bits(case: Case, *, call: Attack) -> None:
    """Generators in equal states give equal bits, whatever the global random state is."""
    updates = case.updates()
    first = call(updates, case.f)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(12_345)
        expect_same_bits(call(updates, case.f), first, "another global seed")


def order_of_honest_workers_is_nothing(case: Case, *, call: Attack) -> None:
    """Another order of the honest workers gives the same updates."""
    for seed in range(3):
        updates = case.updates(seed)
        doubled = torch.cat([updates[: case.n // 2]] * 2 + [updates[: case.n % 2]])
        order = normal(case.n, seed=seed + 100).argsort()
        for name, rows in (("", updates), (" of duplicated workers", doubled)):
            sent, expected = call(rows[order], case.f), call(rows, case.f)
            what, tolerance = f"order {order.tolist()}{name}", ROUNDING[torch.float64]
            expect_same_rows(sent, expected, tolerance=tolerance, what=what)


def factors_pass_through(case: Case, *, call: Attack) -> None:
    """A positive factor on the honest updates is a factor on what is sent."""
    # Powers of two, which round nothing: where several answers are equally good, a search that
    # meets them may take another one after the slightest change.
    for exponent in (-997, -400, -40, 40, 400, 997):
        updates, factor = case.updates(), 2.0**exponent
        expected, sent = as_double(call(updates, case.f)), call(factor * updates, case.f)
        what = f"honest updates times 2^{exponent}"
        tolerance = ROUNDING[torch.float64]
        expect_close(as_double(sent) / factor, expected, tolerance=tolerance, what=what)
