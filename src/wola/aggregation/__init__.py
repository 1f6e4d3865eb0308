"""Robust aggregation rules: n updates to one."""

from wola.aggregation.bulyan import Bulyan, bulyan
from wola.aggregation.centered_clipping import CenteredClipping, centered_clipping
from wola.aggregation.elimination import (
    ComparativeGradientElimination,
    comparative_gradient_elimination,
)
from wola.aggregation.filtering import CAF, caf
from wola.aggregation.geometric_median import GeometricMedian, geometric_median
from wola.aggregation.krum import Krum, MultiKrum, krum, multi_krum
from wola.aggregation.meamed import MeaMed, meamed
from wola.aggregation.mean import Mean, mean
from wola.aggregation.median import CoordinateMedian, coordinate_median
from wola.aggregation.rule import (
    ColumnRule,
    GramRule,
    Outcome,
    Rule,
    Solution,
    TooFewUpdates,
)
from wola.aggregation.space import Space
from wola.aggregation.subsets import (
    SMEA,
    MinimumDiameterAveraging,
    minimum_diameter_averaging,
    smea,
)
from wola.aggregation.trimmed_mean import TrimmedMean, trimmed_mean

__all__ = [
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
    "Outcome",
    "Rule",
    "Solution",
    "Space",
    "TooFewUpdates",
    "TrimmedMean",
    "bulyan",
    "caf",
    "centered_clipping",
    "comparative_gradient_elimination",
    "coordinate_median",
    "geometric_median",
    "krum",
    "meamed",
    "mean",
    "minimum_diameter_averaging",
    "multi_krum",
    "smea",
    "trimmed_mean",
]
