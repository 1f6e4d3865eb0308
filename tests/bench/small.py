"""Small grids, an executor inside this process, and what runs should give."""

from wola.bench.run import run_grid
from wola.bench.task import perform
from wola.training import Scenario, simulate


def iris(**changes):
    """A run of a few milliseconds."""
    return Scenario.paper("iris", **{"steps": 6, "evaluate_every": 3, "batch": 8, **changes})


def iris_grid(count, **changes):
    """Some runs that differ in their seed."""
    return [iris(seed=seed, **changes) for seed in range(1, count + 1)]


class Here:
    """An executor that does all runs in this process, in their order."""

    def run(self, tasks, store, listener):
        """Does the runs."""
        for task in tasks:
            perform(task, store, tell=listener)


def run_here(scenarios, store, **more):
    """The report of a grid that is run in this process."""
    return run_grid(scenarios, store, executor=Here(), **more)


def digests(scenarios, store):
    """The bits of runs as they are in the store."""
    return [store.summary(store.key(scenario))["digest"] for scenario in scenarios]


def plain_digests(scenarios):
    """The bits of runs as a plain loop gives them."""
    return [simulate(scenario).digest() for scenario in scenarios]
