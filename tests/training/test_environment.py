"""Where a run was computed."""

import json
import platform
import sys
from pathlib import Path

import numba
import numpy
import pytest
import torch

from wola.training import Checkpoint, Scenario, simulate
from wola.training import environment as environments
from wola.training.environment import _looked_up, differences, environment

SHORT = Scenario(steps=4, batch=16, evaluate_every=2)


def elsewhere(monkeypatch):
    module = sys.modules["wola.training.simulate"]
    monkeypatch.setattr(module, "environment", lambda device: {"torch": "0.1"})


def test_the_versions_are_those_that_run():
    found = environment()
    assert torch.__version__.startswith(found["torch"].partition("+")[0])
    assert found["numba"] == numba.__version__
    assert found["numpy"] == numpy.__version__
    assert found["python"] == platform.python_version()
    assert found["torch_instructions"] == torch.backends.cpu.get_cpu_capability()


def test_it_is_plain_text_and_in_every_summary():
    summary = simulate(SHORT).summary()
    assert summary["environment"] == environment()
    assert json.loads(json.dumps(summary["environment"])) == environment()
    assert all(isinstance(value, str) and value for value in environment().values())


def test_the_instructions_numba_may_use_follow_its_own_settings(monkeypatch):
    plain = type("Codegen", (), {"magic_tuple": lambda self: ("", "generic", "+sse4.2,-avx2")})
    context = numba.core.registry.cpu_target.target_context
    monkeypatch.setattr(type(context), "codegen", lambda self: plain())
    _looked_up.cache_clear()
    found = environment()
    _looked_up.cache_clear()
    assert (found["numba_processor"], found["numba_instructions"]) == ("generic", "sse4.2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("processor\t: 0\nmodel name\t: Some CPU 3000\n", "Some CPU 3000"), ("Features : fp", None)],
)
def test_the_processor_is_what_the_system_calls_it(tmp_path, monkeypatch, text, expected):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(environments, "_CPUINFO", tmp_path / "cpuinfo")
    fallback = platform.processor() or platform.machine()
    assert environments.processor() == (expected or fallback)
    monkeypatch.setattr(environments, "_CPUINFO", Path(tmp_path, "none"))
    assert environments.processor() == fallback


def test_the_digest_does_not_know_the_environment(monkeypatch):
    here = simulate(SHORT)
    elsewhere(monkeypatch)
    there = simulate(SHORT)
    assert there.summary()["environment"] == {"torch": "0.1"}
    assert there.digest() == here.digest()


def test_a_run_continued_elsewhere_says_so(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path / "checkpoint.pt", every=2)
    simulate(SHORT, checkpoint=checkpoint)
    same = simulate(SHORT, checkpoint=checkpoint, resume=True)
    assert same.notes == ()
    elsewhere(monkeypatch)
    other = simulate(SHORT, checkpoint=checkpoint, resume=True)
    assert other.notes[0].startswith("continued in another environment: ")
    assert f"torch = {environment()['torch']} before, 0.1 now" in other.notes[0]


def test_equal_environments_do_not_differ():
    assert differences(environment(), environment()) == ""
    assert differences({}, {"gpu": "A"}) == "gpu = none before, A now"
