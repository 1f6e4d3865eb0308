"""Curves for Weights & Biases, sent while runs are under way."""

import json
import os
from collections.abc import Mapping
from typing import Any

from wola.bench.curves import Curves, TrackerRefused
from wola.ground.extras import needed
from wola.training import Federation, Result, Scenario


def check_wandb() -> None:
    """Refuses to go on if W&B is not installed, or would send to an account that is not known.

    With ``WANDB_MODE=offline`` no account is needed: ``wandb sync`` sends the files later.
    """
    wandb = _wandb()
    if os.environ.get("WANDB_MODE", "online") == "online":
        try:
            wandb.login()
        except wandb.errors.Error as error:
            raise TrackerRefused(
                f"--wandb: {error}; allowed: wandb login, or WANDB_MODE=offline"
            ) from error


class WandbCurves(Curves):
    """Sends the curves of a run, and its scenario as configuration, to a project of W&B.

    The run's key is its identity there, so a run that goes on, or starts again, is the same run.
    """

    def __init__(self, project: str, *, name: str, key: str) -> None:
        self.project, self.name, self.key = project, name, key
        self.run: Any = None

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Opens the run."""
        wandb = _wandb()
        self.run = wandb.init(
            project=self.project,
            name=self.name,
            id=self.key,
            resume="allow",
            reinit="create_new",
            config=json.loads(scenario.to_json()),
            settings=wandb.Settings(console="off", silent=True),
        )

    def add(self, points: Mapping[str, float], step: int) -> None:
        """Sends the points of a step."""
        self.run.log(dict(points), step=step)

    def on_end(self, result: Result) -> None:
        """Says how the run ended, and waits until all is written."""
        self.run.summary["ending"] = result.ending
        self.run.finish()


def _wandb() -> Any:
    return needed("wandb", extra="wandb", what="--wandb")
