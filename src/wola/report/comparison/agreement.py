"""Whether two lists of numbers agree: the order of both, a test and an interval of differences."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

#: Up to so many pairs every assignment of signs is tried; beyond, as many are drawn as there
#: would be with so many pairs.
EXACT = 16

#: How often an interval should cover what it is of.
CONFIDENCE = 0.95

# scipy takes longer to import than most tables take to make, so it waits until it is needed.


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    r"""How well two orders agree, from -1 to 1; None if one of them is all ties or too short.

    .. math:: \tau_b = \frac{C - D}{\sqrt{(P - T_x)(P - T_y)}}

    with C and D the concordant and discordant ones of the P pairs, and :math:`T_x, T_y` the pairs
    tied in the first and in the second list. Reference: Kendall, *The Treatment of Ties in Ranking
    Problems*, Biometrika 1945.

    >>> round(kendall_tau([1, 2, 3], [10, 30, 20]), 12)
    0.333333333333
    """
    from scipy.stats import kendalltau

    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return float(kendalltau(first, second).statistic)


def sign_flip_p(differences: Sequence[float]) -> float | None:
    r"""The p-value of paired differences under "each might as well have the other sign".

    Two-sided: the share of all :math:`2^n` assignments of signs whose sum is as far from 0 as the
    one observed. It assumes no distribution, and cannot be below :math:`2^{1-n}`: 0.25 with three
    pairs, 0.03125 with six. None without pairs. Reference: Fisher, *The Design of Experiments*,
    1935, section 21.

    >>> sign_flip_p([1.0, 2.0, 4.0]), sign_flip_p([1.0, -2.0, 4.0])
    (0.25, 0.75)
    """
    from scipy.stats import permutation_test

    sizes = np.asarray(differences, dtype=np.float64)
    if sizes.size < 2:
        # Both signs of a single difference lie as far from 0.
        return 1.0 if sizes.size else None
    tested = permutation_test(
        (sizes,),
        np.sum,
        permutation_type="samples",
        n_resamples=2**EXACT,
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    return float(tested.pvalue)


def mean_interval(numbers: Sequence[float]) -> tuple[float, float] | None:
    r"""The t interval of the mean of independent numbers; None of fewer than two.

    .. math:: \bar{d} \pm t_{n-1} \, s / \sqrt{n}

    with s their standard deviation and :math:`t_{n-1}` the quantile of Student's distribution that
    an interval of `CONFIDENCE` needs. It assumes that they are about normal, which three of them
    cannot show: with 2 degrees of freedom t is 4.3.

    >>> [round(end, 2) for end in mean_interval([9.0, 10.0, 11.0])]
    [7.52, 12.48]
    """
    from scipy.special import stdtrit

    size = len(numbers)
    if size < 2:
        return None
    middle, spread = float(np.mean(numbers)), float(np.std(numbers, ddof=1))
    reach = float(stdtrit(size - 1, (1 + CONFIDENCE) / 2)) * spread / sqrt(size)
    return middle - reach, middle + reach
