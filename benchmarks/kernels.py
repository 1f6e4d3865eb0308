"""Times wola's rules, chains and attacks against ByzFL and ByzPy, and writes the report.

`python -m benchmarks.kernels`, in the environment of `make bench-env`.
"""

import argparse
import importlib.metadata
import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

LIBRARIES = ("torch", "numpy", "numba", "scipy", "byzfl", "byzpy")
MEMORY_SHARE = 0.75

METHOD = """\
Every number is process CPU time on one thread, of float32 updates. In each round every library
has one turn, and so have one read pass over the same data (`torch.sum`) and one bare matrix
product (`X @ X.T`), so that whatever else the machine does meets all alike; before each
call the caches are emptied, as they are when updates have just arrived. Shown are medians over at
most {rounds} rounds; a library that is slow for its {budget:g} s per work has fewer, at the least
one. Compiling is done before. Of n workers f are Byzantine: {faults}.

"ByzFL torch" is the path that ByzFL's own training takes, "ByzFL NumPy" the one it takes for
arrays. A ratio says how many times as long as wola a library takes. "x read pass" and "x matrix
product" say how many times as long wola takes as these. For attacks, both are of the honest
updates alone. Before any timing the answers are compared: "difference" is the largest
||ours - theirs|| / ||theirs|| over the libraries; the tolerance is 1e-5, for exact geometric
medians 1e-4, for the optimised attack 1e-2. All measurements are in `kernels.json`."""


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[17, 50, 100], help="workers")
    parser.add_argument("--d", type=int, nargs="+", default=[431_080, 1_000_000], help="columns")
    parser.add_argument("--works", nargs="+", help="only these works, by name")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the report")
    parser.add_argument("--budget", type=float, default=0.6, help="seconds per library and work")
    parser.add_argument("--rounds", type=int, default=15, help="rounds at most")
    parser.add_argument(
        "--longest", type=float, default=12.0, help="leave out what takes longer a call, in s"
    )
    parser.add_argument("--no-growth", action="store_true", help="leave out the growth plot")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes: tells that it works, not how fast"
    )
    given = sys.argv[1:] if arguments is None else arguments
    options = parser.parse_args(given)
    options.command = " ".join([parser.prog, *given]).replace(f"--out {options.out}", "").strip()
    if options.quick:
        options.n, options.d, options.budget, options.rounds = [17, 50], [20_000], 0.1, 5
    return options


def use_one_thread() -> None:
    """Before the numerical libraries are loaded, since some read these only then."""
    for library in ("OMP", "MKL", "OPENBLAS", "NUMBA"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    import torch

    torch.set_num_threads(1)


def processor() -> str:
    """The model name of the processor, as Linux tells it, and its instruction set."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    flags = next(line.split() for line in lines if line.startswith("flags"))
    vectors = next((name for name in ("avx512f", "avx2", "avx") if name in flags), "no avx")
    return f"{model}, {vectors}"


def environment(options: argparse.Namespace) -> dict[str, str]:
    """Where and how the measurement was made."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "command": options.command,
        "processor": f"{processor()}; {os.cpu_count()} cores, one used",
        "python": platform.python_version(),
        "versions": ", ".join(f"{x} {importlib.metadata.version(x)}" for x in LIBRARIES),
    }


def write(path: Path, text: str) -> None:
    """Write a whole file or none."""
    unfinished = path.with_name(path.name + ".tmp")
    unfinished.write_text(text)
    os.replace(unfinished, path)


def report(
    facts: dict[str, str], cells: list[Any], curves: list[Any], options: argparse.Namespace
) -> str:
    """The page: how it was measured, the goals, one section per shape, the growth."""
    from benchmarks.goals import goal_table, reference_table
    from benchmarks.growth import FITTED, growth_table
    from benchmarks.tables import disagreements, ratio_table, time_table
    from benchmarks.works import byzantine_count

    faults = ", ".join(f"f = {byzantine_count(n)} for n = {n}" for n in options.n)
    method = METHOD.format(rounds=options.rounds, budget=options.budget, faults=faults)
    parts = [
        "# Speed of the rules, chains and attacks",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        method,
        disagreements(cells),
        "## Goals",
        goal_table(cells),
        reference_table(cells),
    ]
    for n, d in dict.fromkeys((cell.n, cell.d) for cell in cells):
        shape = [cell for cell in cells if (cell.n, cell.d) == (n, d)]
        parts += [
            f"## n = {n}, f = {shape[0].f}, d = {d:,}",
            ratio_table(shape),
            "CPU time in ms, median (quartiles):",
            time_table(shape),
        ]
    if curves:
        growth = f"The exponent p of time ~ size^p is fitted to the {FITTED} largest sizes; f = n/4"
        parts += [
            "## Growth",
            "![Time against workers and coordinates, log-log](growth.png)",
            f"{growth}; the caches are not emptied; the geometric median is the exact one.",
            growth_table(curves),
        ]
    return "\n\n".join(parts) + "\n"


def compare_all(options: argparse.Namespace) -> Iterator[list[Any]]:
    """The cells of one shape after another, told as they come."""
    from benchmarks.comparison import Limits, available_memory, compare
    from benchmarks.tables import disagreements, ratio_table

    for d, n in itertools.product(options.d, options.n):
        memory = int(MEMORY_SHARE * available_memory())
        limits = Limits(options.budget, options.rounds, options.longest, memory)
        shape = []
        for cell in compare(n, d, limits, options.works):
            shape.append(cell)
            print(f"{time.process_time():6.0f} s CPU: {cell.work}", file=sys.stderr, flush=True)
            if not cell.agrees():
                print(disagreements([cell]), flush=True)
        print(f"\nn = {n}, d = {d:,}\n{ratio_table(shape)}", flush=True)
        yield shape


def grow(options: argparse.Namespace) -> list[Any]:
    """All growth curves."""
    from benchmarks import growth

    workers = growth.WORKERS[:5] if options.quick else growth.WORKERS
    columns = growth.COLUMNS[:4] if options.quick else growth.COLUMNS
    over_n = [(n, growth.WORKERS_COLUMNS) for n in workers]
    over_d = [(growth.COLUMNS_WORKERS, d) for d in columns]
    limits = {"budget": options.budget, "rounds": options.rounds}
    curves = growth.measure_curves("n", over_n, **limits)
    return curves + growth.measure_curves("d", over_d, **limits)


def save(cells: list[Any], curves: list[Any], options: argparse.Namespace) -> None:
    """Write the measurements and the page made of them."""
    facts = environment(options)
    record = {
        "environment": facts,
        "cells": [asdict(cell) for cell in cells],
        "growth": [asdict(curve) for curve in curves],
    }
    write(options.out / "kernels.json", json.dumps(record, indent=1) + "\n")
    write(options.out / "kernels.md", report(facts, cells, curves, options))


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    use_one_thread()
    options.out.mkdir(parents=True, exist_ok=True)
    cells: list[Any] = []
    for shape in compare_all(options):
        cells += shape
        # A long run that is stopped leaves what it has measured.
        save(cells, [], options)
    if not options.no_growth:
        from benchmarks.growth import draw

        curves = grow(options)
        draw(curves, options.out / "growth.png")
        save(cells, curves, options)
    print(f"\nwritten: {options.out / 'kernels.md'}")


if __name__ == "__main__":
    main()
