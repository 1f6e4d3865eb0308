"""The plan of a grid: how many runs, how many are there, and how long the rest will take."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from wola.bench.costs import LearntCosts, RecordedCosts, groups_of_equal_cost, seconds_of
from wola.bench.run import tasks_of
from wola.bench.store import Store
from wola.training import Scenario

#: Runs of a store whose times are read, at most.
EXAMPLES = 500


@dataclass(frozen=True)
class Plan:
    """The runs of a grid: how many `scenarios`, `runs` that answer them, `done` already, the rest.

    `seconds` is an estimate of what the rest takes in one process: for `learnt` runs from the times
    of `examples`, runs in the store like them, for the others from a table that was recorded on
    `machine`.
    """

    scenarios: int
    runs: int
    done: int
    failed: int
    seconds: float
    learnt: int
    examples: int
    machine: str

    @property
    def left(self) -> int:
        """How many runs are still to be done."""
        return self.runs - self.done


def make_plan(
    scenarios: Sequence[Scenario], store: Store, *, recorded: RecordedCosts | None = None
) -> Plan:
    """Counts the runs of a grid and estimates what is left; nothing is trained or downloaded."""
    table = RecordedCosts.shipped() if recorded is None else recorded
    tasks, there = tasks_of(scenarios, store), list(store.keys())
    done = set(there)
    left = [task for task in tasks if task.key not in done]
    ours = [task.key for task in tasks if task.key in done]
    costs = learnt_in(store, dict.fromkeys((*_spread(ours), *_spread(there))))
    seconds, learnt = 0.0, 0
    for alike in groups_of_equal_cost(task.scenario for task in left):
        one = alike[0]
        seconds += len(alike) * seconds_of(one, costs.of(one, table.of(one)))
        learnt += len(alike) * costs.knows(one)
    return Plan(
        scenarios=len(scenarios),
        runs=len(tasks),
        done=len(ours),
        failed=sum(task.failures > 0 for task in left),
        seconds=seconds,
        learnt=learnt,
        examples=costs.runs,
        machine=table.machine,
    )


def learnt_in(store: Store, keys: Iterable[str]) -> LearntCosts:
    """What some runs of a store cost; those that cannot be read are left out."""
    costs = LearntCosts()
    for key in keys:
        with suppress(OSError, ValueError, KeyError, TypeError):
            costs.learn(store.scenario(key), store.summary(key))
    return costs


def _spread(keys: Sequence[str]) -> Iterator[str]:
    # Evenly over all of them: a part of a store in the order of its keys is a random one.
    count = min(EXAMPLES // 2, len(keys))
    return (keys[index * len(keys) // count] for index in range(count))
