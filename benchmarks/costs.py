"""Records what runs cost on this machine, for the estimates of `wola bench --plan`.

`python -m benchmarks.costs`, with nothing else to do for the machine. Every network is trained for
a few steps on random data of its dataset's shape, and the processor's time of this process is taken
by phase. Networks go by their names: "auto" is a small one for data in memory. Rules and attacks
cost the same whatever the batch: they are measured with batches of one. With `--missing` only the
rules and attacks that the table lacks are measured and added to it.
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
from wola.models import model_for
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

#: Attacks that begin later than the steps that are measured, as they are once they have begun.
_BEGUN = {"patient": "patient(rounds=0)"}

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
    (36, ('none', 'mean'))
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
    return {**computing, "test": testing, **_parts(name, small, {}, {})}


def _parts(
    name: str, dataset: Dataset, by_rule: dict[str, float], by_attack: dict[str, float]
) -> dict[str, dict[str, float]]:
    """The costs of all rules and attacks; those that are given are not measured again."""
    base = Scenario.paper(name, model=model_for(name), batch=1, steps=STEPS, evaluate_every=STEPS)
    found_rules, found_attacks = {}, {}
    for mixing, aggregator in rules():
        pair = f"{mixing} {aggregator}"
        f = min(base.byzantine, AGGREGATORS[aggregator]().max_byzantine(base.workers))
        changes = {"mixing": mixing, "aggregator": aggregator, "byzantine": f}
        known = pair in by_rule
        found_rules[pair] = by_rule[pair] if known else _phase("rule", base, dataset, **changes)
    for attack in ("none", *ATTACKS):
        known = attack in by_attack
        found_attacks[attack] = (
            by_attack[attack]
            if known
            else _phase("attack", base, dataset, attack=_BEGUN.get(attack, attack))
        )
    return {"rules": found_rules, "attacks": found_attacks}


def completed(table: dict[str, Any]) -> dict[str, Any]:
    """The table with the rules and attacks that it lacks, recorded on the same kind of machine."""
    here = f"one core of {processor()}"
    if table["machine"] != here:
        raise SystemExit(f"the table is of {table['machine']}; this is {here}: record all of it")
    _take_processor_time()
    datasets = {}
    for name, costs in table["datasets"].items():
        print(name, flush=True)
        shape = SHAPES[name]
        small = shape.random(name, tests=max(10, shape.classes))
        datasets[name] = costs | _parts(name, small, costs["rules"], costs["attacks"])
    return table | {"datasets": datasets}


def _whole_steps(name: str, shape: Shape) -> tuple[dict[str, float], float]:
    tests = min(shape.tests, 512)
    scenario = Scenario.paper(
        name,
        model=model_for(name),
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


def _take_processor_time() -> None:
    # The engine takes wall time; on a machine with other work the processor's is steadier.
    for module in (metrics, evaluate):
        vars(module)["perf_counter"] = process_time


def record(names: Iterable[str]) -> dict[str, Any]:
    """The table for some datasets."""
    _take_processor_time()
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
    parser.add_argument("--missing", action="store_true", help="only what the table lacks")
    given = parser.parse_args()
    use_one_thread()
    if given.missing:
        table = completed(json.loads(given.out.read_text(encoding="utf-8")))
    else:
        table = record(SHAPES)
    given.out.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
