"""The page of the grid benchmark in Markdown."""

import argparse
import os
from typing import Any

#: How many processes are tried.
PROCESSES = (1, 2)


def page(facts: dict[str, str], made: dict[str, Any], options: argparse.Namespace) -> str:
    """The report in Markdown."""
    runs, loop = made["runs"], made["loop"]["working"]
    store, scheduler = made["store"], made["scheduler"]
    lines = [
        "# Grids",
        "",
        *(f"- {name}: {value.removesuffix(', one used')}" for name, value in facts.items()),
        f"- load of the machine at the end, over one minute: {os.getloadavg()[0]:.1f}",
        "",
        f"The {runs} runs of the preset `quick`, {options.steps} steps each. Wall times, the best "
        f'of {options.rounds}; "working" '
        "is from the first run's beginning to the last one's end, without the start of the "
        "processes, which the CPU time has in it. The plain loop calls `simulate` and keeps "
        "nothing.",
        "",
        "| | in all, s | working, s | CPU, s | runs a minute, working | to the plain loop |",
        "|---|---|---|---|---|---|",
    ]
    names = {f"grid, {n} process{'es' if n > 1 else ''}": made["grids"][n] for n in PROCESSES}
    for name, found in {"plain loop": made["loop"], **names}.items():
        rate = 60 * runs / found["working"]
        lines.append(
            f"| {name} | {found['seconds']:.1f} | {found['working']:.1f} | {found['cpu']:.1f} | "
            f"{rate:.0f} | {loop / found['working']:.2f} |"
        )
    one, two = (made["grids"][n]["working"] for n in PROCESSES)
    lines += [
        "",
        f"Two processes do {one / two:.2f} times the work of one (goal: 1.8).",
        "",
        "## What store and scheduler cost",
        "",
        "| per run | ms, median |",
        "|---|---|",
        f"| store: claim, notes, writing, giving back | {1000 * store:.1f} |",
        f"| scheduler: from a run's end to the next one's beginning | {1000 * scheduler:.1f} |",
        "",
        f"Together {100 * (store + scheduler):.1f} % of a run of one second (goal: under 2 %).",
    ]
    if "byzfl" in made:
        lines += ["", *_beside(made, options)]
    return "\n".join(lines) + "\n"


def _beside(made: dict[str, Any], options: argparse.Namespace) -> list[str]:
    lines = [
        "## Beside ByzFL's own benchmark runner",
        "",
        f"{made['slice']} of these runs (strategies - and NNM, four aggregators, ALIE, FOE and SF) "
        f"with {options.byzfl_steps} steps on both sides: the same images (written in "
        "the format of MNIST, which ByzFL reads), network, batch, workers and evaluations. Wall "
        "time of the whole grid, processes started included.",
        "",
        "| at once | wola, s | ByzFL, s | ratio |",
        "|---|---|---|---|",
    ]
    for count in PROCESSES:
        ours, theirs = made["beside"][count], made["byzfl"][count]
        if "error" in theirs:
            lines.append(f"| {count} | {ours:.1f} | could not run: {theirs['error']} | - |")
        else:
            ratio = theirs["seconds"] / ours
            lines.append(f"| {count} | {ours:.1f} | {theirs['seconds']:.1f} | {ratio:.1f} |")
    return lines
