"""Array jobs, as processes of this machine."""

import sys

import pytest

from tests.bench.small import Here, digests, iris, iris_grid, plain_digests, run_here
from wola.bench.events import Done
from wola.bench.executors import slurm
from wola.bench.executors.local import LocalExecutor
from wola.bench.executors.node import Submission
from wola.bench.executors.slurm import SlurmExecutor, do_runs
from wola.bench.run import run_grid, tasks_of
from wola.ground.extras import MissingExtra

USERS_MODULE = """
from wola.models.networks import mlp

def mine(shape, classes):
    return mlp(shape, classes)

def broken(shape, classes):
    raise ValueError("a network that cannot be made")
"""


def test_jobs_share_the_runs_and_do_none_twice(store, tmp_path, monkeypatch):
    (tmp_path / "users_networks.py").write_text(USERS_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    good, heard = iris_grid(6, model="users_networks:mine"), []
    broken = iris(model="users_networks:broken")
    executor = SlurmExecutor(jobs=2, processes=1, minutes=2, cluster="local")

    report = run_grid([*good, broken], store, executor=executor, listener=heard.append)

    assert sorted(report.done) == sorted(store.key(scenario) for scenario in good)
    assert digests(good, store) == plain_digests(good)
    assert [failed.scenario for failed in report.failed] == [broken]
    assert "a network that cannot be made" in report.failed[0].log
    assert store.failure(store.key(broken))["tries"] == 1
    assert sum(isinstance(event, Done) for event in heard) == 6


class Job:
    """A job that is over, or never will be."""

    job_id, state = "7", "TIMEOUT"

    def __init__(self, *, over):
        self.over, self.cancelled = over, False

    def done(self):
        return self.over

    def stderr(self):
        return "out of time"

    def cancel(self, check):
        self.cancelled = True


def test_runs_that_no_job_did_are_failed_with_what_the_jobs_say(store, monkeypatch):
    monkeypatch.setattr(SlurmExecutor, "_submit", lambda self, tasks, store: [Job(over=True)])

    report = run_grid(iris_grid(1), store, executor=SlurmExecutor())

    assert "job 7: out of time" in report.failed[0].log


def test_an_interruption_cancels_the_jobs(store, monkeypatch):
    job = Job(over=False)
    monkeypatch.setattr(SlurmExecutor, "_submit", lambda self, tasks, store: [job])

    def interrupted(seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(slurm, "sleep", interrupted)

    with pytest.raises(KeyboardInterrupt):
        run_grid(iris_grid(1), store, executor=SlurmExecutor())
    assert job.cancelled


def test_a_job_does_what_nobody_else_has(store, monkeypatch):
    monkeypatch.setattr(slurm, "LocalExecutor", lambda processes: Here())
    good = tasks_of(iris_grid(2), store)
    run_here(iris_grid(1), store)

    assert do_runs(good, Submission.of(store), LocalExecutor(1)) == 1
    assert do_runs(good, Submission.of(store), LocalExecutor(1)) == 0


def test_without_submitit_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "submitit", None)

    with pytest.raises(MissingExtra, match=r"--slurm needs submitit: pip install 'wola\[slurm\]'"):
        SlurmExecutor()


@pytest.mark.parametrize("name", ["jobs", "processes", "minutes"])
def test_a_number_below_one_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} = 0; allowed: at least 1"):
        SlurmExecutor(**{name: 0})
