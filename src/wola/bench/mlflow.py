"""Curves for MLflow, sent while runs are under way."""

import json
import os
from collections.abc import Mapping
from time import time
from typing import Any

import requests

from wola.bench.curves import Curves, TrackerRefused
from wola.ground.extras import needed
from wola.training import Federation, Result, Scenario

#: The tag by which a run that goes on finds what it has sent before.
KEY = "wola.key"


def check_mlflow(uri: str) -> None:
    """Refuses to go on if MLflow is not installed, or the store is none; makes the experiment."""
    _mlflow()
    if uri.startswith(("http://", "https://")):
        # MLflow itself would try again and again for four minutes.
        try:
            requests.head(uri, timeout=10)
        except requests.RequestException as error:
            raise _refusal(uri, "no server answers there") from error
    mlflow_experiment(uri)


def mlflow_experiment(uri: str) -> tuple[Any, str]:
    """MLflow's client for a store, and the identity of the experiment there.

    ``MLFLOW_EXPERIMENT_NAME`` names it, otherwise it is ``wola``; one that is not there is made.
    What MLflow says of a store that it cannot use is raised as `TrackerRefused`.
    """
    mlflow = _mlflow()
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME", "wola")
    try:
        client = mlflow.MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(name)
        return client, found.experiment_id if found else client.create_experiment(name)
    except Exception as error:
        raise _refusal(uri, error) from error


def _mlflow() -> Any:
    return needed("mlflow", extra="mlflow", what="--mlflow")


def _refusal(uri: str, reason: object) -> TrackerRefused:
    return TrackerRefused(
        f"--mlflow = {uri!r}: {reason}; allowed: a database such as sqlite:///mlflow.db, or the "
        "address of a server"
    )


class MLflowCurves(Curves):
    """Sends the curves of a run, and its scenario as parameters, to an MLflow store.

    A run that goes on adds to what it had sent. One that starts again is a new run, and what was
    left unfinished under its key is marked as killed.
    """

    def __init__(self, uri: str, *, name: str, key: str) -> None:
        self.uri, self.name, self.key = uri, name, key
        self.client: Any = None
        self.run: str | None = None

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Finds the run or makes it."""
        self.client, experiment = mlflow_experiment(self.uri)
        from mlflow.entities import Param

        unfinished = self.client.search_runs(
            [experiment], f"tags.`{KEY}` = '{self.key}' and attributes.status = 'RUNNING'"
        )
        if step and unfinished:
            self.run = unfinished[0].info.run_id
            return
        for old in unfinished:
            self.client.set_terminated(old.info.run_id, "KILLED")
        made = self.client.create_run(experiment, run_name=self.name, tags={KEY: self.key})
        self.run = made.info.run_id
        fields = json.loads(scenario.to_json())
        parameters = [Param(name, str(value)) for name, value in fields.items()]
        self.client.log_batch(self.run, params=parameters)

    def add(self, points: Mapping[str, float], step: int) -> None:
        """Sends the points of a step in one request."""
        from mlflow.entities import Metric

        now = int(time() * 1000)
        metrics = [Metric(name, value, now, step) for name, value in points.items()]
        self.client.log_batch(self.run, metrics)

    def on_end(self, result: Result) -> None:
        """Marks the run as finished, and says how it ended."""
        self.client.set_tag(self.run, "wola.ending", result.ending)
        self.client.set_terminated(self.run)
