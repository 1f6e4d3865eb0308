"""W&B for real, offline: what it would send is in a file, which is read here."""

import json
import sys

import pytest
import wandb

from tests.bench.offline_wandb import curve, offline_run
from tests.bench.small import iris
from wola.bench.curves import TrackerRefused
from wola.bench.wandb import WandbCurves, check_wandb
from wola.ground.extras import MissingExtra
from wola.training import simulate


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, value in {"WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    for name in ("WANDB_CACHE_DIR", "WANDB_CONFIG_DIR", "WANDB_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    yield tmp_path
    wandb.teardown()


def test_wandb_has_the_curves_and_the_scenario_of_a_run(folder):
    scenario = iris(strategy="WoLA")

    result = simulate(
        scenario, callbacks=[WandbCurves("robustness", name="iris seed 1", key="0123")]
    )

    found = offline_run(folder)
    assert curve(found, "accuracy") == [(e.step, e.accuracy) for e in result.evaluations]
    assert curve(found, "dissimilarity/momenta") == [
        (record.step, record.dissimilarity_momenta) for record in result.steps
    ]
    (run,) = [record.run for record in found if record.WhichOneof("record_type") == "run"]
    assert (run.project, run.display_name, run.run_id) == ("robustness", "iris seed 1", "0123")
    config = {item.key: json.loads(item.value_json) for item in run.config.update}
    assert config.items() >= json.loads(scenario.to_json()).items()


def test_offline_no_account_is_needed(folder):
    check_wandb()


def test_online_without_an_account_it_is_refused_before_any_run(folder, monkeypatch):
    monkeypatch.setenv("WANDB_MODE", "online")
    monkeypatch.setenv("NETRC", str(folder / "netrc"))

    with pytest.raises(TrackerRefused, match=r"--wandb: .*; allowed: wandb login, or WANDB_MODE"):
        check_wandb()


def test_without_wandb_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)

    with pytest.raises(MissingExtra, match=r"--wandb needs wandb: pip install 'wola\[wandb\]'"):
        check_wandb()
