"""Robust aggregation rules: n updates to one."""

from wola.aggregation.boba import BOBA
from wola.aggregation.bulyan import Bulyan
from wola.aggregation.bygars import ByGARS
from wola.aggregation.bygars_plus_plus import ByGARSPlusPlus
from wola.aggregation.caf import CAF
from wola.aggregation.centered_clipping import CenteredClipping
from wola.aggregation.comparative_gradient_elimination import ComparativeGradientElimination
from wola.aggregation.coordinate_median import CoordinateMedian
from wola.aggregation.dnc import DnC
from wola.aggregation.fltrust import FLTrust
from wola.aggregation.foolsgold import FoolsGold
from wola.aggregation.gas import GAS
from wola.aggregation.geometric_median import GeometricMedian
from wola.aggregation.greco import GReco
from wola.aggregation.huber import Huber
from wola.aggregation.hullguard import HullGuard
from wola.aggregation.krum import Krum
from wola.aggregation.loss_rejection import ERR, LFR, LFRandERR
from wola.aggregation.meamed import MeaMed
from wola.aggregation.mean import Mean
from wola.aggregation.minimum_diameter_averaging import MinimumDiameterAveraging
from wola.aggregation.monna import MoNNA
from wola.aggregation.multi_krum import MultiKrum
from wola.aggregation.normalised_mean import NormalisedMean
from wola.aggregation.opening import TooFewUpdates
from wola.aggregation.rage import RAGE
from wola.aggregation.rule import (
    ColumnRule,
    GramRule,
    Outcome,
    Rule,
    Solution,
)
from wola.aggregation.selection import smallest
from wola.aggregation.smea import SMEA
from wola.aggregation.soft_set_hull import SoftSetHull
from wola.aggregation.space import Space
from wola.aggregation.trimmed_mean import TrimmedMean
from wola.aggregation.view import Memory, MissingReference, Reference, ReferenceRows, View
from wola.aggregation.zeno import Zeno
from wola.aggregation.zeno_plus_plus import ZenoPlusPlus

__all__ = [
    "BOBA",
    "CAF",
    "ERR",
    "GAS",
    "LFR",
    "RAGE",
    "SMEA",
    "Bulyan",
    "ByGARS",
    "ByGARSPlusPlus",
    "CenteredClipping",
    "ColumnRule",
    "ComparativeGradientElimination",
    "CoordinateMedian",
    "DnC",
    "FLTrust",
    "FoolsGold",
    "GReco",
    "GeometricMedian",
    "GramRule",
    "Huber",
    "HullGuard",
    "Krum",
    "LFRandERR",
    "MeaMed",
    "Mean",
    "Memory",
    "MinimumDiameterAveraging",
    "MissingReference",
    "MoNNA",
    "MultiKrum",
    "NormalisedMean",
    "Outcome",
    "Reference",
    "ReferenceRows",
    "Rule",
    "SoftSetHull",
    "Solution",
    "Space",
    "TooFewUpdates",
    "TrimmedMean",
    "View",
    "Zeno",
    "ZenoPlusPlus",
    "smallest",
]
