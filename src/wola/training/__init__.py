"""Training: a federation under attack, simulated round by round."""

from wola.training.callbacks import Callback
from wola.training.checkpoint import Checkpoint, CheckpointError
from wola.training.federation import Federation, assemble
from wola.training.folder import RunFolder
from wola.training.metrics import Evaluation, StepRecord
from wola.training.registry import (
    AGGREGATORS,
    ATTACKS,
    LABEL_ATTACKS,
    MIXINGS,
    OBJECTIVE_ATTACKS,
    OBJECTIVES,
    STRATEGIES,
    described,
    make_rule,
)
from wola.training.result import Result
from wola.training.round import Round
from wola.training.scenario import SEMANTICS, Scenario, ScenarioError
from wola.training.simulate import simulate

__all__ = [
    "AGGREGATORS",
    "ATTACKS",
    "LABEL_ATTACKS",
    "MIXINGS",
    "OBJECTIVES",
    "OBJECTIVE_ATTACKS",
    "SEMANTICS",
    "STRATEGIES",
    "Callback",
    "Checkpoint",
    "CheckpointError",
    "Evaluation",
    "Federation",
    "Result",
    "Round",
    "RunFolder",
    "Scenario",
    "ScenarioError",
    "StepRecord",
    "assemble",
    "described",
    "make_rule",
    "simulate",
]
