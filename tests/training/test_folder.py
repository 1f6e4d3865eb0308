"""A run folder holds a whole run, or what is needed to finish it."""

import json
import os
import subprocess
import sys

import pytest
import torch

from tests.training import jobs
from tests.training.test_checkpoint import Stop, StopAt
from wola.ground import WriteError
from wola.models import mlp
from wola.training import RunFolder, Scenario, simulate

SCENARIO = Scenario.paper("digits", strategy="NNM", aggregator="multi-krum", steps=12)
FILES = ["metrics.parquet", "model.safetensors", "scenario.json", "summary.json"]


def test_a_finished_run_is_kept_whole(tmp_path):
    folder = RunFolder(tmp_path / "run")
    assert not folder.complete
    result = folder.train(SCENARIO)
    assert sorted(os.listdir(folder.path)) == FILES
    assert folder.complete
    assert folder.scenario() == SCENARIO
    summary = folder.summary()
    assert summary["accuracy"] == result.accuracy
    assert summary["digest"] == result.digest()
    assert summary["strategy"] == "NNM"
    assert sum(map(sum, summary["confusion"])) == 360
    assert set(summary["seconds"]) >= {"gradients", "rule", "evaluation"}


def test_the_model_loads_into_a_plain_network(tmp_path):
    folder = RunFolder(tmp_path)
    result = folder.train(SCENARIO)
    model = mlp()
    model.load_state_dict(folder.model_state())
    for key, tensor in model.state_dict().items():
        assert torch.equal(tensor, result.state[key])


def test_metrics_have_a_row_per_step(tmp_path):
    folder = RunFolder(tmp_path)
    folder.train(SCENARIO)
    frame = folder.metrics()
    assert frame["step"].to_list() == list(range(1, 13))
    assert frame["accuracy"].is_not_null().to_list() == [s in (10, 12) for s in range(1, 13)]
    assert frame["weights"].list.len().to_list() == [17] * 12
    assert frame["weights"].list.sum().to_list() == pytest.approx([1.0] * 12)
    assert frame["dissimilarity_momenta"].min() > 0
    assert frame["cosine"].is_between(-1.001, 1.001).all()
    assert frame["dropped"].list.len().sum() == 0


def test_a_run_broken_off_is_finished_by_resuming(tmp_path):
    folder = RunFolder(tmp_path)
    with pytest.raises(Stop):
        folder.train(SCENARIO, callbacks=[StopAt(7)], every=2)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint.pt", "scenario.json"]
    resumed = folder.train(folder.scenario(), resume=True)
    assert resumed.digest() == simulate(SCENARIO).digest()
    assert sorted(os.listdir(tmp_path)) == FILES


def test_a_diverged_run_is_kept_as_valid_json(tmp_path):
    folder = RunFolder(tmp_path)
    folder.train(SCENARIO.changed(lr=1e38, clip=0, l2=1e30, evaluate_every=12))
    text = (tmp_path / "summary.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)["ending"].startswith("diverged at step")


def test_a_new_run_in_an_old_folder_is_not_complete_until_it_is(tmp_path):
    folder = RunFolder(tmp_path)
    folder.train(SCENARIO)
    with pytest.raises(Stop):
        folder.train(SCENARIO.changed(seed=2), callbacks=[StopAt(3)])
    assert not folder.complete


def test_a_read_only_folder_is_refused_before_training(read_only_folder):
    with pytest.raises(WriteError, match=r"cannot write .*scenario.json"):
        RunFolder(read_only_folder).train(SCENARIO)


def test_a_disk_that_fills_up_leaves_no_half_file(tmp_path):
    command = [sys.executable, jobs.__file__, "little-disk", str(tmp_path)]
    done = subprocess.run(
        [*command, SCENARIO.to_json(), "20000"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "WriteError" in done.stderr
    assert "checkpoint.pt" in done.stderr
    assert os.listdir(tmp_path) == ["scenario.json"]
