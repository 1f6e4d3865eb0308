"""Everything a scenario can name: one dictionary per kind, and what the names stand for."""

from collections.abc import Callable, Mapping
from functools import partial
from inspect import getdoc
from types import MappingProxyType
from typing import Any

from wola.aggregation import (
    CAF,
    SMEA,
    Bulyan,
    CenteredClipping,
    ComparativeGradientElimination,
    CoordinateMedian,
    GeometricMedian,
    Krum,
    MeaMed,
    Mean,
    MinimumDiameterAveraging,
    MultiKrum,
    Rule,
    TrimmedMean,
)
from wola.attacks import (
    ALIE,
    FOE,
    Attack,
    Gaussian,
    Infinite,
    LabelAttack,
    LabelFlip,
    LabelShift,
    Mimic,
    MimicStatic,
    MimicVariance,
    MinMax,
    MinSum,
    NaN,
    OptimalALIE,
    OptimalFOE,
    ScaledSignFlip,
    SignFlip,
    Zero,
)
from wola.ground.names import nearest
from wola.labels import OutlierDistribution, RarestClass, Shared, WorstDistribution
from wola.mixing import ARC, NNM, Bucketing, Clipping, FoundationFL, Mixing

AGGREGATORS: Mapping[str, type[Rule]] = MappingProxyType(
    {
        "mean": Mean,
        "median": CoordinateMedian,
        "trimmed-mean": TrimmedMean,
        "meamed": MeaMed,
        "geometric-median": GeometricMedian,
        "krum": Krum,
        "multi-krum": MultiKrum,
        "mda": MinimumDiameterAveraging,
        "cge": ComparativeGradientElimination,
        "centered-clipping": CenteredClipping,
        "bulyan": Bulyan,
        "smea": SMEA,
        "caf": CAF,
    }
)

#: The aggregators that the WoLA paper defines in another way than their authors do.
AS_IN_THE_PAPER: Mapping[str, Callable[[], Rule]] = MappingProxyType(
    {
        "geometric-median": lambda: GeometricMedian(iterations=10, nu=0.1),
        "krum": lambda: Krum(power=1),
        "multi-krum": lambda: MultiKrum(power=1),
    }
)

MIXINGS: Mapping[str, type[Mixing]] = MappingProxyType(
    {
        "nnm": NNM,
        "bucketing": Bucketing,
        "foundation-fl": FoundationFL,
        "clipping": Clipping,
        "arc": ARC,
    }
)

ATTACKS: Mapping[str, Callable[[], Attack]] = MappingProxyType(
    {
        "alie": ALIE,
        "foe": FOE,
        "sf": SignFlip,
        "mimic": Mimic,
        "mimic-static": MimicStatic,
        "mimic-variance": MimicVariance,
        "gaussian": Gaussian,
        "infinite": Infinite,
        "nan": NaN,
        "zero": Zero,
        "scaled-sf": partial(ScaledSignFlip, scale=10.0),
        "optimal-alie": OptimalALIE,
        "optimal-foe": OptimalFOE,
        "min-max": MinMax,
        "min-sum": MinSum,
    }
)

#: Attacks whose workers compute on data of their own, with these labels.
LABEL_ATTACKS: Mapping[str, type[LabelAttack]] = MappingProxyType(
    {"lf": LabelFlip, "label-shift": LabelShift}
)

OBJECTIVES: Mapping[str, str] = MappingProxyType(
    {
        "prior": "The honest workers' global label distribution, known beforehand.",
        "uniform": "Every class counts the same.",
        "shared": "Estimated by a robust rule from the distributions the workers report.",
    }
)

OBJECTIVE_ATTACKS: Mapping[str, type[RarestClass | OutlierDistribution | WorstDistribution]] = (
    MappingProxyType(
        {
            "rarest-class": RarestClass,
            "outlier": OutlierDistribution,
            "worst": WorstDistribution,
        }
    )
)

_PLAIN = {"loss": "cross-entropy", "objective": "prior", "objective_attack": "none"}
_WOLA = {**_PLAIN, "loss": "wola"}
_DAGGER = {"loss": "wola", "objective": "shared", "objective_attack": "rarest-class"}

#: The strategies of the WoLA paper: what each one sets in a scenario.
STRATEGIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "-": {**_PLAIN, "mixing": "none"},
        "BKT": {**_PLAIN, "mixing": "bucketing"},
        "NNM": {**_PLAIN, "mixing": "nnm"},
        "FoundFL": {**_PLAIN, "mixing": "foundation-fl"},
        "WoLA": {**_WOLA, "mixing": "none"},
        "WoLA+NNM": {**_WOLA, "mixing": "nnm"},
        "WoLA-dagger": {**_DAGGER, "objective_rule": "paper", "mixing": "none"},
        "WoLA-dagger+NNM": {**_DAGGER, "objective_rule": "paper", "mixing": "nnm"},
    }
)


def described(thing: Any) -> str:
    """One line about what a name stands for: the first of its docstring.

    >>> described(AGGREGATORS["mean"]) != ""
    True
    """
    if isinstance(thing, str):
        return thing
    return (getdoc(thing.func if isinstance(thing, partial) else thing) or "").split("\n")[0]


def strategy_named(name: str) -> str:
    """The strategy's own spelling for a name in any case.

    >>> strategy_named("wola+nnm")
    'WoLA+NNM'
    """
    spelling = {known.lower(): known for known in STRATEGIES}
    return spelling[nearest(name.lower(), spelling)]


def make_rule(aggregator: str, *, mixing: str = "none", definitions: str = "paper") -> Rule:
    """The server's rule: an aggregator, after mixings joined by "+".

    `definitions` "paper" takes geometric median, Krum and Multi-Krum as the WoLA paper does,
    "library" as their authors do.

    >>> str(make_rule("multi-krum", mixing="nnm"))
    'NNM() | MultiKrum(power=1)'
    """
    name = nearest(aggregator, AGGREGATORS)
    variants = AS_IN_THE_PAPER if definitions == "paper" else {}
    rule: Rule = variants.get(name, AGGREGATORS[name])()
    for part in reversed([] if mixing == "none" else mixing.split("+")):
        rule = MIXINGS[nearest(part, MIXINGS)]() | rule
    return rule


def make_objective(rule: str, *, definitions: str = "paper") -> Shared:
    """The shared objective with its rule: "paper", or an aggregator, mixings before it with "+".

    >>> str(make_objective("nnm+geometric-median", definitions="library").rule)
    'NNM() | GeometricMedian(iterations=None, nu=None)'
    """
    if rule == "paper":
        return Shared()
    mixing, _, aggregator = rule.rpartition("+")
    return Shared(make_rule(aggregator, mixing=mixing or "none", definitions=definitions))
