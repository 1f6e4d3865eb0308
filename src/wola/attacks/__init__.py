"""Attacks: what Byzantine workers send, and the labels they train on."""

from wola.attacks.alie import ALIE, alie_factor
from wola.attacks.attack import Attack, ColludingAttack, RememberingAttack, Seen
from wola.attacks.beyond import Beyond, BeyondRun
from wola.attacks.fang_krum import FangKrum
from wola.attacks.fang_trim import FangTrim
from wola.attacks.foe import FOE
from wola.attacks.gaussian import Gaussian
from wola.attacks.infinite import Infinite
from wola.attacks.label_attack import LabelAttack
from wola.attacks.label_flip import LabelFlip
from wola.attacks.label_shift import LabelShift
from wola.attacks.mimic import Mimic, most_surrounded_outlier
from wola.attacks.mimic_static import MimicStatic
from wola.attacks.mimic_variance import MimicVariance, MimicVarianceRun
from wola.attacks.min_max import MinMax
from wola.attacks.min_sum import MinSum
from wola.attacks.nan import NaN
from wola.attacks.one_class import OneClass
from wola.attacks.optimal_alie import OptimalALIE
from wola.attacks.optimal_foe import OptimalFOE
from wola.attacks.patient import Patient, PatientRun
from wola.attacks.poisoned_fl import PoisonedFL, PoisonedFLRun
from wola.attacks.scaled_sign_flip import ScaledSignFlip
from wola.attacks.sign_flip import SignFlip
from wola.attacks.span_search import SpanSearch
from wola.attacks.tilt import Tilt
from wola.attacks.worst_of import WorstOf, WorstOfRun
from wola.attacks.zero import Zero

__all__ = [
    "ALIE",
    "FOE",
    "Attack",
    "Beyond",
    "BeyondRun",
    "ColludingAttack",
    "FangKrum",
    "FangTrim",
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
    "OneClass",
    "OptimalALIE",
    "OptimalFOE",
    "Patient",
    "PatientRun",
    "PoisonedFL",
    "PoisonedFLRun",
    "RememberingAttack",
    "ScaledSignFlip",
    "Seen",
    "SignFlip",
    "SpanSearch",
    "Tilt",
    "WorstOf",
    "WorstOfRun",
    "Zero",
    "alie_factor",
    "most_surrounded_outlier",
]
