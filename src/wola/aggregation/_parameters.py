"""Checks of the parameters that rules, mixings and attacks are made with."""

from math import inf, isfinite
from numbers import Integral, Real


def check_number(name: str, value: float, *, above: float = -inf) -> None:
    """Raise unless `value` is a finite number greater than `above`."""
    allowed = "a finite number" if above == -inf else f"a finite number > {above:g}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} = {value!r} is a {type(value).__name__}; allowed: {allowed}")
    if not (isfinite(value) and value > above):
        raise ValueError(f"{name} = {value!r}; allowed: {allowed}")


def check_whole(name: str, value: int, *, least: int) -> None:
    """Raise unless `value` is an int, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        kind = type(value).__name__
        raise TypeError(f"{name} = {value!r} is a {kind}; allowed: an int >= {least}")
    if value < least:
        raise ValueError(f"{name} = {value!r}; allowed: an int >= {least}")
