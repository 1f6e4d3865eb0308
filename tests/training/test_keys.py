"""Keys that last, and that know the data and the sources."""

import os
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from pydantic import Field

from wola.aggregation import GramRule, Krum
from wola.data import Dataset
from wola.training import SEMANTICS, Scenario, simulate
from wola.training.registry import PARTS
from wola.training.scenario import TrainingFields

#: The defaults that belong to semantics "2". A change here is a change of `SEMANTICS`.
DEFAULTS = {
    "loss": "cross-entropy",
    "beta": 0.9,
    "lr": 0.75,
    "schedule": "harmonic",
    "batch": 128,
    "clip": 5.0,
    "l2": 1e-4,
    "local_steps": 1,
    "server": "sgd",
    "seed": 1,
    "dataset": "digits",
    "inputs": "standardised",
    "augment": False,
    "partition": "dirichlet",
    "alpha": 0.3,
    "model": "auto",
    "workers": 17,
    "byzantine": 6,
    "participants": None,
    "order": "shuffled",
    "objective": "prior",
    "objective_attack": "none",
    "mixing": "none",
    "server_data": "none",
    "aggregator": "trimmed-mean",
    "attack": "alie",
    "steps": 150,
    "evaluate_every": 20,
    "device": "cpu",
    "threads": 1,
}

#: The defaults of parts' parameters that belong to semantics "2".
PART_DEFAULTS = {
    ("aggregator", "krum"): {"power": 2.0},
    ("aggregator", "multi-krum"): {"power": 2.0},
    ("aggregator", "geometric-median"): {"iterations": None, "nu": None},
    ("aggregator", "centered-clipping"): {"tau": 10.0, "iterations": 1},
    ("aggregator", "greco"): {"representatives": 4},
    ("aggregator", "hullguard"): {"subsets": 1000, "estimates": 5, "bucket": 2, "rule": "median"},
    ("aggregator", "soft-set-hull"): {
        "pace": 0.03,
        "cap": 0.5,
        "least": 0.2,
        "price": 2.0,
        "length": 0.65,
    },
    ("attack", "alie"): {"z": None, "std": "population", "quantile": "all"},
    ("attack", "foe"): {"epsilon": 0.1},
    ("attack", "gaussian"): {"mean": 0.0, "std": 1.0},
    ("attack", "label-shift"): {"k": 1},
    ("attack", "mimic-static"): {"worker": 0},
    ("attack", "mimic-variance"): {"warmup": 50},
    ("attack", "min-max"): {"direction": "std"},
    ("attack", "min-sum"): {"direction": "std"},
    ("attack", "scaled-sf"): {"scale": 10.0},
    ("attack", "span-search"): {"evaluations": 100, "goal": "distance", "columns": 4096},
    ("attack", "beyond"): {"angle": 45.0},
    ("attack", "patient"): {"rounds": 50, "attack": "span-search"},
    ("loss", "dmfl"): {"tau": 1.0},
    ("loss", "fedlc"): {"tau": 1.0},
    ("loss", "fedrs"): {"alpha": 0.5},
    ("loss", "logit-adjusted"): {"tau": 1.0},
    ("loss", "wola"): {"renormalise": False},
    ("loss", "wola-shift"): {"tau": 0.5},
    ("loss", "wola-batch"): {"renormalise": False},
    ("mixing", "bucketing"): {"size": None},
    ("mixing", "clipping"): {"max_norm": 1.0},
    ("objective_attack", "dirac"): {"label": None},
    ("objective_attack", "worst"): {"beam": 6, "rounds": 8},
    ("partition", "dirichlet"): {"mode": "resampled"},
    ("partition", "gamma-similarity"): {"gamma": 0.5},
    ("partition", "groups"): {"p": 0.5},
    ("partition", "shards"): {"k": 2},
    ("schedule", "harmonic"): {"period": 50},
    ("schedule", "step"): {"period": 1500, "factor": 0.1},
    ("server", "momentum"): {"beta": 0.9},
    ("server", "adam"): {"beta": 0.9, "beta2": 0.99},
}

PINNED = {
    "d53ae6f8": {},
    "99e7cd36": {"strategy": "WoLA+NNM", "aggregator": "multi-krum(power=1)", "seed": 2},
    "88002290": {"strategy": "WoLA-dagger", "attack": "foe", "byzantine": 8, "alpha": 1.0},
}


def test_the_defaults_are_those_of_these_semantics():
    assert SEMANTICS == "2"
    assert {k: info.default for k, info in Scenario.model_fields.items()} == DEFAULTS


@pytest.mark.parametrize(("kind", "name"), PART_DEFAULTS)
def test_the_defaults_of_parts_are_those_of_these_semantics(kind, name):
    wanted = PART_DEFAULTS[kind, name]
    text = ", ".join(f"{k}={_text(v)}" for k, v in wanted.items())
    assert PARTS.settle(kind, f"{name}({text})") == name


def _text(value):
    return str(value).lower() if value is None or isinstance(value, bool) else value


@pytest.mark.parametrize("start", PINNED)
def test_keys_stay_what_they_are(start):
    strategy = PINNED[start].get("strategy", "-")
    scenario = Scenario(**{k: v for k, v in PINNED[start].items() if k != "strategy"})
    assert scenario.with_strategy(strategy).key()[:8] == start


def test_a_new_field_with_a_default_leaves_all_keys_alone():
    class Later(Scenario):
        """A scenario of a later version."""

        novelty: float = Field(default=0.0, json_schema_extra={"topic": "run"})

    for fields in ({}, {"seed": 3, "mixing": "nnm"}):
        assert Later(**fields).key() == Scenario(**fields).key()
    assert Later(novelty=1.0).key() != Scenario().key()
    assert issubclass(Later, TrainingFields)


def test_how_a_part_is_written_does_not_count():
    assert Scenario(aggregator="krum(power=2)").key() == Scenario(aggregator=Krum()).key()
    assert Scenario(aggregator="krum(power=1)").key() == Scenario(aggregator=Krum(1.0)).key()


def blobs(path, shift=0.0):
    labels = np.repeat([0, 1, 2], [40, 30, 20])
    inputs = np.eye(3, dtype=np.float32)[labels] + np.float32(shift)
    np.savez(path, x_train=inputs, y_train=labels, x_test=inputs[::3], y_test=labels[::3])
    return path


def test_the_content_of_the_data_counts_and_its_time_does_not(tmp_path):
    path = blobs(tmp_path / "mine.npz")
    scenario = Scenario(dataset=f"npz({path})")
    first = scenario.key()
    assert scenario.content().keys() == {str(path)}
    os.utime(path, (1, 1))
    assert scenario.key() == first
    blobs(path, shift=1.0)
    assert scenario.key() != first
    blobs(path)
    assert scenario.key() == first


def test_the_source_of_a_users_module_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    source = (
        "from wola import GramRule\nimport numpy as np\n"
        "class Same(GramRule):\n    def weigh(self, space, f):\n"
        "        return np.full(space.n, 1 / space.n)\n"
    )
    (tmp_path / "module_for_keys.py").write_text(source)
    scenario = Scenario(aggregator="module_for_keys:Same")
    first = scenario.key()
    assert scenario.content().keys() == {"module_for_keys"}
    (tmp_path / "module_for_keys.py").write_text(source + "# changed\n")
    assert scenario.key() != first
    del sys.modules["module_for_keys"]


def test_a_stored_scenario_is_read_without_importing_or_opening_anything():
    fields = {"dataset": "npz(path=gone.npz)", "aggregator": "nowhere_at_all:Rule(k=3)", "news": 1}
    scenario = Scenario.stored({**fields, "byzantine": 8, "partition": "clients"})
    assert scenario.aggregator == "nowhere_at_all:Rule(k=3)"
    assert "nowhere_at_all" not in sys.modules


def test_a_result_says_what_it_was_really_trained_on():
    labels = np.arange(60) % 3
    mine = Dataset.from_arrays(np.eye(3)[labels], labels, name="mine")
    result = simulate(Scenario(workers=5, byzantine=1, steps=2), dataset=mine)
    assert result.scenario.dataset != "digits"
    assert result.scenario.dataset.startswith("memory(name=mine, digest=")
    assert result.summary()["data"] == mine.digest()
    assert mine.digest() in result.content.values()
    named = simulate(Scenario(workers=5, byzantine=1, steps=2))
    assert named.scenario.dataset == "digits"
    assert named.content == {}


def test_an_object_of_a_notebook_runs_in_this_process():
    @dataclass(frozen=True)
    class Local(GramRule):
        """The mean."""

        def weigh(self, space, f):
            return np.full(space.n, 1 / space.n)

    scenario = Scenario(aggregator=Local(), steps=2)
    assert scenario.unimportable() == ["aggregator"]
    mean = simulate(scenario.changed(aggregator="mean"))
    ours = simulate(scenario)
    np.testing.assert_allclose(
        [e.loss for e in ours.evaluations], [e.loss for e in mean.evaluations], rtol=1e-5
    )
