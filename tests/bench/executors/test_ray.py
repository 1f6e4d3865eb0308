"""Grids over a Ray cluster; the cluster lives in a process of its own, as its warnings do."""

import json
import os
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest

from tests.bench.small import digests, iris, iris_grid, plain_digests
from wola.bench.claims import Owner
from wola.bench.events import Busy, Done, Failed, Skipped
from wola.bench.executors import ray as ray_module
from wola.bench.executors.node import Submission
from wola.bench.executors.ray import RayExecutor, remote_run
from wola.bench.marker import StoreError
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.bench.task import Task
from wola.ground import WriteError
from wola.ground.extras import MissingExtra


def test_a_grid_ends_whole_though_a_node_is_lost_and_ctrl_c_releases_its_runs(tmp_path):
    good = iris_grid(8, model="tests.bench.faulty:slow")
    broken = iris(model="tests.bench.faulty:tells_surroundings")
    scenarios = [*good, broken]
    store = Store.open(tmp_path / "store")

    ended = subprocess.run(
        [sys.executable, "-m", "tests.bench.executors.lost_node", str(store.path)],
        input="\n".join(scenario.to_json() for scenario in scenarios),
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "RAY_USAGE_STATS_ENABLED": "0",
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    assert told["lost"] == 1
    assert told["first"] == [7, 0]
    assert told["second"] == [1, 7, 1]
    assert "tells_surroundings" in told["log"]
    assert told["claims"] == [1, 0]
    assert digests(good, store) == plain_digests(good)
    assert store.running() == {}


class RayError(Exception):
    def __init__(self, text, cause=None):
        super().__init__(text)
        self.cause = cause


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

    def wait(self, references, timeout, num_returns=1):
        return references[:num_returns], references[num_returns:]

    def get(self, reference):
        return reference()

    def cancel(self, reference, force):
        self.cancelled.append((reference, force))


@pytest.fixture
def cluster(monkeypatch):
    """A cluster of two processors and a device."""
    fake = FakeRay(CPU=2.0, GPU=1.0)
    monkeypatch.setitem(sys.modules, "ray", fake)
    return fake


BROKEN = iris(model="tests.bench.faulty:tells_surroundings")


def test_the_driver_hears_of_every_run_that_the_nodes_keep(cluster, store):
    scenarios = [*iris_grid(5), BROKEN]

    report = run_grid(scenarios, store, executor=RayExecutor(cpus=1, gpus=0.25))

    assert cluster.needs == {"num_cpus": 1, "num_gpus": 0.25, "max_retries": 3}
    assert digests(scenarios[:5], store) == plain_digests(scenarios[:5])
    assert [failed.scenario for failed in report.failed] == [BROKEN]
    assert (len(report.done), store.running()) == (5, {})


def test_a_run_of_somebody_else_is_waited_for(cluster, store, monkeypatch):
    monkeypatch.setattr(ray_module, "PATIENCE", 0.01)
    mine, theirs = iris_grid(2)
    claim = store.claim(store.key(theirs), Owner.here())

    def listen(event):
        if isinstance(event, Done) and event.scenario == mine:
            claim.release()

    report = run_grid([theirs, mine], store, executor=RayExecutor(), listener=listen)

    assert report.done == (store.key(mine), store.key(theirs))


def failing_with(monkeypatch, cluster, error):
    def fails(reference):
        raise error

    monkeypatch.setattr(cluster, "get", fails)


def test_a_run_that_the_cluster_loses_for_good_is_recorded_as_failed(cluster, store, monkeypatch):
    failing_with(monkeypatch, cluster, RayError("the node died once too often"))

    report = run_grid(iris_grid(1), store, executor=RayExecutor())

    assert "once too often" in report.failed[0].log
    assert store.failed() == [store.key(iris(seed=1))]


@pytest.mark.parametrize("cause", [StoreError("no store here"), WriteError(28, "full", "store")])
def test_a_store_that_a_node_cannot_use_stops_the_grid(cluster, store, monkeypatch, cause):
    failing_with(monkeypatch, cluster, RayError("a remote traceback", cause))

    with pytest.raises(type(cause)) as raised:
        run_grid(iris_grid(2), store, executor=RayExecutor())
    assert raised.value is cause
    assert store.failed() == []


def test_an_interruption_leaves_nothing_on_the_cluster(cluster, store, monkeypatch):
    waits = []

    def wait(references, timeout, num_returns=1):
        waits.append(num_returns)
        if len(waits) == 1:
            raise KeyboardInterrupt
        return references[:3], references[3:]

    monkeypatch.setattr(cluster, "wait", wait)

    with pytest.raises(KeyboardInterrupt):
        run_grid(iris_grid(6), store, executor=RayExecutor())
    assert waits == [1, 4]
    asked = [reference for reference, force in cluster.cancelled if not force]
    assert len(asked) == 4
    assert [reference for reference, force in cluster.cancelled if force] == asked[3:]


def test_a_run_that_no_cluster_can_hold_is_refused(cluster, store):
    with pytest.raises(ValueError, match=r"cpus = 1, gpus = 2; allowed: what a cluster with"):
        run_grid(iris_grid(1), store, executor=RayExecutor(gpus=2))


def test_nothing_to_do_needs_no_cluster(store):
    RayExecutor("nowhere:1").run([], store, lambda event: None)


def test_a_remote_run_tells_how_it_ended(store):
    def told(scenario):
        task = Task(store.key(scenario), scenario)
        return [type(event) for event in remote_run(task, Submission.of(store))]

    assert told(iris()) == [Done]
    assert told(iris()) == [Skipped]
    assert told(BROKEN) == [Failed]
    with store.claim(store.key(iris(seed=2))):
        assert told(iris(seed=2)) == [Busy]


def test_without_ray_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(MissingExtra, match=r"--ray needs ray: pip install 'wola\[ray\]'"):
        RayExecutor()
