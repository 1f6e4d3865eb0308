"""Every rule and mixing beside its reference, and what it promises: the tests' shared table."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from tests import reference, reference_newer_rules
from tests.reference import Array
from wola.aggregation import (
    CAF,
    GAS,
    RAGE,
    SMEA,
    Bulyan,
    CenteredClipping,
    ComparativeGradientElimination,
    CoordinateMedian,
    DnC,
    GeometricMedian,
    Huber,
    Krum,
    MeaMed,
    Mean,
    MinimumDiameterAveraging,
    MultiKrum,
    NormalisedMean,
    Rule,
    TrimmedMean,
)
from wola.mixing import (
    ARC,
    NNM,
    AngleNNM,
    Bucketing,
    ClipLargest,
    Clipping,
    FiniteOnly,
    FoundationFL,
    Mixing,
)

Reference = Callable[[Array, int], Array]
SEED = 31


@dataclass(frozen=True)
class RuleEntry:
    """A rule, its reference, and the options of `check_rule` that it needs."""

    rule: Rule
    reference: Reference
    options: dict[str, Any] = field(default_factory=dict)
    most_workers: int = 20

    def __str__(self) -> str:
        return str(self.rule)

    def accepts(self, n: int, f: int, d: int) -> bool:
        """Whether rule and reference both have one answer for this n, f and d."""
        return n <= self.most_workers and f <= self.rule.max_byzantine(n)


def _no_f(function: Callable[[Array], Array]) -> Reference:
    return lambda x, f: function(x)


def _then(mixing: Reference, rule: Reference) -> Reference:
    return lambda x, f: rule(mixing(x, f), f)


def shuffled_buckets(size: int) -> Reference:
    def mixtures(x: Array, f: int) -> Array:
        order = torch.randperm(len(x), generator=generator()).tolist()
        return reference.bucketing(x, order, size)

    return mixtures


def drawn_columns(count: int, times: int) -> Callable[[Array], list[Array]]:
    """The samples of columns that a rule with the tests' generator draws."""

    def samples(x: Array) -> list[Array]:
        d = x.shape[1]
        if count >= d:
            return [np.arange(d)]
        rng = np.random.default_rng(int(torch.randint(2**63 - 1, (1,), generator=generator())))
        return [rng.choice(d, count, replace=False, shuffle=False) for _ in range(times)]

    return samples


def split_columns(x: Array, count: int) -> list[Array]:
    """The groups of columns that a rule with the tests' generator makes."""
    d = x.shape[1]
    if count >= d:
        return [np.array([k]) for k in range(d)]
    rng = np.random.default_rng(int(torch.randint(2**63 - 1, (1,), generator=generator())))
    return np.array_split(rng.permutation(d), count)


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(SEED)


ALL = slice(None)
_NOT_EQUIVARIANT = {"translation": False, "scale": False}
_CLIPS = {**_NOT_EQUIVARIANT, "average": False, "agreement": False}

PLAIN_RULES = [
    RuleEntry(Mean(), _no_f(reference.mean), {"agreement": False}),
    RuleEntry(CoordinateMedian(), _no_f(reference.coordinate_median)),
    RuleEntry(TrimmedMean(), reference.trimmed_mean),
    RuleEntry(MeaMed(), reference.meamed),
    RuleEntry(GeometricMedian(), _no_f(reference.geometric_median)),
    RuleEntry(
        GeometricMedian(iterations=10, nu=0.1),
        lambda x, f: reference.smoothed_weiszfeld(x, 10, 0.1),
        {**_NOT_EQUIVARIANT, "agreement": False},
    ),
    RuleEntry(Krum(), reference.krum),
    RuleEntry(Krum(power=1), lambda x, f: reference.krum(x, f, 1)),
    RuleEntry(MultiKrum(), reference.multi_krum),
    RuleEntry(MultiKrum(power=1), lambda x, f: reference.multi_krum(x, f, 1)),
    RuleEntry(MinimumDiameterAveraging(), reference.minimum_diameter_averaging, most_workers=11),
    RuleEntry(
        ComparativeGradientElimination(),
        reference.comparative_gradient_elimination,
        {"translation": False},
    ),
    RuleEntry(
        CenteredClipping(tau=2.0, iterations=3),
        lambda x, f: reference.centered_clipping(x, 2.0, 3),
        _CLIPS,
    ),
    RuleEntry(Bulyan(), reference.bulyan),
    RuleEntry(SMEA(), reference.smea, most_workers=9),
    # A liar far away that has lost its weight still sets the pace: the others lose theirs slowly.
    RuleEntry(CAF(), reference.caf, {"agreement": False}),
    RuleEntry(CAF(pace="weighted"), lambda x, f: reference.caf(x, f, all_set_the_pace=False)),
    RuleEntry(RAGE(), reference_newer_rules.rage),
    RuleEntry(
        RAGE(bound=0.5),
        lambda x, f: reference_newer_rules.rage(x, f, 0.5),
        {"scale": False, "agreement": False},
    ),
    # With f = 5 of n = 11 the mean moves so far that a liar is nearer to it than those who agree.
    RuleEntry(DnC(), lambda x, f: reference_newer_rules.dnc(x, f, [ALL]), {"agreement": False}),
    RuleEntry(
        DnC(columns=5),
        lambda x, f: reference_newer_rules.dnc(x, f, drawn_columns(5, 1)(x)),
        {"agreement": False},
    ),
    RuleEntry(Huber(), _no_f(reference_newer_rules.huber)),
    RuleEntry(
        Huber(threshold=0.7),
        lambda x, f: reference_newer_rules.huber(x, 0.7),
        {"scale": False, "agreement": False},
    ),
    RuleEntry(NormalisedMean(), _no_f(reference_newer_rules.normalised_mean), _CLIPS),
    RuleEntry(
        GAS(groups=3),
        lambda x, f: reference_newer_rules.gas(x, f, split_columns(x, 3), reference.krum),
    ),
    RuleEntry(
        GAS(CoordinateMedian()),
        lambda x, f: reference_newer_rules.gas(
            x, f, split_columns(x, 1000), _no_f(reference.coordinate_median)
        ),
    ),
]

CHAINS = [
    # With n = 2f + 1, f liars have f - 1 = n - f - 2 neighbours in each other, and NNM makes their
    # mixtures one point: Multi-Krum scores them 0, like those who agree. So n = 10 and not 11.
    RuleEntry(
        NNM() | MultiKrum(),
        _then(reference.nnm, reference.multi_krum),
        {"workers": (10, 8)},
    ),
    RuleEntry(
        NNM() | DnC(columns=5),
        _then(reference.nnm, lambda x, f: reference_newer_rules.dnc(x, f, drawn_columns(5, 1)(x))),
        {"agreement": False},
    ),
    RuleEntry(
        NNM() | GAS(groups=3),
        _then(
            reference.nnm,
            lambda x, f: reference_newer_rules.gas(x, f, split_columns(x, 3), reference.krum),
        ),
        {"workers": (10, 8)},
    ),
    RuleEntry(NNM() | TrimmedMean(), _then(reference.nnm, reference.trimmed_mean)),
    RuleEntry(NNM() | CoordinateMedian(), _then(reference.nnm, _no_f(reference.coordinate_median))),
    RuleEntry(
        ARC() | CoordinateMedian(),
        _then(reference.arc, _no_f(reference.coordinate_median)),
        {"translation": False},
    ),
    RuleEntry(
        ARC() | NNM() | TrimmedMean(),
        _then(reference.arc, _then(reference.nnm, reference.trimmed_mean)),
        {"translation": False, "agreement": False},
    ),
    RuleEntry(
        ClipLargest() | AngleNNM() | TrimmedMean(),
        _then(reference.clip_largest, _then(reference.angle_nnm, reference.trimmed_mean)),
        {"translation": False, "agreement": False},
    ),
    RuleEntry(
        FoundationFL() | TrimmedMean(),
        _then(_no_f(reference.foundation_fl), reference.trimmed_mean),
        {"agreement": False},
    ),
    RuleEntry(
        Clipping(max_norm=2.0) | Mean(),
        _then(lambda x, f: reference.clipping(x, 2.0), _no_f(reference.mean)),
        _CLIPS,
    ),
    RuleEntry(
        Bucketing(size=2) | MultiKrum(),
        _then(shuffled_buckets(2), reference.multi_krum),
        {"permutation": False, "agreement": False, "workers": (11, 12)},
    ),
]

RULES = PLAIN_RULES + CHAINS


@dataclass(frozen=True)
class MixingEntry:
    """A mixing, its reference, and the options of `check_mixing` that it needs."""

    mixing: Mixing
    reference: Reference
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.mixing)


MIXINGS = [
    MixingEntry(FiniteOnly(), lambda x, f: x),
    MixingEntry(NNM(), reference.nnm),
    MixingEntry(Bucketing(size=2), shuffled_buckets(2), {"permutation": False}),
    MixingEntry(Bucketing(size=3), shuffled_buckets(3), {"permutation": False}),
    MixingEntry(FoundationFL(), _no_f(reference.foundation_fl)),
    MixingEntry(
        Clipping(max_norm=2.0),
        lambda x, f: reference.clipping(x, 2.0),
        {**_NOT_EQUIVARIANT, "average": False},
    ),
    MixingEntry(ARC(), reference.arc, {"translation": False, "average": False}),
    MixingEntry(ClipLargest(), reference.clip_largest, {"translation": False, "average": False}),
    MixingEntry(AngleNNM(), reference.angle_nnm, {"translation": False}),
    MixingEntry(
        ClipLargest() | AngleNNM(),
        lambda x, f: reference.angle_nnm(reference.clip_largest(x, f), f),
        {"translation": False, "average": False},
    ),
    MixingEntry(
        ARC() | FoundationFL(),
        lambda x, f: reference.foundation_fl(reference.arc(x, f)),
        {"translation": False, "average": False},
    ),
    MixingEntry(
        Bucketing(size=2) | NNM(),
        _then(shuffled_buckets(2), reference.nnm),
        {"permutation": False},
    ),
]


def sizes() -> Iterator[tuple[int, int, int]]:
    """Small n, every f below n/2, and d below, at and above n."""
    for n in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 17):
        for f in sorted({0, 1, (n - 1) // 4, (n - 1) // 3, (n - 1) // 2}):
            if 2 * f < n:
                yield from ((n, f, d) for d in (1, 2, 12, 40))


def updates(n: int, d: int, *, seed: int = 0, spread: float = 1.0) -> Array:
    """Float64 updates without ties, not centred at the origin."""
    rng = np.random.default_rng([n, d, seed])
    return rng.normal(0.3, spread, (n, d)) + rng.normal(0.0, 1.0, d)


def assert_close(actual: Any, expected: Array, x: Array, tolerance: float) -> None:
    """Equal up to `tolerance` times the largest value of the updates."""
    largest = float(np.abs(x).max(initial=1e-300))
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=0, atol=tolerance * largest)
