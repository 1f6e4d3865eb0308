import io
from threading import Thread

from rich.console import Console

from tests.bench.small import iris, iris_grid, run_here
from wola.bench import watch as watching
from wola.bench.claims import Owner
from wola.bench.events import Done, Failed
from wola.bench.notes import NoteWriter
from wola.bench.progress import GridProgress
from wola.bench.watch import Onlooker, watch


def keys(scenarios, store):
    return [store.key(scenario) for scenario in scenarios]


def progress_of(count):
    return GridProgress(Console(file=io.StringIO(), width=200), count)


def test_an_onlooker_sees_runs_come_in_and_fail(store):
    broken = iris(model="tests.bench.faulty:tells_surroundings")
    scenarios = [*iris_grid(3), broken]
    run_here(scenarios[:1], store)
    onlooker = Onlooker(store, keys(scenarios, store))
    assert list(onlooker.look()) == []

    run_here(scenarios[1:2], store)
    run_here([broken], store)
    seen = list(onlooker.look())

    assert [type(event) for event in seen] == [Done, Failed]
    assert seen[0].scenario == scenarios[1]
    assert seen[1].scenario == broken
    assert list(onlooker.look()) == []
    assert onlooker.left == keys(scenarios[2:], store)


def test_watching_ends_when_all_runs_are_there(store, monkeypatch):
    monkeypatch.setattr(watching, "PAUSE", 0.05)
    scenarios, progress = iris_grid(3), progress_of(3)
    run_here(scenarios[:1], store)
    worker = Thread(target=run_here, args=(scenarios, store))
    worker.start()

    assert watch(store, keys(scenarios, store), progress, idle=30.0)

    worker.join()
    assert progress.pace.over == 3
    assert progress.console.file.getvalue().count("trimmed-mean alie") <= 2


def test_watching_ends_when_nobody_is_at_work(store):
    assert not watch(store, keys(iris_grid(1), store), progress_of(1), idle=0.0)


def test_runs_under_way_are_shown_while_their_claim_lives(store, monkeypatch):
    monkeypatch.setattr(watching, "PAUSE", 0.0)
    scenario, progress, seen = iris(), progress_of(1), []
    key = store.key(scenario)
    with NoteWriter(store.path, key, scenario):
        claim = store.claim(key, Owner.here())

        def released(pause):
            seen.append(dict(progress.current))
            claim.release()

        monkeypatch.setattr(watching, "sleep", released)
        assert not watch(store, [key], progress, idle=0.0)

    assert list(seen[0]) == [key]
    assert progress.current == {}
