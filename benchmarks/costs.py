"""Records what runs cost on this machine, for the estimates of `wola bench --plan`.

`python -m benchmarks.costs`, with nothing else to do for the machine. Every network is trained for
a few steps on random data of its dataset's shape, and the processor's time of this process is taken
by phase. Rules and attacks cost the same whatever the batch: they are measured with batches of one.
"""

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from benchmarks.kernels import processor, use_one_thread
from wola.bench.costs import computing_workers
from wola.data import Dataset
from wola.data.arrays import Arrays
from wola.data.dataset import make_dataset
from wola.training import (
    AGGREGATORS,
    ATTACKS,
    MIXINGS,
    Result,
    Scenario,
    evaluate,
    metrics,
    simulate,
)

TABLE = Path(__file__).parents[1] / "src" / "wola" / "bench" / "costs.json"

#: Steps that are measured; the first is left out, since it may compile.
STEPS = 4

_PAPER_RULES = ("mean", "median", "trimmed-mean", "geometric-median", "multi-krum")


@dataclass(frozen=True)
class Shape:
    """What a dataset looks like: one sample, the classes, the samples of its test set.

    `workers` is how many are trained: all of the paper's 17, unless the network is too slow.
    """

    sample: tuple[int, ...]
    classes: int
    tests: int
    workers: int = 17

    def random(self, name: str, *, tests: int) -> Dataset:
        """A dataset of this shape with random content, and a test set of another size."""
        draw = np.random.default_rng(1)
        count = 4096
        x = draw.integers(0, 256, (count, *self.sample), dtype=np.uint8)
        y = np.arange(count) % self.classes
        return make_dataset(name, Arrays(x, y, x[:tests], y[:tests]), scale=255)


SHAPES = {
    "digits": Shape((1, 8, 8), 10, 360),
    "iris": Shape((4,), 3, 30),
    "mnist": Shape((1, 28, 28), 10, 10_000),
    "fashion-mnist": Shape((1, 28, 28), 10, 10_000),
    "cifar10": Shape((3, 32, 32), 10, 10_000, workers=3),
    "purchase100": Shape((600,), 100, 39_465),
}


def rules() -> list[tuple[str, str]]:
    """Mixings and aggregators that are measured together: the paper's, and every other one alone.

    >>> len(rules()), rules()[0]
    (35, ('none', 'mean'))
    """
    paper = [(m, a) for m in ("none", "nnm", "bucketing", "foundation-fl") for a in _PAPER_RULES]
    mixings = [(name, "trimmed-mean") for name in MIXINGS]
    # What needs data of the server's own takes its time in gradients, which are the dataset's.
    alone = [("none", name) for name, rule in AGGREGATORS.items() if not rule.needs]
    return list(dict.fromkeys([*paper, *mixings, *alone]))


def measured(name: str, shape: Shape) -> dict[str, Any]:
    """The costs of a dataset's network in seconds of one core."""
    fewest = max(10, shape.classes)
    computing, testing = _whole_steps(name, shape)
    small = shape.random(name, tests=fewest)
    base = Scenario.paper(name, batch=1, steps=STEPS, evaluate_every=STEPS)
    by_rule = {}
    for mixing, aggregator in rules():
        f = min(base.byzantine, AGGREGATORS[aggregator]().max_byzantine(base.workers))
        changes = {"mixing": mixing, "aggregator": aggregator, "byzantine": f}
        by_rule[f"{mixing} {aggregator}"] = _phase("rule", base, small, **changes)
    attacks = ("none", *ATTACKS)
    by_attack = {attack: _phase("attack", base, small, attack=attack) for attack in attacks}
    return {**computing, "test": testing, "rules": by_rule, "attacks": by_attack}


def _whole_steps(name: str, shape: Shape) -> tuple[dict[str, float], float]:
    tests = min(shape.tests, 512)
    scenario = Scenario.paper(
        name,
        workers=shape.workers,
        byzantine=0,
        attack="none",
        aggregator="mean",
        steps=STEPS,
        evaluate_every=STEPS,
    )
    dataset = shape.random(name, tests=tests)
    start = process_time()
    result = simulate(scenario, dataset=dataset)
    whole = process_time() - start
    test = result.evaluations[-1].seconds
    # The final model is tested once more, for the confusion table.
    rest = max(0.0, whole - sum(result.seconds.values()) - test)
    phases = ("batches", "gradients", "step", "metrics")
    step = sum(typical(result, phase) for phase in phases) / computing_workers(scenario)
    return {"start": rounded(rest), "worker": rounded(step)}, rounded(test * shape.tests / tests)


def _phase(phase: str, base: Scenario, dataset: Dataset, **changes: Any) -> float:
    return rounded(typical(simulate(base.changed(**changes), dataset=dataset), phase))


def typical(result: Result, phase: str) -> float:
    """The median over all steps but the first."""
    return median(record.seconds[phase] for record in result.steps[1:])


def rounded(seconds: float) -> float:
    """Three digits, which is more than another run would confirm.

    >>> rounded(0.0123456)
    0.0123
    """
    return float(f"{seconds:.3g}")


def record(names: Iterable[str]) -> dict[str, Any]:
    """The table for some datasets."""
    # The engine takes wall time; on a machine with other work the processor's is steadier.
    for module in (metrics, evaluate):
        vars(module)["perf_counter"] = process_time
    datasets: dict[str, Any] = {}
    for name in names:
        print(name, flush=True)
        datasets[name] = measured(name, SHAPES[name])
    return {
        "machine": f"one core of {processor()}",
        "workers": 17,
        "batch": 128,
        "datasets": datasets,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.costs", description=__doc__)
    parser.add_argument("--out", type=Path, default=TABLE, help="the table to write")
    out = parser.parse_args().out
    use_one_thread()
    out.write_text(json.dumps(record(SHAPES), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
