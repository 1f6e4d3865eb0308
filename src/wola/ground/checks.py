"""Checks of single values: what one was, and what is allowed, in one form of words."""

import operator
from collections.abc import Iterable
from math import inf, isfinite
from numbers import Real

from wola.ground.names import nearest


def check_number(
    name: str,
    value: float,
    *,
    least: float = -inf,
    above: float = -inf,
    below: float = inf,
    most: float = inf,
) -> float:
    """`value` if it is a finite number with least <= value <= most and above < value < below.

    Another kind of value is a TypeError, another number a ValueError.

    >>> check_number("beta", 1.5, least=0, below=1)
    Traceback (most recent call last):
    ...
    ValueError: beta = 1.5; allowed: a finite number >= 0 and < 1
    """
    bounds = [
        f" >= {least:g}" if least > -inf else "",
        f" > {above:g}" if above > -inf else "",
        f" < {below:g}" if below < inf else "",
        f" <= {most:g}" if most < inf else "",
    ]
    allowed = "a finite number" + " and".join(bound for bound in bounds if bound)
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} = {value!r} is a {type(value).__name__}; allowed: {allowed}")
    if not (isfinite(value) and least <= value <= most and above < value < below):
        raise ValueError(f"{name} = {value!r}; allowed: {allowed}")
    return value


def check_whole(name: str, value: int, *, least: int | None = None) -> int:
    """`value` as an int if it is a whole number, not below `least`.

    Any integer type will do, NumPy's and PyTorch's too, but a bool will not. Another kind of value
    is a TypeError, a number that is too small a ValueError.

    >>> check_whole("f", -1, least=0)
    Traceback (most recent call last):
    ...
    ValueError: f = -1; allowed: an int >= 0
    """
    allowed = "an int" if least is None else f"an int >= {least}"
    whole = _index(value)
    if whole is None:
        raise TypeError(f"{name} = {value!r} is a {type(value).__name__}; allowed: {allowed}")
    if least is not None and whole < least:
        raise ValueError(f"{name} = {value!r}; allowed: {allowed}")
    return whole


def _index(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """`value` if it is one of the choices, else a ValueError with the nearest of them.

    >>> check_choice("direction", "sing", ["std", "unit", "sign"])
    Traceback (most recent call last):
    ...
    ValueError: direction = 'sing'; did you mean 'sign'? allowed: std, unit, sign
    """
    try:
        return nearest(value, choices)
    except ValueError as error:
        raise ValueError(f"{name} = {value!r}; {error}") from None
