import pytest

from tests.bench.small import iris_grid, run_here
from wola.bench.events import Failed, Skipped
from wola.bench.queue import PATIENCE, Queue
from wola.bench.task import Task


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def heard():
    return []


@pytest.fixture
def tasks(store):
    return [Task(store.key(scenario), scenario) for scenario in iris_grid(3)]


def test_runs_are_offered_in_their_order(store, tasks, heard):
    queue = Queue(tasks, store, heard.append)

    assert [queue.next() for _ in range(4)] == [*tasks, None]
    assert not queue


def test_a_run_of_somebody_else_is_offered_again_after_a_while(store, tasks, heard, clock):
    queue = Queue(tasks[:1], store, heard.append, clock=clock)
    queue.put_off(queue.next())

    assert queue
    assert queue.next() is None
    clock.now += PATIENCE
    assert queue.next() == tasks[0]
    assert not queue


def test_a_run_that_others_finish_meanwhile_is_told_as_skipped(store, tasks, heard):
    queue = Queue(tasks, store, heard.append)
    run_here([tasks[0].scenario], store)

    assert queue.next() == tasks[1]
    assert heard == [Skipped(tasks[0].key)]


def test_a_run_at_which_others_fail_meanwhile_is_not_tried_by_all(store, tasks, heard):
    queue = Queue(tasks, store, heard.append)
    store.fail(tasks[0].key, tasks[0].scenario, "it broke")

    assert queue.next() == tasks[1]
    assert heard == [Failed(tasks[0].key, tasks[0].scenario, "it broke")]


def test_a_run_that_failed_in_an_earlier_attempt_is_offered(store, tasks, heard):
    store.fail(tasks[0].key, tasks[0].scenario, "it broke")
    task = Task(tasks[0].key, tasks[0].scenario, failures=1)

    assert Queue([task], store, heard.append).next() == task


def test_a_run_to_be_tried_again_comes_first(store, tasks, heard):
    queue = Queue(tasks, store, heard.append)
    first = queue.next()
    queue.again(first)

    assert queue.next() == first
    assert len(queue) == 2
