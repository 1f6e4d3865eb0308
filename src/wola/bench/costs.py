"""What a run costs: seconds by cause, from a table recorded once, or from runs in a store."""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import ceil
from statistics import fmean
from typing import Any, Self

from wola.training import Scenario
from wola.training.federation import trains_on_data

#: Attacks that try the server's rule, many times over: they cost what the rule costs.
JUDGING = ("optimal-", "tilt", "fang-krum", "worst-of", "span-search", "patient")


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
    # The final model is tested once more, for the confusion table.
    tests = ceil(scenario.steps / scenario.evaluate_every) + 1
    step = costs.worker * computing_workers(scenario) + costs.rule + costs.attack
    return costs.start + scenario.steps * step + tests * costs.test


@dataclass(frozen=True)
class RecordedCosts:
    """The table that comes with the package: what the paper's networks, rules and attacks cost on
    one `machine`, at the paper's n and batch.

    What scales, such as a batch, is scaled. Parts that the table does not have, such as a user's
    own, cost the mean of their like.
    """

    machine: str
    workers: int
    batch: int
    datasets: Mapping[str, Mapping[str, Any]]

    @classmethod
    @cache
    def shipped(cls) -> Self:
        """The table of the package, which ``python -m benchmarks.costs`` records.

        >>> sorted(RecordedCosts.shipped().datasets)[:3]
        ['cifar10', 'digits', 'fashion-mnist']
        """
        return cls(**json.loads(files("wola.bench").joinpath("costs.json").read_bytes()))

    def of(self, scenario: Scenario) -> Costs:
        """The costs of a scenario."""
        name = part_names(scenario.dataset)
        tables = [self.datasets[name]] if name in self.datasets else list(self.datasets.values())
        rule = (part_names(scenario.mixing), part_names(scenario.aggregator))
        attack = part_names(scenario.attack)
        samples = scenario.batch * scenario.local_steps / self.batch
        share = scenario.workers / self.workers

        def mean(cost: Callable[[Mapping[str, Any]], float]) -> float:
            return fmean(cost(table) for table in tables)

        return Costs(
            start=mean(lambda table: table["start"]),
            worker=mean(lambda table: table["worker"]) * samples,
            rule=mean(lambda table: _rule(table["rules"], *rule)) * share,
            attack=mean(lambda table: _like(table["attacks"], [attack])) * share,
            test=mean(lambda table: table["test"]),
        )


def part_names(text: str) -> str:
    """The names of parts without their parameters.

    >>> part_names("clipping(norm=max(1, 2))+nnm"), part_names("my.module:Rule(power=1)")
    ('clipping+nnm', 'my.module:Rule')
    """
    kept, depth = "", 0
    for letter in text:
        depth += letter == "("
        kept += "" if depth else letter
        depth -= letter == ")"
    return kept


def _rule(rules: Mapping[str, float], mixing: str, aggregator: str) -> float:
    same_aggregator = [name for name in rules if name.split()[1] == aggregator]
    same_mixing = [name for name in rules if name.split()[0] == mixing]
    return _like(rules, [f"{mixing} {aggregator}"], same_aggregator, same_mixing)


def _like(seconds: Mapping[str, float], *groups: Iterable[str]) -> float:
    for group in groups:
        if found := [seconds[name] for name in group if name in seconds]:
            return fmean(found)
    return fmean(seconds.values())


@dataclass
class LearntCosts:
    """Costs by class of scenarios, learnt from runs that have been done.

    A scenario belongs to a class of each kind: what its workers compute, its rule, its attack.
    """

    runs: int = 0
    _seconds: dict[Hashable, list[float]] = field(default_factory=lambda: defaultdict(list))

    def learn(self, scenario: Scenario, summary: Mapping[str, Any]) -> None:
        """Takes in the times of a run."""
        steps, seconds = summary["steps"], summary["seconds"]
        if not steps:
            return
        computing = sum(seconds[phase] for phase in ("batches", "gradients", "step", "metrics"))
        network, rule, attack = _classes(scenario)
        found = {
            ("worker", network): computing / steps / computing_workers(scenario),
            ("test", network): seconds["evaluation"] / ceil(steps / scenario.evaluate_every),
            ("rule", rule): seconds["rule"] / steps,
            ("attack", attack): seconds["attack"] / steps,
        }
        self.runs += 1
        for kind, one in found.items():
            self._seconds[kind].append(one)

    def knows(self, scenario: Scenario) -> bool:
        """Whether the work of the workers, most of a run, has been learnt."""
        return ("worker", _classes(scenario)[0]) in self._seconds

    def of(self, scenario: Scenario, otherwise: Costs) -> Costs:
        """The costs of a scenario; what has not been learnt is as given."""
        network, rule, attack = _classes(scenario)

        def learnt(cause: str, kind: Hashable, default: float) -> float:
            found = self._seconds.get((cause, kind))
            return fmean(found) if found else default

        return Costs(
            start=otherwise.start,
            worker=learnt("worker", network, otherwise.worker),
            rule=learnt("rule", rule, otherwise.rule),
            attack=learnt("attack", attack, otherwise.attack),
            test=learnt("test", network, otherwise.test),
        )


def groups_of_equal_cost(scenarios: Iterable[Scenario]) -> list[list[Scenario]]:
    """Scenarios that take the same time, together: those of a large grid are few.

    >>> alike = [Scenario(seed=1), Scenario(seed=2), Scenario(byzantine=2), Scenario(seed=3)]
    >>> [len(group) for group in groups_of_equal_cost(alike)]
    [3, 1]
    """
    groups: dict[Hashable, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        counts = (scenario.byzantine, scenario.participants, scenario.steps)
        kind = (*_classes(scenario), *counts, scenario.evaluate_every)
        groups[kind].append(scenario)
    return list(groups.values())


def _classes(scenario: Scenario) -> tuple[Hashable, Hashable, Hashable]:
    s = scenario
    network = (s.dataset, s.model, s.inputs, s.batch, s.local_steps, s.augment)
    size = (s.dataset, s.model, s.workers, s.device, s.threads)
    rule = (s.mixing, s.aggregator)
    judged = rule if s.attack.startswith(JUDGING) else ()
    return (*network, s.device, s.threads), (*size, *rule), (*size, s.attack, *judged)
