"""Runs that coincide: scenarios that differ in name alone, and the one that stands for them."""

from collections.abc import Callable, Iterable
from typing import Any

from wola.mixing import Bucketing
from wola.training import MIXINGS, Scenario
from wola.training.registry import AS_IN_THE_PAPER

#: Attacks whose updates are dropped, so that the rule meets fewer workers than were counted here.
_DROPPED = ("nan", "infinite")

Reading = tuple[dict[str, Any], str]


def representative(scenario: Scenario) -> Scenario:
    """The scenario that stands for all that coincide with this one; often itself.

    Coinciding scenarios make the same computations: buckets of one worker are no mixing, a trimmed
    mean of n - 2f = 1 values is the median, nobody attacks when f = 0, and a field that the rest
    of the scenario leaves unread does not count.

    >>> plain = Scenario.paper("digits", strategy="-", byzantine=6)
    >>> representative(plain.with_strategy("BKT")) == plain
    True
    """
    changes: dict[str, Any] = {}
    for fields, _ in _readings(scenario):
        changes |= fields
    return scenario.changed(**changes) if changes else scenario


def reasons(scenario: Scenario) -> tuple[str, ...]:
    """Why the scenario coincides with its representative, a line for each difference.

    >>> reasons(Scenario(aggregator="trimmed-mean", byzantine=8))
    ('the trimmed mean of 17 - 2 x 8 = 1 values is the median',)
    """
    return tuple(reason for _, reason in _readings(scenario))


def coinciding(scenarios: Iterable[Scenario]) -> dict[Scenario, list[Scenario]]:
    """The runs that are needed, each with the scenarios it answers, in the order they came.

    >>> grid = [Scenario.paper(strategy=name, byzantine=8) for name in ("-", "BKT", "NNM")]
    >>> [len(answered) for answered in coinciding(grid).values()]
    [2, 1]
    """
    made: dict[str, tuple[Scenario, list[Scenario]]] = {}
    for scenario in scenarios:
        run = representative(scenario)
        made.setdefault(run.to_json(), (run, []))[1].append(scenario)
    return dict(made.values())


def _readings(scenario: Scenario) -> list[Reading]:
    found = [*_unread(scenario), *_without_attackers(scenario)]
    if scenario.attack not in _DROPPED:
        found += [*_small_buckets(scenario), *_median_in_disguise(scenario)]
    return found


def _small_buckets(scenario: Scenario) -> Iterable[Reading]:
    names = [] if scenario.mixing == "none" else scenario.mixing.split("+")
    n, f = scenario.round_counts()
    kept = []
    for name in names:
        mixing = MIXINGS[name]()
        if not (isinstance(mixing, Bucketing) and mixing.bucket_size(n, f) == 1):
            kept.append(name)
        n = mixing.count(n, f)
    if len(kept) < len(names):
        yield {"mixing": "+".join(kept) or "none"}, "buckets of one worker are no mixing"


def _median_in_disguise(scenario: Scenario) -> Iterable[Reading]:
    n, f = scenario.round_counts()
    for name in [] if scenario.mixing == "none" else scenario.mixing.split("+"):
        n = MIXINGS[name]().count(n, f)
    if scenario.aggregator == "trimmed-mean" and n - 2 * f == 1 and f > 0:
        reason = f"the trimmed mean of {n} - 2 x {f} = 1 values is the median"
        yield {"aggregator": "median"}, reason


def _without_attackers(scenario: Scenario) -> Iterable[Reading]:
    if scenario.byzantine:
        return
    for name in ("attack", "objective_attack"):
        if getattr(scenario, name) != "none":
            yield {name: "none"}, f"{name} is not read: nobody attacks when f = 0"


_UNREAD: tuple[tuple[str, str, Callable[[Scenario], bool]], ...] = (
    ("alpha", "partition is {0.partition}", lambda s: s.partition != "dirichlet"),
    ("partition_mode", "partition is {0.partition}", lambda s: s.partition != "dirichlet"),
    ("classes_per_worker", "partition is {0.partition}", lambda s: s.partition != "shards"),
    ("similarity", "partition is {0.partition}", lambda s: s.partition != "gamma-similarity"),
    ("objective_rule", "objective is {0.objective}", lambda s: s.objective != "shared"),
    ("objective_attack", "objective is {0.objective}", lambda s: s.objective != "shared"),
    ("lr_factor", "lr_schedule is {0.lr_schedule}", lambda s: s.lr_schedule != "step"),
    ("lr_period", "lr_schedule is {0.lr_schedule}", lambda s: s.lr_schedule == "constant"),
    ("server_beta", "server is {0.server}", lambda s: s.server == "sgd"),
    ("server_beta2", "server is {0.server}", lambda s: s.server != "adam"),
    ("definitions", "{0.aggregator} has one definition", lambda s: not _has_variants(s)),
)


def _unread(scenario: Scenario) -> Iterable[Reading]:
    for name, why, unread in _UNREAD:
        usual = Scenario.model_fields[name].default
        if unread(scenario) and getattr(scenario, name) != usual:
            yield {name: usual}, f"{name} is not read: {why.format(scenario)}"


def _has_variants(scenario: Scenario) -> bool:
    shared = scenario.objective == "shared" and scenario.objective_rule != "paper"
    return scenario.aggregator in AS_IN_THE_PAPER or shared
