"""Everything a scenario can name: the kinds of parts, and the paper's strategies."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from torch import nn

from wola.aggregation import (
    BOBA,
    CAF,
    ERR,
    GAS,
    LFR,
    RAGE,
    SMEA,
    Bulyan,
    ByGARS,
    ByGARSPlusPlus,
    CenteredClipping,
    ComparativeGradientElimination,
    CoordinateMedian,
    DnC,
    FLTrust,
    FoolsGold,
    GeometricMedian,
    GReco,
    Huber,
    HullGuard,
    Krum,
    LFRandERR,
    MeaMed,
    Mean,
    MinimumDiameterAveraging,
    MoNNA,
    MultiKrum,
    NormalisedMean,
    Rule,
    SoftSetHull,
    TrimmedMean,
    Zeno,
    ZenoPlusPlus,
)
from wola.attacks import (
    ALIE,
    FOE,
    Attack,
    Beyond,
    FangKrum,
    FangTrim,
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
    OneClass,
    OptimalALIE,
    OptimalFOE,
    Patient,
    PoisonedFL,
    ScaledSignFlip,
    SignFlip,
    SpanSearch,
    Tilt,
    WorstOf,
    Zero,
)
from wola.data import (
    DATASETS,
    PARTITIONS,
    SERVER_SHARES,
    Dataset,
    DataSource,
    Partition,
    ServerShare,
)
from wola.ground.names import nearest
from wola.labels import (
    LOSSES,
    DiracDistribution,
    GaussianMechanism,
    LaplaceMechanism,
    Loss,
    Mechanism,
    Objective,
    ObjectiveAttack,
    OutlierDistribution,
    Prior,
    ProjectedDistribution,
    RandomDistribution,
    RarestClass,
    Shared,
    Shrunk,
    Uniform,
    UniformDistribution,
    WorstDistribution,
)
from wola.mixing import (
    ARC,
    NNM,
    AngleNNM,
    Bucketing,
    ClipLargest,
    Clipping,
    FoundationFL,
    Mixing,
)
from wola.models import MODELS
from wola.parts import Call, Catalogue, Kind, Unimportable, written
from wola.training.schedule import SCHEDULES, Schedule
from wola.training.server import SERVERS, ServerOptimiser

#: Every rule that a scenario can name.
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
        "fltrust": FLTrust,
        "zeno-plus-plus": ZenoPlusPlus,
        "boba": BOBA,
        "zeno": Zeno,
        "lfr": LFR,
        "err": ERR,
        "lfr-and-err": LFRandERR,
        "bygars": ByGARS,
        "bygars-plus-plus": ByGARSPlusPlus,
        "monna": MoNNA,
        "foolsgold": FoolsGold,
        "rage": RAGE,
        "dnc": DnC,
        "huber": Huber,
        "normalised-mean": NormalisedMean,
        "gas": GAS,
        "greco": GReco,
        "hullguard": HullGuard,
        "soft-set-hull": SoftSetHull,
    }
)

#: Every mixing that a scenario can name.
MIXINGS: Mapping[str, type[Mixing]] = MappingProxyType(
    {
        "nnm": NNM,
        "bucketing": Bucketing,
        "foundation-fl": FoundationFL,
        "clipping": Clipping,
        "arc": ARC,
        "clip-largest": ClipLargest,
        "angle-nnm": AngleNNM,
    }
)

#: Attacks on updates, and those whose workers compute on data of their own.
ATTACKS: Mapping[str, type[Attack | LabelAttack]] = MappingProxyType(
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
        "scaled-sf": ScaledSignFlip,
        "optimal-alie": OptimalALIE,
        "optimal-foe": OptimalFOE,
        "min-max": MinMax,
        "min-sum": MinSum,
        "fang-krum": FangKrum,
        "fang-trim": FangTrim,
        "tilt": Tilt,
        "poisoned-fl": PoisonedFL,
        "worst-of": WorstOf,
        "span-search": SpanSearch,
        "beyond": Beyond,
        "patient": Patient,
        "lf": LabelFlip,
        "label-shift": LabelShift,
        "one-class": OneClass,
    }
)

#: Every objective that a scenario can name.
OBJECTIVES: Mapping[str, type[Objective]] = MappingProxyType(
    {"prior": Prior, "uniform": Uniform, "shared": Shared, "shrunk": Shrunk}
)

#: Every lie about labels that a scenario can name.
OBJECTIVE_ATTACKS: Mapping[str, type[ObjectiveAttack]] = MappingProxyType(
    {
        "rarest-class": RarestClass,
        "outlier": OutlierDistribution,
        "worst": WorstDistribution,
        "dirac": DiracDistribution,
        "uniform": UniformDistribution,
        "random": RandomDistribution,
        "projection": ProjectedDistribution,
    }
)

MECHANISMS: Mapping[str, type[Mechanism]] = MappingProxyType(
    {"laplace": LaplaceMechanism, "gaussian": GaussianMechanism}
)


def _in_memory(dataset: object) -> str | None:
    if not isinstance(dataset, Dataset):
        return None
    arguments = (("name", dataset.name), ("digest", dataset.digest()[:16]))
    return written(Call("memory", arguments))


#: The kinds of parts, by the field of a scenario that names one.
PARTS = Catalogue(
    [
        Kind("dataset", DATASETS, (DataSource,), functions=True, opaque=_in_memory),
        Kind("partition", PARTITIONS, (Partition,), later={"alpha": 1.0}),
        Kind(
            "model",
            MODELS,
            (nn.Module,),
            functions=True,
            later={"shape": None, "classes": None},
            words={"auto": "The paper's network for its datasets, a small one for others."},
        ),
        Kind(
            "server_data",
            SERVER_SHARES,
            (ServerShare,),
            none="The server holds no data of its own.",
        ),
        Kind("loss", LOSSES, (Loss,)),
        Kind("objective", OBJECTIVES, (Objective,)),
        Kind(
            "objective_attack",
            OBJECTIVE_ATTACKS,
            (ObjectiveAttack,),
            none="All report the truth.",
        ),
        Kind("noise", MECHANISMS, (Mechanism,)),
        Kind(
            "mixing",
            MIXINGS,
            (Mixing,),
            none="The rule sees the updates as they are.",
            chain=True,
        ),
        Kind("aggregator", AGGREGATORS, (Rule,)),
        Kind("attack", ATTACKS, (Attack, LabelAttack), none="The f workers train honestly."),
        Kind("schedule", SCHEDULES, (Schedule,)),
        Kind(
            "server",
            SERVERS,
            (ServerOptimiser,),
            functions=True,
            later={"size": 1, "device": "cpu"},
        ),
    ]
)

_PLAIN = {"loss": "cross-entropy", "objective": "prior", "objective_attack": "none"}
_WOLA = {**_PLAIN, "loss": "wola"}
_DAGGER = {"loss": "wola", "objective": "shared", "objective_attack": "rarest-class"}

_SHIFT = {"loss": "wola-shift", "objective": "uniform", "objective_attack": "none"}

#: The strategies of the WoLA paper: what each one sets in a scenario.
PAPER_STRATEGIES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "-": {**_PLAIN, "mixing": "none"},
        "BKT": {**_PLAIN, "mixing": "bucketing"},
        "NNM": {**_PLAIN, "mixing": "nnm"},
        "FoundFL": {**_PLAIN, "mixing": "foundation-fl"},
        "WoLA": {**_WOLA, "mixing": "none"},
        "WoLA+NNM": {**_WOLA, "mixing": "nnm"},
        "WoLA-dagger": {**_DAGGER, "mixing": "none"},
        "WoLA-dagger+NNM": {**_DAGGER, "mixing": "nnm"},
    }
)

#: The strategies of the WoLA paper, and ours, which ask nobody for labels.
STRATEGIES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        **PAPER_STRATEGIES,
        "WoLA-shift": {**_SHIFT, "mixing": "none"},
        "WoLA-shift+angle": {**_SHIFT, "mixing": "clip-largest+angle-nnm"},
    }
)


def strategy_named(name: str, strategies: Mapping[str, Any] = STRATEGIES) -> str:
    """The strategy's own spelling for a name in any case.

    >>> strategy_named("wola+nnm")
    'WoLA+NNM'
    """
    if name in strategies:
        return name
    spelling = {known.lower(): known for known in strategies}
    return spelling[nearest(name.lower(), spelling)]


def make_rule(aggregator: str, *, mixing: str = "none") -> Rule:
    """The server's rule: an aggregator after mixings, both as settled texts.

    >>> str(make_rule("multi-krum(power=1)", mixing="nnm"))
    'NNM() | MultiKrum(power=1.0, m=None)'
    """
    if isinstance(aggregator, Unimportable) or isinstance(mixing, Unimportable):
        return _chained(aggregator, mixing)
    return _kept(aggregator, mixing)


def _chained(aggregator: str, mixing: str) -> Rule:
    rule: Rule = PARTS.make("aggregator", aggregator)
    for part in reversed(PARTS.make("mixing", mixing)):
        rule = part | rule
    return rule


#: Rules are frozen values: the same one serves every scenario that names it.
_kept = lru_cache(maxsize=512)(_chained)
