"""Attacks: what Byzantine workers send, and the labels they train on."""

from wola.attacks.alie import ALIE, alie_factor
from wola.attacks.attack import Attack, ColludingAttack, Seen
from wola.attacks.constant import Gaussian, Infinite, NaN, Zero
from wola.attacks.foe import FOE, ScaledSignFlip, SignFlip
from wola.attacks.labels import LabelAttack, LabelFlip, LabelShift
from wola.attacks.mimic import Mimic, MimicStatic, most_surrounded_outlier
from wola.attacks.mimic_variance import MimicVariance, MimicVarianceRun
from wola.attacks.min_distance import MinMax, MinSum
from wola.attacks.optimal import OptimalALIE, OptimalFOE

__all__ = [
    "ALIE",
    "FOE",
    "Attack",
    "ColludingAttack",
    "Gaussian",
    "Infinite",
    "LabelAttack",
    "LabelFlip",
    "LabelShift",
    "Mimic",
    "MimicStatic",
    "MimicVariance",
    "MimicVarianceRun",
    "MinMax",
    "MinSum",
    "NaN",
    "OptimalALIE",
    "OptimalFOE",
    "ScaledSignFlip",
    "Seen",
    "SignFlip",
    "Zero",
    "alie_factor",
    "most_surrounded_outlier",
]
