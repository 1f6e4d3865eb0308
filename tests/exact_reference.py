"""Rules and mixings that rank, in fractions: for updates of whole numbers every tie is exact.

Each function takes the updates as a list of rows of whole numbers and gives rows of fractions.
Sums of first powers of distances are added up from square roots of 60 digits; two that agree to 50
digits are equal, since sums of a few square roots of small numbers are equal or far apart.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any

Row = Sequence[Fraction]
Rows = Sequence[Row]


def square(a: Row, b: Row) -> Fraction:
    return sum(((u - v) ** 2 for u, v in zip(a, b, strict=True)), Fraction(0))


def root(value: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        digits = (Decimal(value.numerator) / Decimal(value.denominator)).sqrt()
    return Fraction(round(Fraction(digits) * 10**50), 10**50)


def weighted(weights: Sequence[Fraction], x: Rows) -> list[Fraction]:
    return [
        sum((w * v for w, v in zip(weights, column, strict=True)), Fraction(0))
        for column in zip(*x, strict=True)
    ]


def shared(scores: Sequence[Any], count: int) -> list[Fraction]:
    """Those below the score of rank `count` count 1/count; those that have it share the rest."""
    edge = sorted(scores)[count - 1]
    below = sum(score < edge for score in scores)
    at_edge = sum(score == edge for score in scores)
    share = Fraction(count - below, at_edge * count)
    return [Fraction(1, count) if s < edge else share if s == edge else Fraction(0) for s in scores]


def krum_scores(x: Rows, neighbours: int, power: int) -> list[Fraction]:
    scores = []
    for i, row in enumerate(x):
        squares = sorted(square(row, other) for j, other in enumerate(x) if j != i)[:neighbours]
        terms = squares if power == 2 else [root(value) for value in squares]
        total = sum(terms, Fraction(0))
        # The last digits of sums of roots differ; 40 digits are enough to tell sums apart.
        scores.append(total if power == 2 else Fraction(round(total * 10**40), 10**40))
    return scores


def multi_krum(x: Rows, f: int, m: int, power: int) -> list[Fraction]:
    return weighted(shared(krum_scores(x, max(1, len(x) - f - 2), power), m), x)


def nnm(x: Rows, f: int) -> list[list[Fraction]]:
    return [weighted(shared([square(row, other) for other in x], len(x) - f), x) for row in x]


def elimination(x: Rows, f: int) -> list[Fraction]:
    origin = [Fraction(0)] * len(x[0])
    return weighted(shared([square(row, origin) for row in x], len(x) - f), x)


def mean_around_median(values: Row, keep: int) -> Fraction:
    ranked = sorted(values)
    n = len(ranked)
    median = (ranked[(n - 1) // 2] + ranked[n // 2]) / Fraction(2)
    weights = shared([abs(v - median) for v in values], keep)
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))


def meamed(x: Rows, f: int) -> list[Fraction]:
    return [mean_around_median(column, len(x) - f) for column in zip(*x, strict=True)]


def trimmed_mean(x: Rows, f: int) -> list[Fraction]:
    n = len(x)
    columns = [sorted(column)[f : n - f] for column in zip(*x, strict=True)]
    return [sum(column, Fraction(0)) / (n - 2 * f) for column in columns]


def minimum_diameter_averaging(x: Rows, f: int) -> list[Fraction]:
    n, size = len(x), len(x) - f
    squares = [[square(a, b) for b in x] for a in x]
    every = list(combinations(range(n), size))
    diameters = [max((squares[i][j] for i in s for j in s), default=0) for s in every]
    best = [s for s, diameter in zip(every, diameters, strict=True) if diameter == min(diameters)]
    weights = [Fraction(sum(i in s for s in best), len(best) * size) for i in range(n)]
    return weighted(weights, x)


def bulyan(x: Rows, f: int) -> list[Fraction]:
    n = len(x)
    remaining, chosen = list(x), []
    while len(chosen) < n - 2 * f:
        r = len(remaining)
        scores = krum_scores(remaining, max(1, r - f - 2), 2)
        best = [row for row, score in zip(remaining, scores, strict=True) if score == min(scores)]
        places = n - 2 * f - len(chosen)
        together = weighted([Fraction(1, len(best))] * len(best), best)
        chosen += [together] * places if len(best) > places else best
        remaining = [
            row for row, score in zip(remaining, scores, strict=True) if score != min(scores)
        ]
    return [mean_around_median(column, n - 4 * f) for column in zip(*chosen, strict=True)]


def foundation_fl(x: Rows) -> list[list[Fraction]]:
    columns = list(zip(*x, strict=True))
    highest, lowest = [max(c) for c in columns], [min(c) for c in columns]
    scores = [-min(square(row, highest), square(row, lowest)) for row in x]
    copy = weighted(shared(scores, 1), x)
    return [*map(list, x), *[copy] * (len(x) // 2)]
