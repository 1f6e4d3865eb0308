"""What a grid would take: how many runs, how many are there, and for how long the rest will run."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from time import monotonic

from wola.bench.run import tasks_of
from wola.bench.store import Store
from wola.bench.task import dataset_of
from wola.data import DataError
from wola.training import Result, Scenario, simulate
from wola.training.federation import trains_on_data

#: Steps that are measured of a cost class; the first is not counted, since it may compile.
STEPS = 3


@dataclass(frozen=True)
class Costs:
    """Seconds by cause: `start` of a run, `worker` per step and worker that computes, `rule` and
    `attack` per step, `test` per test of the model.
    """

    start: float
    worker: float
    rule: float
    attack: float
    test: float


Measure = Callable[[Scenario], Costs]


@dataclass(frozen=True)
class Plan:
    """The runs of a grid: how many `scenarios`, `runs` that answer them, `done` already, the rest.

    `seconds` is what the rest takes in one process, estimated; `missing` says which datasets could
    not be measured, and how many runs are not counted for that.
    """

    scenarios: int
    runs: int
    done: int
    failed: int
    seconds: float
    measured: int
    missing: tuple[str, ...]

    @property
    def left(self) -> int:
        """How many runs are still to be done."""
        return self.runs - self.done


def make_plan(
    scenarios: Sequence[Scenario],
    store: Store,
    *,
    budget: float = 60.0,
    measure: Measure | None = None,
    clock: Callable[[], float] = monotonic,
) -> Plan:
    """Counts the runs of a grid and estimates what is left, from a few steps of every cost class.

    Costs add up over classes: what workers compute depends on the dataset and the network, what
    the rule costs on the mixing and the aggregator, and so on. Runs that together meet every class
    are measured over a few steps; after `budget` seconds the classes that are left take the mean
    of their like.
    """
    tasks = tasks_of(scenarios, store)
    left = [task for task in tasks if not store.is_done(task.key)]
    estimate = Estimate(measure or measured, budget=budget, clock=clock)
    estimate.study([task.scenario for task in left])
    seconds = [estimate.seconds(task.scenario) for task in left]
    return Plan(
        scenarios=len(scenarios),
        runs=len(tasks),
        done=len(tasks) - len(left),
        failed=sum(task.failures > 0 for task in left),
        seconds=sum(one for one in seconds if one is not None),
        measured=estimate.measurements,
        missing=tuple(
            f"{name}: {reason} ({sum(t.scenario.dataset == name for t in left)} runs not counted)"
            for name, reason in estimate.missing.items()
        ),
    )


class Estimate:
    """Costs by class, learnt from a few short runs.

    A scenario belongs to a class of each kind: what its workers compute, its rule, its attack.
    """

    def __init__(
        self, measure: Measure, *, budget: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self.measure, self.budget, self.clock = measure, budget, clock
        self.known: dict[Hashable, Costs] = {}
        self.missing: dict[str, str] = {}
        self.measurements = 0

    def study(self, scenarios: Sequence[Scenario]) -> None:
        """Measures scenarios until every class is known, those with most that is new first."""
        end = self.clock() + self.budget
        for new in (3, 2, 1):
            for scenario in scenarios:
                classes = _classes(scenario)
                unknown = [one for one in classes if one not in self.known]
                # Without its network nothing can be said of a run; all else has its like.
                needed = classes[0] in unknown or self.clock() < end
                if len(unknown) >= new and needed and scenario.dataset not in self.missing:
                    self._learn(scenario, unknown)

    def _learn(self, scenario: Scenario, classes: Sequence[Hashable]) -> None:
        try:
            costs = self.measure(scenario)
        except DataError as error:
            self.missing[scenario.dataset] = str(error)
            return
        self.measurements += 1
        self.known |= dict.fromkeys(classes, costs)

    def seconds(self, scenario: Scenario) -> float | None:
        """The time of a run; None if its data is missing."""
        network, rule, attack = _classes(scenario)
        if network not in self.known:
            return None
        base = self.known[network]
        return seconds_of(
            scenario,
            replace(
                base,
                rule=self.known.get(rule, base).rule,
                attack=self.known.get(attack, base).attack,
            ),
        )


def _classes(scenario: Scenario) -> tuple[Hashable, Hashable, Hashable]:
    s = scenario
    network = (s.dataset, s.data_source, s.model, s.inputs, s.batch, s.local_steps, s.augment)
    size = (s.dataset, s.model, s.workers, s.device, s.threads)
    rule = (s.mixing, s.aggregator, s.definitions)
    # An optimised attack tries the rule many times over.
    judged = rule if s.attack.startswith("optimal") else ()
    return (
        ("network", *network, s.device, s.threads),
        ("rule", *size, *rule),
        ("attack", *size, s.attack, *judged),
    )


def measured(scenario: Scenario) -> Costs:
    """The costs of a scenario, from its first steps."""
    dataset, start = dataset_of(scenario), monotonic()
    result = simulate(scenario.changed(steps=STEPS, evaluate_every=STEPS), dataset=dataset)
    return costs_of(result, monotonic() - start)


def costs_of(result: Result, seconds: float) -> Costs:
    """What a short run of so many seconds in all tells about longer ones."""
    later = [record.seconds for record in result.steps[1:] or result.steps]
    typical = {phase: median(one[phase] for one in later) for phase in later[0]}
    test = fmean(evaluation.seconds for evaluation in result.evaluations)
    computing = typical["batches"] + typical["gradients"] + typical["step"] + typical["metrics"]
    # The final model is tested once more, for the confusion table.
    rest = seconds - sum(result.seconds.values()) - test
    return Costs(
        start=max(0.0, rest),
        worker=computing / max(1, computing_workers(result.scenario)),
        rule=typical["rule"],
        attack=typical["attack"],
        test=test,
    )


def computing_workers(scenario: Scenario) -> float:
    """How many workers compute an update in a round, on average."""
    taking_part, _ = scenario.round_counts()
    share = 1.0 if trains_on_data(scenario) else scenario.honest / scenario.workers
    return taking_part * share


def seconds_of(scenario: Scenario, costs: Costs) -> float:
    """The time of a whole run.

    >>> costs = Costs(start=1.0, worker=0.1, rule=0.0, attack=0.0, test=2.0)
    >>> seconds_of(Scenario(workers=1, byzantine=0, steps=10, evaluate_every=5), costs)
    8.0
    """
    tests = -(-scenario.steps // scenario.evaluate_every) + 1
    step = costs.worker * computing_workers(scenario) + costs.rule + costs.attack
    return costs.start + scenario.steps * step + tests * costs.test
