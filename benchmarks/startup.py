"""Times how soon `wola` answers: CPU seconds of whole processes, from start to end.

`python -m benchmarks.startup`.
"""

import argparse
import importlib.metadata
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.kernels import processor, write
from benchmarks.step import with_command

#: What is measured: words for the interpreter, and the goal in CPU seconds.
GOALS: dict[str, tuple[list[str], float | None]] = {
    "python alone": (["-c", "pass"], None),
    "import wola": (["-c", "import wola"], 0.3),
    "wola --version": (["-m", "wola", "--version"], 0.3),
    "wola --help": (["-m", "wola", "--help"], 0.3),
    "wola train --help": (["-m", "wola", "train", "--help"], None),
}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.startup", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the report")
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    return with_command(parser, arguments)


def environment(options: argparse.Namespace) -> dict[str, str]:
    """Where and how the measurement was made."""
    libraries = ", ".join(f"{x} {importlib.metadata.version(x)}" for x in ("typer", "click"))
    return {
        "date": time.strftime("%Y-%m-%d"),
        "command": options.command,
        "processor": f"{processor()}; {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, {libraries}",
    }


def measured(words: list[str]) -> tuple[float, float]:
    """CPU and wall seconds of a process that is given these words."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return cpu, wall


def page(facts: dict[str, str], found: dict[str, list[tuple[float, float]]], rounds: int) -> str:
    """The report in Markdown."""
    lines = [
        "# How soon it answers",
        "",
        *(f"- {name}: {value}" for name, value in facts.items()),
        f"- load of the machine at the end, over one minute: {os.getloadavg()[0]:.1f}",
        "",
        f"Whole processes from start to end, in turns, the median of {rounds}. Commands are "
        "imported when they are called; the help of one waits for what that one imports.",
        "",
        "| | CPU, s | wall, s | goal |",
        "|---|---|---|---|",
    ]
    for name, measurements in found.items():
        cpu, wall = (statistics.median(column) for column in zip(*measurements, strict=True))
        goal = GOALS[name][1]
        said = "" if goal is None else f"under {goal:g} s of CPU: {'yes' if cpu < goal else 'no'}"
        lines.append(f"| {name} | {cpu:.2f} | {wall:.2f} | {said} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in GOALS}
    for _ in range(options.rounds):
        for name, (words, _) in GOALS.items():
            found[name].append(measured(words))
    text = page(environment(options), found, options.rounds)
    print(text[text.index("| |") :], end="")
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "startup.md", text)


if __name__ == "__main__":
    main()
