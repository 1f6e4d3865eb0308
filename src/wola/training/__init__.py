"""Training: a federation under attack, simulated round by round."""

from wola.training.callbacks import Callback
from wola.training.checkpoint import Checkpoint, CheckpointError
from wola.training.federation import Federation, assemble
from wola.training.folder import RunFolder
from wola.training.metrics import Evaluation, StepRecord
from wola.training.registry import (
    AGGREGATORS,
    ATTACKS,
    MIXINGS,
    OBJECTIVE_ATTACKS,
    OBJECTIVES,
    PAPER_STRATEGIES,
    PARTS,
    STRATEGIES,
    make_rule,
    strategy_named,
)
from wola.training.result import Result
from wola.training.round import Round
from wola.training.scenario import SEMANTICS, Scenario, ScenarioError
from wola.training.server_data import ServerData
from wola.training.simulate import simulate

__all__ = [
    "AGGREGATORS",
    "ATTACKS",
    "MIXINGS",
    "OBJECTIVES",
    "OBJECTIVE_ATTACKS",
    "PAPER_STRATEGIES",
    "PARTS",
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
    "ServerData",
    "StepRecord",
    "assemble",
    "make_rule",
    "simulate",
    "strategy_named",
]
