import shutil

import pytest

from tests.aggregation.memory_rules import REMEMBERING
from tests.bench.small import iris, plain_digests
from wola.bench import claims as claims_module
from wola.bench import notes as notes_module
from wola.bench import task as task_module
from wola.bench.claims import Owner
from wola.bench.events import Begun, Busy, Done, Evaluated, Failed, Said, Skipped
from wola.bench.notes import checkpoint_file, notes
from wola.bench.store import Store
from wola.bench.task import Task, perform
from wola.ground import WriteError
from wola.training import Callback, content, simulate


def task_of(scenario, store):
    return Task(store.key(scenario), scenario)


def performed(scenario, store, **more):
    heard = []
    perform(task_of(scenario, store), store, tell=heard.append, **more)
    return heard


class StopsAfter(Callback):
    """Counts steps, and interrupts the run after so many."""

    def __init__(self, limit=None):
        self.limit, self.steps = limit, []

    def on_step(self, record):
        if record.step == self.limit:
            raise KeyboardInterrupt
        self.steps.append(record.step)


def test_a_run_is_told_from_its_beginning_to_its_end_and_kept(store):
    scenario = iris()

    heard = performed(scenario, store)

    assert [type(event) for event in heard] == [Begun, Evaluated, Evaluated, Done]
    key = store.key(scenario)
    assert store.state(key) == "done"
    assert store.summary(key)["digest"] == plain_digests([scenario])[0]
    assert heard[-1].accuracy == store.summary(key)["accuracy"]
    assert list(notes(store.path)) == []


@pytest.mark.parametrize("model", ["mlp", "tests.bench.faulty:tells_surroundings"])
def test_whoever_hears_of_the_end_finds_the_run_released(store, model):
    scenario, states = iris(model=model), []
    key = store.key(scenario)

    def tell(event):
        if isinstance(event, Done | Failed):
            states.append((store.state(key), list((store.path / "claims").iterdir())))

    perform(task_of(scenario, store), store, tell=tell)

    assert states == [("done" if model == "mlp" else "failed", [])]


def test_a_run_under_way_leaves_a_note_with_its_last_accuracy(store, monkeypatch):
    monkeypatch.setattr(notes_module, "NOTE_EVERY", 0.0)
    seen = []

    class Looks(Callback):
        def on_step(self, record):
            seen.append([(note.step, note.accuracy) for note in notes(store.path)])

    heard = performed(iris(), store, callbacks=lambda task: [Looks()])

    accuracy = next(event.accuracy for event in heard if isinstance(event, Evaluated))
    assert seen[0] == [(0, None)]
    assert seen[-1] == [(3, accuracy)]


def test_a_run_of_somebody_else_is_left_alone(store):
    scenario = iris()
    with store.claim(store.key(scenario), Owner.here()):
        assert performed(scenario, store) == [Busy(store.key(scenario))]
    assert store.state(store.key(scenario)) == "missing"


def test_a_run_that_is_there_is_not_done_again(store):
    performed(iris(), store)

    assert [type(event) for event in performed(iris(), store)] == [Skipped]


def test_an_error_of_the_run_is_recorded_with_its_traceback(store):
    scenario = iris(model="tests.bench.faulty:tells_surroundings")

    *_, failed = performed(scenario, store)

    assert isinstance(failed, Failed)
    assert "tells_surroundings" in failed.log
    assert store.state(store.key(scenario)) == "failed"
    assert store.failure(store.key(scenario))["log"] == failed.log


def test_a_store_that_cannot_be_written_to_is_no_failure_of_the_run(store, monkeypatch):
    def full(self, key, result):
        raise WriteError(28, "cannot write (No space left on device)", "store")

    monkeypatch.setattr(Store, "write", full)

    with pytest.raises(WriteError, match="No space left"):
        performed(iris(), store)
    assert store.state(store.key(iris())) == "missing"


@pytest.mark.parametrize("aggregator", ["trimmed-mean", *REMEMBERING])
def test_a_long_run_that_was_stopped_goes_on_from_its_checkpoint(store, monkeypatch, aggregator):
    monkeypatch.setattr(task_module, "CHECKPOINT_EVERY", 5)
    scenario = iris(steps=14, aggregator=aggregator, server_data="equal(samples=9)")
    with pytest.raises(KeyboardInterrupt):
        performed(scenario, store, callbacks=lambda task: [StopsAfter(12)])
    rest = StopsAfter()

    performed(scenario, store, callbacks=lambda task: [rest])

    assert rest.steps == [11, 12, 13, 14]
    assert store.summary(store.key(scenario))["digest"] == plain_digests([scenario])[0]
    assert not checkpoint_file(store.path, store.key(scenario)).exists()


def test_a_damaged_checkpoint_costs_only_what_it_would_have_saved(store):
    scenario, whole = iris(), StopsAfter()
    path = checkpoint_file(store.path, store.key(scenario))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"half a file")

    performed(scenario, store, callbacks=lambda task: [whole])

    assert whole.steps == [1, 2, 3, 4, 5, 6]
    assert store.state(store.key(scenario)) == "done"


def test_a_dataset_is_read_once_for_many_runs(store):
    content._kept.cache_clear()

    performed(iris(seed=1), store)
    performed(iris(seed=2), store)

    assert content._kept.cache_info().misses == 1
    assert content._kept.cache_info().hits == 1


class TakesOver(Callback):
    """Somebody else who takes the claim over after a step, as from a process that was suspended."""

    def __init__(self, store, key, step):
        self.store, self.key, self.step, self.seen = store, key, step, 0

    def on_step(self, record):
        self.seen = record.step
        if record.step == self.step:
            claims_module._replace(self.store.path / "claims" / f"{self.key}.json", Owner.here())


@pytest.mark.parametrize("step", [2, 6])
def test_a_run_that_somebody_else_has_taken_over_ends_without_writing(tmp_path, step):
    store = Store.open(tmp_path / "store", beat=0.01)
    scenario = iris(steps=6 if step == 6 else 5000)
    task, heard = task_of(scenario, store), []
    thief = TakesOver(store, task.key, step)
    perform(task, store, tell=heard.append, callbacks=lambda task: [thief])
    assert heard[-1] == Busy(task.key)
    assert not store.is_done(task.key)
    assert store.failure(task.key) is None
    assert thief.seen < 5000
    assert list(store.running()) == [task.key]


def test_a_damaged_checkpoint_is_named_set_aside_and_the_run_starts_anew(tmp_path, monkeypatch):
    store, heard = Store.open(tmp_path / "store"), []
    scenario = iris(steps=6)
    task = task_of(scenario, store)
    path = checkpoint_file(store.path, task.key)
    path.parent.mkdir()
    path.write_bytes(b"not one")
    perform(task, store, tell=heard.append)
    (said,) = [event for event in heard if isinstance(event, Said)]
    assert "is no checkpoint, or is damaged" in said.text
    (aside,) = (store.path / "corrupt").iterdir()
    assert aside.read_bytes() == b"not one"
    assert str(aside) in said.text
    assert store.summary(task.key)["digest"] == simulate(scenario).digest()


def test_a_store_that_vanishes_during_a_run_is_not_made_anew(tmp_path, monkeypatch):
    store, heard = Store.open(tmp_path / "store", beat=0.01), []
    monkeypatch.setattr(task_module, "CHECKPOINT_EVERY", 5)

    class Vanishes(Callback):
        def on_step(self, record):
            if record.step == 3:
                shutil.rmtree(store.path)

    task = task_of(iris(steps=20), store)
    with pytest.raises(WriteError, match="the store has vanished"):
        perform(task, store, tell=heard.append, callbacks=lambda task: [Vanishes()])
    assert not store.path.exists()
