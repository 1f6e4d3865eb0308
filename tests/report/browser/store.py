"""A small store for the page: every kind of run that it has to show."""

from collections.abc import Iterable
from itertools import product

import polars as pl

from tests.report.made_up import parquet, put, put_record, record_of
from wola.bench.store import Store
from wola.parts import Call, written
from wola.training import Scenario

STRATEGIES = ("-", "NNM", "WoLA", "WoLA+NNM")
AGGREGATORS = ("trimmed-mean", "multi-krum")
ATTACKS = ("alie", "foe")
SEEDS = (1, 2)
BYZANTINE = (2, 6)

#: A text that does harm wherever it is taken for markup.
HARM = "</script><img src=x onerror=\"document.title='harm'\">"


def scenarios(**changes: object) -> list[Scenario]:
    """32 scenarios of iris for each f."""
    found = product(BYZANTINE, STRATEGIES, AGGREGATORS, ATTACKS, SEEDS)
    return [
        Scenario.paper(
            "iris", strategy=s, byzantine=f, aggregator=g, attack=t, seed=seed, **changes
        )
        for f, s, g, t, seed in found
    ]


def number(scenario: Scenario) -> float:
    """An accuracy that differs from one scenario to the next, WoLA's the highest."""
    strategy = STRATEGIES.index(str(scenario.strategy))
    hit = 4.0 * ATTACKS.index(scenario.attack) * (1 if scenario.aggregator == "multi-krum" else -1)
    return 50.0 + 7.3 * strategy + hit - scenario.byzantine + 1.25 * scenario.seed


def metrics(scenario: Scenario, steps: int = 20) -> bytes:
    """A row per step: the accuracy climbs, Byzantine workers lose weight."""
    weights = None
    if scenario.aggregator == "multi-krum":
        h, f = scenario.honest, scenario.byzantine
        weights = [[(1 - f / 100) / h] * h + [0.01] * f] * steps
    tested = [number(scenario) * t / steps if t % 10 == 0 else None for t in range(1, steps + 1)]
    table = pl.DataFrame(
        {
            "step": range(1, steps + 1),
            "accuracy": tested,
            "dissimilarity_momenta": [dissimilarity(scenario)] * steps,
            "cosine": [cosine(scenario)] * steps,
            "weights": weights or [None] * steps,
        },
        schema_overrides={"weights": pl.List(pl.Float32)},
    )
    return parquet(table)


def dissimilarity(scenario: Scenario) -> float:
    """WoLA's is lower."""
    return (0.25 if "WoLA" in str(scenario.strategy) else 2.0) + scenario.seed / 10


def cosine(scenario: Scenario) -> float:
    """NNM's aggregate points farther away from the honest mean."""
    return 0.25 if "NNM" in str(scenario.strategy) else 0.9


def keep(store: Store, scenario: Scenario, made: bytes | None = None, **changes: object) -> str:
    """Puts a made-up run into a store, with its numbers and its curves; its key."""
    summary = {
        "accuracy": number(scenario),
        "dissimilarity_momenta": dissimilarity(scenario),
        "cosine": cosine(scenario),
        "classes": ["setosa", "versicolor", "virginica"],
        "class_accuracies": [100.0, 50.0, 25.0],
        "confusion": [[8, 0, 0], [2, 4, 2], [0, 6, 2]],
        "steps": 20,
        **changes,
    }
    return put(store, scenario, metrics(scenario) if made is None else made, **summary)


def keep_harm(store: Store) -> str:
    """Puts a run into a store every text of which does harm; its key."""
    data, rule = (written(Call(name, (("path", HARM),))) for name in ("npz", "krum"))
    record = record_of(dataset=data, aggregator=rule, attack=HARM, model=HARM, mixing=HARM)
    return put_record(store, record, ending=HARM)


def fill(store: Store, wanted: Iterable[Scenario]) -> Store:
    """The store with runs of these scenarios."""
    for scenario in wanted:
        keep(store, scenario)
    return store
