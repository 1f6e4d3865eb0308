from pathlib import Path

import pytest

from tests.bench.offline_wandb import curve, offline_run
from tests.bench.small import iris
from wola.bench.executors.local import LocalExecutor
from wola.bench.mlflow import MLflowCurves
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.bench.task import Task
from wola.bench.tensorboard import TensorBoardCurves
from wola.bench.trackers import NO_TRACKERS, Trackers
from wola.bench.wandb import WandbCurves

TASK = Task("0123456789", iris(strategy="WoLA"))


def test_by_default_nobody_else_follows_a_run():
    assert NO_TRACKERS(TASK) == []
    assert NO_TRACKERS.flags == []


def test_each_tracker_knows_a_run_by_its_name_and_its_key():
    board, mlflow, wandb = Trackers(Path("curves"), "sqlite:///m.db", "robustness")(TASK)

    name = "iris alpha 0.3 f 6 WoLA trimmed-mean alie seed 1"
    assert isinstance(board, TensorBoardCurves)
    assert board.folder == Path("curves") / f"{name.replace(' ', '-')}-01234567"
    assert isinstance(mlflow, MLflowCurves)
    assert (mlflow.uri, mlflow.name, mlflow.key) == ("sqlite:///m.db", name, TASK.key)
    assert isinstance(wandb, WandbCurves)
    assert (wandb.project, wandb.name, wandb.key) == ("robustness", name, TASK.key)


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning")
def test_trackers_follow_the_runs_of_a_grid_in_other_processes(tmp_path, monkeypatch):
    from mlflow import MlflowClient

    environment = {
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(tmp_path),
        "MLFLOW_DISABLE_TELEMETRY": "true",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    trackers = Trackers(tmp_path / "curves", f"sqlite:///{tmp_path / 'm.db'}", "robustness")
    trackers.check()

    store, scenario = Store.open(tmp_path / "store"), iris()
    report = run_grid([scenario], store, executor=LocalExecutor(1, trackers=trackers))

    assert (report.done, report.failed) == ((store.key(scenario),), ())
    assert len(list((tmp_path / "curves").glob("iris-*/events*"))) == 1
    client = MlflowClient(tracking_uri=trackers.mlflow)
    (run,) = client.search_runs([client.get_experiment_by_name("wola").experiment_id])
    assert (run.info.status, run.data.tags["wola.key"]) == ("FINISHED", store.key(scenario))
    assert [step for step, _ in curve(offline_run(tmp_path), "accuracy")] == [3, 6]
