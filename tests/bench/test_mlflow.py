"""MLflow for real: its own client reads from an SQLite file what a run has sent."""

import json
import sys
from shutil import copy

import mlflow
import pytest

from tests.bench.small import iris
from wola.bench.curves import TrackerRefused
from wola.bench.mlflow import MLflowCurves, check_mlflow
from wola.ground.extras import MissingExtra
from wola.training import Callback, Checkpoint, simulate

# MLflow's own use of SQLAlchemy 2.1.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning")


class Killed(Exception):
    """Ends a run as a signal would: nothing more is said."""


class KilledAt(Callback):
    def __init__(self, step):
        self.step = step

    def on_step(self, record):
        if record.step == self.step:
            raise Killed


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A database with MLflow's tables, which take it seconds to make."""
    path = tmp_path_factory.mktemp("empty") / "mlflow.db"
    mlflow.MlflowClient(tracking_uri=f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def uri(empty, tmp_path, monkeypatch):
    copy(empty, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    return f"sqlite:///{tmp_path / 'mlflow.db'}"


def curves(uri, key="0123"):
    return MLflowCurves(uri, name="iris seed 1", key=key)


def runs(uri, experiment="wola"):
    """MLflow's client, and the runs that it finds, the newest first."""
    client = mlflow.MlflowClient(tracking_uri=uri)
    return client, client.search_runs([client.get_experiment_by_name(experiment).experiment_id])


def history(client, run, name):
    return [(point.step, point.value) for point in client.get_metric_history(run.info.run_id, name)]


def test_mlflow_has_the_curves_and_the_scenario_of_a_run(uri, tmp_path):
    scenario = iris(strategy="WoLA")

    result = simulate(scenario, callbacks=[curves(uri)])

    client, (run,) = runs(uri)
    assert history(client, run, "accuracy") == [(e.step, e.accuracy) for e in result.evaluations]
    assert history(client, run, "dissimilarity/momenta") == [
        (record.step, record.dissimilarity_momenta) for record in result.steps
    ]
    fields = json.loads(scenario.to_json())
    assert run.data.params == {name: str(value) for name, value in fields.items()}
    assert (run.info.run_name, run.info.status) == ("iris seed 1", "FINISHED")
    assert run.data.tags["wola.ending"] == "finished"
    assert [path.name for path in tmp_path.iterdir()] == ["mlflow.db"]


def test_a_run_that_goes_on_adds_to_what_it_had_sent(uri, tmp_path):
    checkpoint = Checkpoint(tmp_path / "checkpoint", 2)
    with pytest.raises(Killed):
        simulate(iris(), callbacks=[curves(uri), KilledAt(4)], checkpoint=checkpoint)

    simulate(iris(), callbacks=[curves(uri)], checkpoint=checkpoint, resume=True)

    client, (run,) = runs(uri)
    points = dict(history(client, run, "lr"))
    assert sorted(points) == [1, 2, 3, 4, 5, 6]
    assert run.info.status == "FINISHED"


def test_a_run_that_starts_again_is_new_and_the_unfinished_one_marked_as_killed(uri):
    with pytest.raises(Killed):
        simulate(iris(), callbacks=[curves(uri), KilledAt(4)])
    with pytest.raises(Killed):
        simulate(iris(), callbacks=[curves(uri, key="another"), KilledAt(1)])

    simulate(iris(), callbacks=[curves(uri)])

    client, found = runs(uri)
    assert [run.info.status for run in found] == ["FINISHED", "RUNNING", "KILLED"]
    assert [step for step, _ in history(client, found[0], "lr")] == [1, 2, 3, 4, 5, 6]


def test_the_experiment_is_named_as_mlflow_is_told_elsewhere(uri, monkeypatch):
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "robustness")

    check_mlflow(uri)

    _, found = runs(uri, "robustness")
    assert found == []


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("http://127.0.0.1:9", "no server answers there"),
        ("nonsense://here", "nonsense"),
    ],
)
def test_a_store_that_cannot_be_used_is_refused(uri, words):
    with pytest.raises(TrackerRefused, match=rf"--mlflow = '{uri}': .*{words}.*; allowed: a data"):
        check_mlflow(uri)


def test_without_mlflow_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)

    with pytest.raises(MissingExtra, match=r"--mlflow needs mlflow: pip install 'wola\[mlflow\]'"):
        check_mlflow("sqlite:///mlflow.db")
