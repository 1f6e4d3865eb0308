"""Whether two lists of numbers agree: Kendall's tau of their orders, a test of paired numbers."""

from collections.abc import Sequence
from itertools import combinations
from math import sqrt

import numpy as np

#: Up to so many pairs every assignment of signs is tried; beyond, as many are drawn as there
#: would be with so many pairs.
EXACT = 16


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    r"""How well two orders agree, from -1 to 1; None if one of them is all ties or too short.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_x)(P - T_y)}}

    with C and D the concordant and discordant ones of the P pairs, and :math:`T_x, T_y` the pairs
    tied in the first and in the second list. Reference: Kendall, *The Treatment of Ties in Ranking
    Problems*, Biometrika 1945.

    >>> kendall_tau([1, 2, 3], [10, 30, 20])
    0.3333333333333333
    """
    pairs = [
        (_sign(a - b), _sign(c - d))
        for (a, c), (b, d) in combinations(zip(first, second, strict=True), 2)
    ]
    untied = [sum(x != 0 for x in side) for side in zip(*pairs, strict=True)]
    if not pairs or 0 in untied:
        return None
    return sum(x * y for x, y in pairs) / sqrt(untied[0] * untied[1])


def sign_flip_p(differences: Sequence[float]) -> float | None:
    r"""The p-value of paired differences under "each might as well have the other sign".

    Two-sided: the share of all :math:`2^n` assignments of signs whose sum is as far from 0 as the
    one observed. It assumes no distribution, and cannot be below :math:`2^{1-n}`: 0.25 with three
    pairs, 0.03125 with six. None without pairs. Reference: Fisher, *The Design of Experiments*,
    1935, section 21.

    >>> sign_flip_p([1.0, 2.0, 4.0]), sign_flip_p([1.0, -2.0, 4.0])
    (0.25, 0.75)
    """
    sizes = np.abs(np.asarray(differences, dtype=np.float64))
    if sizes.size == 0:
        return None
    observed = abs(float(np.sum(differences)))
    if sizes.size <= EXACT:
        sums = np.zeros(1)
        for size in sizes:
            sums = np.concatenate([sums + size, sums - size])
    else:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (2**EXACT, sizes.size))
        # The assignment observed is one of those counted, so that p is never 0.
        sums = np.append(signs @ sizes, observed)
    return float(np.mean(np.abs(sums) >= observed * (1 - 1e-9)))


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
