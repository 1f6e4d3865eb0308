"""Grids over a Ray cluster; the cluster lives in a process of its own, as its warnings do."""

import json
import os
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest

from tests.bench.small import digests, iris, iris_grid, plain_digests
from wola.bench import ray_cluster
from wola.bench.claims import Owner
from wola.bench.events import Done
from wola.bench.extras import MissingExtra
from wola.bench.ray_cluster import RayExecutor, remote_run
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.bench.work import Task


def test_a_grid_ends_whole_though_a_node_is_lost_in_the_middle(tmp_path):
    good = iris_grid(8, model="tests.bench.faulty:slow")
    broken = iris(model="tests.bench.faulty:tells_surroundings")
    scenarios = [*good, broken]
    store = Store.open(tmp_path / "store")

    ended = subprocess.run(
        [sys.executable, "-m", "tests.bench.drivers", str(store.path)],
        input="\n".join(scenario.to_json() for scenario in scenarios),
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "RAY_USAGE_STATS_ENABLED": "0",
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["lost"] == 1
    assert told["first"] == [7, 0, 0]
    assert told["second"] == [1, 7, 1]
    assert "tells_surroundings" in told["log"]
    assert digests(good, store) == plain_digests(good)
    assert store.running() == {}


class RayError(Exception):
    pass


class FakeRay:
    """A cluster inside this process: a task is done when its result is asked for."""

    exceptions = SimpleNamespace(RayError=RayError)

    def __init__(self, **resources):
        self.resources, self.cancelled, self.needs = resources, [], {}

    def is_initialized(self):
        return True

    def cluster_resources(self):
        return self.resources

    def remote(self, function):
        def options(**needs):
            self.needs = needs
            return SimpleNamespace(remote=lambda *given: partial(function, *given))

        return SimpleNamespace(options=options)

    def wait(self, references, timeout):
        return references[:1], references[1:]

    def get(self, reference):
        return reference()

    def cancel(self, reference, force):
        self.cancelled.append(reference)


@pytest.fixture
def cluster(monkeypatch):
    """A cluster of two processors and a device."""
    fake = FakeRay(CPU=2.0, GPU=1.0)
    monkeypatch.setitem(sys.modules, "ray", fake)
    return fake


BROKEN = iris(model="tests.bench.faulty:tells_surroundings")


@pytest.mark.parametrize("shared", [False, True])
def test_the_driver_hears_of_every_run_wherever_it_is_kept(cluster, store, shared):
    scenarios = [*iris_grid(5), BROKEN]
    executor = RayExecutor(cpus=1, gpus=0.25, shared=shared)

    report = run_grid(scenarios, store, executor=executor)

    assert cluster.needs == {"num_cpus": 1, "num_gpus": 0.25, "max_retries": 3}
    assert digests(scenarios[:5], store) == plain_digests(scenarios[:5])
    assert [failed.scenario for failed in report.failed] == [BROKEN]
    assert (len(report.done), store.running()) == (5, {})


@pytest.mark.parametrize("shared", [False, True])
def test_a_run_of_somebody_else_is_waited_for(cluster, store, shared, monkeypatch):
    monkeypatch.setattr(ray_cluster, "PATIENCE", 0.01)
    mine, theirs = iris_grid(2)
    claim = store.claim(store.key(theirs), Owner.here())

    def listen(event):
        if isinstance(event, Done) and event.scenario == mine:
            claim.release()

    report = run_grid([theirs, mine], store, executor=RayExecutor(shared=shared), listener=listen)

    assert report.done == (store.key(mine), store.key(theirs))


def test_a_run_that_the_cluster_loses_for_good_is_recorded_as_failed(cluster, store, monkeypatch):
    def lost(reference):
        raise RayError("the node died once too often")

    monkeypatch.setattr(cluster, "get", lost)

    report = run_grid(iris_grid(1), store, executor=RayExecutor())

    assert "once too often" in report.failed[0].log
    assert store.failed() == [store.key(iris(seed=1))]


def test_an_interruption_leaves_nothing_on_the_cluster_and_no_claim(cluster, store, monkeypatch):
    def interrupted(references, timeout):
        raise KeyboardInterrupt

    monkeypatch.setattr(cluster, "wait", interrupted)

    with pytest.raises(KeyboardInterrupt):
        run_grid(iris_grid(6), store, executor=RayExecutor())
    assert len(cluster.cancelled) == 4
    assert store.running() == {}


def test_a_run_that_no_cluster_can_hold_is_refused(cluster, store):
    with pytest.raises(ValueError, match=r"cpus = 1, gpus = 2; allowed: what a cluster with"):
        run_grid(iris_grid(1), store, executor=RayExecutor(gpus=2))


def test_nothing_to_do_needs_no_cluster(store):
    RayExecutor("nowhere:1").run([], store, lambda event: None)


def test_a_remote_run_brings_back_its_result_or_its_traceback(store):
    scenario = iris()
    broken = iris(model="tests.bench.faulty:tells_surroundings")

    result = remote_run(Task(store.key(scenario), scenario))

    assert result.digest() == plain_digests([scenario])[0]
    assert "ValueError: CUDA_VISIBLE" in remote_run(Task(store.key(broken), broken))


def test_without_ray_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(MissingExtra, match=r"--ray needs ray: pip install 'wola\[ray\]'"):
        RayExecutor()
