"""Times a whole run of the paper's Fashion-MNIST setting against ByzFL's own classes.

`python -m benchmarks.run`, in the environment of `make bench-env`.
"""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.kernels import use_one_thread
from benchmarks.step import save, training_environment, with_command
from benchmarks.step_page import BYZFL
from benchmarks.tables import WOLA, Cell


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the report")
    parser.add_argument("--steps", type=int, default=100, help="steps of the run")
    return with_command(parser, arguments)


def measure(steps: int) -> dict[str, Any]:
    """A run of wola's `simulate`, and after each of its evaluations ByzFL's turn."""
    from benchmarks.training_turns import Turns
    from benchmarks.training_works import warm_up
    from wola.training import Scenario, simulate

    scenario = Scenario.paper("fashion-mnist", strategy="NNM", steps=steps)
    warm_up(scenario)
    turns = Turns()
    result = simulate(scenario, callbacks=[turns])
    cell = Cell("whole run", 17, 6, 176_050, turns.seconds, {}, 0.0, {}, [])
    return {
        "cell": asdict(cell),
        "steps": steps,
        "every": scenario.evaluate_every,
        "tested": turns.tested,
        "distinct": turns.distinct,
        "accuracy": {WOLA: result.evaluations[-1].accuracy, BYZFL: turns.accuracy},
    }


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    use_one_thread()
    options.out.mkdir(parents=True, exist_ok=True)
    record = {"environment": training_environment(options), **measure(options.steps)}
    save("run", record, options.out)
    print(f"{time.process_time():.0f} s CPU; written: {options.out / 'step.md'}")


if __name__ == "__main__":
    main()
