from tests.bench.small import digests, iris, iris_grid, plain_digests, run_here
from wola.bench.events import Begun, Failed, Said
from wola.bench.notes import announced
from wola.bench.task import Task


def test_a_grid_gives_the_bits_of_a_plain_loop(store):
    scenarios = iris_grid(3)

    report = run_here(scenarios, store)

    assert report.whole
    assert report.done == tuple(store.key(scenario) for scenario in scenarios)
    assert digests(scenarios, store) == plain_digests(scenarios)


def test_what_is_there_is_skipped(store):
    run_here(iris_grid(2), store)

    report = run_here(iris_grid(3), store)

    keys = [store.key(scenario) for scenario in iris_grid(3)]
    assert report.skipped == tuple(keys[:2])
    assert report.done == tuple(keys[2:])


def test_scenarios_that_coincide_are_run_once(store):
    scenarios = [iris(strategy=name, byzantine=8) for name in ("-", "BKT", "NNM")]

    report = run_here(scenarios, store)

    assert (len(report.done), report.shared) == (2, 1)
    assert digests(scenarios, store)[0] == digests(scenarios, store)[1]


def test_a_damaged_run_is_set_aside_and_run_again_and_said_so(store):
    scenarios, heard = iris_grid(2), []
    run_here(scenarios, store)
    key = store.key(scenarios[0])
    (store.folder(key) / "metrics.parquet").write_bytes(b"PAR1 and no more")

    report = run_here(scenarios, store, listener=heard.append)

    assert report.done == (key,)
    (said,) = [event.text for event in heard if isinstance(event, Said)]
    assert "metrics.parquet" in said
    assert "set aside" in said
    assert store.damage(key) is None
    assert digests(scenarios, store) == plain_digests(scenarios)


def test_one_failure_does_not_stop_the_others_and_is_tried_again_next_time(store):
    broken = iris(model="tests.bench.faulty:tells_surroundings")
    scenarios, heard = [broken, *iris_grid(2)], []

    report = run_here(scenarios, store)
    again = run_here(scenarios, store, listener=heard.append)

    assert not report.whole
    assert [failed.scenario for failed in report.failed] == [broken]
    assert len(report.done) == 2
    assert [type(e) for e in heard if isinstance(e, Begun | Failed)] == [Begun, Failed]
    assert len(again.failed) == 1
    assert store.failure(store.key(broken))["tries"] == 2


def test_onlookers_find_which_runs_the_grid_has(store):
    run_here(iris_grid(2), store, title="flowers")

    found = announced(store.path)
    assert found.title == "flowers"
    assert found.keys == tuple(store.key(scenario) for scenario in iris_grid(2))


def test_a_task_knows_how_often_it_failed_before(store):
    from wola.bench.run import tasks_of

    scenario = iris()
    store.fail(store.key(scenario), scenario, "no")

    assert tasks_of([scenario], store) == [Task(store.key(scenario), scenario, failures=1)]
