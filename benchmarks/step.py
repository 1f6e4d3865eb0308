"""Times a round of the paper's Fashion-MNIST setting, and its parts, against ByzFL's own classes.

`python -m benchmarks.step`, in the environment of `make bench-env`.
"""

import argparse
import importlib.metadata
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.kernels import environment, use_one_thread, write
from benchmarks.step_page import goal_row, page, read_record

LIBRARIES = ("torch", "numpy", "numba", "byzfl", "torchvision", "pillow")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.step", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the report")
    parser.add_argument("--budget", type=float, default=50.0, help="seconds per library and work")
    parser.add_argument("--rounds", type=int, default=20, help="rounds divided into phases")
    return with_command(parser, arguments)


def with_command(
    parser: argparse.ArgumentParser, arguments: list[str] | None
) -> argparse.Namespace:
    """The options, and the command that was typed, without the folder."""
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(given)
    options.command = " ".join([parser.prog, *given]).replace(f"--out {options.out}", "").strip()
    return options


def training_environment(options: argparse.Namespace) -> dict[str, str]:
    """Where and how the measurement was made, with the libraries that training needs."""
    versions = ", ".join(f"{x} {importlib.metadata.version(x)}" for x in LIBRARIES)
    return {**environment(options), "versions": versions}


def save(name: str, record: dict[str, Any], out: Path) -> None:
    """Write what one of the two commands measured, and the page of both."""
    write(out / f"{name}.json", json.dumps(record, indent=1) + "\n")
    step, run = (read_record(out / f"{command}.json") for command in ("step", "run"))
    write(out / "step.md", page(step, run))


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    use_one_thread()
    from benchmarks import training_works
    from benchmarks.flops import peak_rates

    options.out.mkdir(parents=True, exist_ok=True)
    cells = []
    for cell in training_works.cells(options.budget):
        cells.append(cell)
        print(f"{time.process_time():6.0f} s CPU: {' | '.join(goal_row(cell))}", flush=True)
    record = {
        "environment": training_environment(options),
        "cells": [asdict(cell) for cell in cells],
        "phases": training_works.phases(options.rounds),
        "layers": training_works.layer_times(options.rounds),
        "peak": peak_rates(),
    }
    save("step", record, options.out)
    print(f"written: {options.out / 'step.md'}")


if __name__ == "__main__":
    main()
