"""Byzantine-robust federated learning under label skew: loss, rules, attacks, simulator.

The names used most are here, imported when they are first asked for; every other one is in its
room: `wola.aggregation`, `wola.mixing`, `wola.labels`, `wola.attacks`, `wola.data`, `wola.models`,
`wola.training`, `wola.bench`, `wola.report`, `wola.flower`, `wola.testing`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wola.aggregation import (
        CAF,
        SMEA,
        Bulyan,
        CenteredClipping,
        ColumnRule,
        ComparativeGradientElimination,
        CoordinateMedian,
        GeometricMedian,
        GramRule,
        Krum,
        MeaMed,
        Mean,
        MinimumDiameterAveraging,
        MultiKrum,
        Rule,
        TooFewUpdates,
        TrimmedMean,
    )
    from wola.attacks import (
        ALIE,
        FOE,
        Attack,
        ColludingAttack,
        LabelAttack,
        LabelFlip,
        Mimic,
        MinMax,
        MinSum,
        OptimalALIE,
        OptimalFOE,
        SignFlip,
    )
    from wola.bench import (
        Grid,
        Store,
        run_grid,
    )
    from wola.data import (
        Dataset,
        Dirichlet,
        Partition,
        load,
    )
    from wola.labels import (
        ClassLoss,
        GaussianMechanism,
        LaplaceMechanism,
        Loss,
        Objective,
        Prior,
        RarestClass,
        Shared,
        Terms,
        Uniform,
        WoLALoss,
        gradient_dissimilarity,
        label_counts,
        wola_weights,
    )
    from wola.mixing import (
        ARC,
        NNM,
        Bucketing,
        Clipping,
        FoundationFL,
        Mixing,
    )
    from wola.report import (
        Comparison,
        compare,
        read_runs,
    )
    from wola.testing import (
        check_attack,
        check_mixing,
        check_rule,
    )
    from wola.training import (
        Callback,
        Result,
        RunFolder,
        Scenario,
        simulate,
    )

_ROOMS = {
    "aggregation": (
        "CAF",
        "SMEA",
        "Bulyan",
        "CenteredClipping",
        "ColumnRule",
        "ComparativeGradientElimination",
        "CoordinateMedian",
        "GeometricMedian",
        "GramRule",
        "Krum",
        "MeaMed",
        "Mean",
        "MinimumDiameterAveraging",
        "MultiKrum",
        "Rule",
        "TooFewUpdates",
        "TrimmedMean",
    ),
    "attacks": (
        "ALIE",
        "FOE",
        "Attack",
        "ColludingAttack",
        "LabelAttack",
        "LabelFlip",
        "Mimic",
        "MinMax",
        "MinSum",
        "OptimalALIE",
        "OptimalFOE",
        "SignFlip",
    ),
    "bench": (
        "Grid",
        "Store",
        "run_grid",
    ),
    "data": (
        "Dataset",
        "Dirichlet",
        "Partition",
        "load",
    ),
    "labels": (
        "ClassLoss",
        "GaussianMechanism",
        "LaplaceMechanism",
        "Loss",
        "Objective",
        "Prior",
        "RarestClass",
        "Shared",
        "Terms",
        "Uniform",
        "WoLALoss",
        "gradient_dissimilarity",
        "label_counts",
        "wola_weights",
    ),
    "mixing": (
        "ARC",
        "NNM",
        "Bucketing",
        "Clipping",
        "FoundationFL",
        "Mixing",
    ),
    "report": (
        "Comparison",
        "compare",
        "read_runs",
    ),
    "testing": (
        "check_attack",
        "check_mixing",
        "check_rule",
    ),
    "training": (
        "Callback",
        "Result",
        "RunFolder",
        "Scenario",
        "simulate",
    ),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "ALIE",
    "ARC",
    "CAF",
    "FOE",
    "NNM",
    "SMEA",
    "Attack",
    "Bucketing",
    "Bulyan",
    "Callback",
    "CenteredClipping",
    "ClassLoss",
    "Clipping",
    "ColludingAttack",
    "ColumnRule",
    "ComparativeGradientElimination",
    "Comparison",
    "CoordinateMedian",
    "Dataset",
    "Dirichlet",
    "FoundationFL",
    "GaussianMechanism",
    "GeometricMedian",
    "GramRule",
    "Grid",
    "Krum",
    "LabelAttack",
    "LabelFlip",
    "LaplaceMechanism",
    "Loss",
    "MeaMed",
    "Mean",
    "Mimic",
    "MinMax",
    "MinSum",
    "MinimumDiameterAveraging",
    "Mixing",
    "MultiKrum",
    "Objective",
    "OptimalALIE",
    "OptimalFOE",
    "Partition",
    "Prior",
    "RarestClass",
    "Result",
    "Rule",
    "RunFolder",
    "Scenario",
    "Shared",
    "SignFlip",
    "Store",
    "Terms",
    "TooFewUpdates",
    "TrimmedMean",
    "Uniform",
    "WoLALoss",
    "check_attack",
    "check_mixing",
    "check_rule",
    "compare",
    "gradient_dissimilarity",
    "label_counts",
    "load",
    "read_runs",
    "run_grid",
    "simulate",
    "wola_weights",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'wola' has no attribute {name!r}")
    found = getattr(import_module(f"wola.{_ROOM_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
