"""Grids over processes that really die."""

from dataclasses import dataclass

import pytest

from tests.bench.small import digests, iris, iris_grid, plain_digests
from wola.bench.claims import Owner
from wola.bench.events import Begun, Done, Failed, GridReport, Retried
from wola.bench.executors.local import LocalExecutor
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.ground import WriteError
from wola.training import Scenario

GOOD = iris_grid(4)
SEGFAULT = iris(model="tests.bench.faulty:segfault")
DIES_ONCE = iris(model="tests.bench.faulty:dies_once")
SURROUNDINGS = iris(model="tests.bench.faulty:tells_surroundings")


@dataclass
class Grid:
    store: Store
    report: GridReport
    events: list

    def of(self, kind, scenario: Scenario):
        key = self.store.key(scenario)
        return [event for event in self.events if isinstance(event, kind) and event.key == key]


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """Good runs among others that kill their process; one of the good is somebody else's."""
    folder = tmp_path_factory.mktemp("grid")
    store, events = Store.open(folder / "store"), []
    scenarios = [GOOD[0], SEGFAULT, DIES_ONCE, SURROUNDINGS, *GOOD[1:]]
    claim = store.claim(store.key(GOOD[3]), Owner.here())

    def listen(event):
        events.append(event)
        if len([e for e in events if isinstance(e, Done | Failed)]) == len(scenarios) - 1:
            claim.release()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WOLA_TEST_MARKER", str(folder / "marker"))
        executor = LocalExecutor(processes=2, gpus=("7",))
        report = run_grid(scenarios, store, executor=executor, listener=listen)
    return Grid(store, report, events)


def test_the_runs_have_the_bits_of_a_plain_loop(grid):
    assert digests(GOOD, grid.store) == plain_digests(GOOD)
    for scenario in GOOD:
        assert len(grid.of(Begun, scenario)) == 1


def test_a_process_that_dies_costs_only_its_run_and_that_is_tried_again(grid):
    assert len(grid.of(Retried, DIES_ONCE)) == 1
    assert "exit code 3" in grid.of(Retried, DIES_ONCE)[0].reason
    assert len(grid.of(Done, DIES_ONCE)) == 1
    plain = iris(model="mlp")
    accuracy = grid.store.summary(grid.store.key(DIES_ONCE))["accuracy"]
    assert accuracy == pytest.approx(grid_accuracy(plain))


def grid_accuracy(scenario):
    from wola.training import simulate

    return simulate(scenario).accuracy


def test_a_run_that_kills_its_process_twice_is_given_up_with_its_log(grid):
    assert len(grid.of(Begun, SEGFAULT)) == 2
    (failed,) = grid.of(Failed, SEGFAULT)
    assert "about to read address 0" in failed.log
    assert "Segmentation fault" in failed.log
    assert "signal SIGSEGV" in failed.log
    assert grid.store.failure(grid.store.key(SEGFAULT))["log"] == failed.log


def test_an_error_is_not_tried_again(grid):
    assert len(grid.of(Begun, SURROUNDINGS)) == 1
    assert len(grid.of(Failed, SURROUNDINGS)) == 1


def test_a_process_has_one_thread_and_sees_one_device(grid):
    (failed,) = grid.of(Failed, SURROUNDINGS)
    assert "CUDA_VISIBLE_DEVICES=7 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1" in failed.log


def test_a_run_that_somebody_else_gives_back_is_done(grid):
    assert len(grid.of(Done, GOOD[3])) == 1
    assert isinstance(grid.events[-1], Done)


def test_the_report_counts_everything(grid):
    assert len(grid.report.done) == 5
    assert {failed.scenario for failed in grid.report.failed} == {SEGFAULT, SURROUNDINGS}
    assert grid.report.skipped == ()
    assert grid.store.running() == {}


def test_a_store_that_cannot_be_written_to_stops_the_grid(tmp_path):
    store = Store.open(tmp_path / "store")
    # A file where the folder of drafts should be: nothing can be kept.
    (store.path / "drafts").write_text("")

    with pytest.raises(WriteError, match="cannot write"):
        run_grid(iris_grid(3), store, executor=LocalExecutor(processes=1))
    assert store.running() == {}


def test_no_process_is_started_for_nothing(tmp_path):
    LocalExecutor(processes=2).run([], Store.open(tmp_path / "store"), lambda event: None)


def test_no_processes_at_all_are_refused():
    with pytest.raises(ValueError, match="processes = 0; allowed: at least 1"):
        LocalExecutor(processes=0)
