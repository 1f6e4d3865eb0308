"""Checks of the parameters that rules, mixings and attacks are made with."""

from math import inf, isfinite
from numbers import Integral, Real


def check_number(
    name: str, value: float, *, least: float = -inf, above: float = -inf, below: float = inf
) -> None:
    """Raise unless `value` is a finite number with least <= value and above < value < below."""
    bounds = [
        f" >= {least:g}" if least > -inf else "",
        f" > {above:g}" if above > -inf else "",
        f" < {below:g}" if below < inf else "",
    ]
    allowed = "a finite number" + " and".join(bound for bound in bounds if bound)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} = {value!r} is a {type(value).__name__}; allowed: {allowed}")
    if not (isfinite(value) and value >= least and above < value < below):
        raise ValueError(f"{name} = {value!r}; allowed: {allowed}")


def check_whole(name: str, value: int, *, least: int) -> None:
    """Raise unless `value` is an int, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        kind = type(value).__name__
        raise TypeError(f"{name} = {value!r} is a {kind}; allowed: an int >= {least}")
    if value < least:
        raise ValueError(f"{name} = {value!r}; allowed: an int >= {least}")
