"""Labels: counts, the training objective q, attacks on it, and the losses."""

from wola.labels.class_loss import ClassLoss
from wola.labels.counts import global_distribution, label_counts, label_distribution
from wola.labels.dirac_distribution import DiracDistribution
from wola.labels.dissimilarity import gradient_dissimilarity
from wola.labels.fedrs import FedRS
from wola.labels.loss import WoLALoss, wola_loss
from wola.labels.losses import (
    DMFL,
    LOSSES,
    CrossEntropy,
    FedLC,
    LogitAdjusted,
    WoLA,
    WoLABatch,
    WoLAShift,
)
from wola.labels.noise import GaussianMechanism, LaplaceMechanism, Mechanism
from wola.labels.objective import Objective, Prior, Shared, Uniform
from wola.labels.objective_attack import ObjectiveAttack
from wola.labels.outlier_distribution import OutlierDistribution
from wola.labels.projected_distribution import ProjectedDistribution
from wola.labels.random_distribution import RandomDistribution
from wola.labels.rarest_class import RarestClass
from wola.labels.shrunk import Shrunk
from wola.labels.simplex import (
    check_distribution,
    nearest_distribution,
    rescaled_distribution,
    total_variation,
)
from wola.labels.terms import Loss, Terms, checked_terms
from wola.labels.uniform_distribution import UniformDistribution
from wola.labels.weights import wola_weights
from wola.labels.worst_distribution import WorstDistribution

__all__ = [
    "DMFL",
    "LOSSES",
    "ClassLoss",
    "CrossEntropy",
    "DiracDistribution",
    "FedLC",
    "FedRS",
    "GaussianMechanism",
    "LaplaceMechanism",
    "LogitAdjusted",
    "Loss",
    "Mechanism",
    "Objective",
    "ObjectiveAttack",
    "OutlierDistribution",
    "Prior",
    "ProjectedDistribution",
    "RandomDistribution",
    "RarestClass",
    "Shared",
    "Shrunk",
    "Terms",
    "Uniform",
    "UniformDistribution",
    "WoLA",
    "WoLABatch",
    "WoLALoss",
    "WoLAShift",
    "WorstDistribution",
    "check_distribution",
    "checked_terms",
    "global_distribution",
    "gradient_dissimilarity",
    "label_counts",
    "label_distribution",
    "nearest_distribution",
    "rescaled_distribution",
    "total_variation",
    "wola_loss",
    "wola_weights",
]
