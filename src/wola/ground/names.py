"""Names and numbers in words: the nearest name, how many there are, and names of workers."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, names: Iterable[str]) -> str:
    """`name` itself if it is one of `names`, else a ValueError with the nearest of them.

    >>> nearest("nmm", ["nnm", "bucketing", "arc"])
    Traceback (most recent call last):
    ...
    ValueError: did you mean 'nnm'? allowed: nnm, bucketing, arc
    """
    known = list(names)
    if name in known:
        return name
    folded = {one.lower(): one for one in known}
    near = get_close_matches(str(name).lower(), folded, n=1)
    hint = f"did you mean {folded[near[0]]!r}? " if near else ""
    raise ValueError(f"{hint}allowed: {', '.join(known)}")


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "run"), counted(5760, "run")
    ('1 run', '5,760 runs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def worker_names(n: int, honest: int | None = None) -> list[str]:
    """Names of n workers: numbers for the honest, B and a number for the Byzantine after them.

    >>> worker_names(3, honest=2)
    ['1', '2', 'B1']
    """
    h = n if honest is None else honest
    return [str(i + 1) if i < h else f"B{i + 1 - h}" for i in range(n)]
