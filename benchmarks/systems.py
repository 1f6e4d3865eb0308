"""Times the rules that the paper sets aside as costly beside Multi-Krum, and adaptive attacks.

`python -m benchmarks.systems`. One thread, process CPU time, all in turns; the page is
`results/systems.md`.
"""

import argparse
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import torch

from benchmarks.kernels import processor, use_one_thread, write
from benchmarks.step import with_command
from benchmarks.timing import Call, interleaved, spread, timed
from benchmarks.works import skewed_updates

N, F, D, CLASSES = 17, 6, 431_080, 10
#: The most that a work may take, as a multiple of the first in its table.
GOALS = {"RAGE": 1.2, "BOBA": 3.0, "round, worst-of (9 attacks)": 3.0}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.systems", description=__doc__)
    parser.add_argument("--d", type=int, default=D, help="columns")
    parser.add_argument("--budget", type=float, default=4.0, help="seconds per work, roughly")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each at most")
    parser.add_argument("--no-rounds", action="store_true", help="leave out rounds of training")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the page")
    return with_command(parser, arguments)


def rule_calls(d: int) -> dict[str, Call]:
    """Each rule on the same updates, as a user calls it, and what a decomposition alone takes."""
    from wola.aggregation import (
        BOBA,
        CAF,
        GAS,
        RAGE,
        DnC,
        FLTrust,
        FoolsGold,
        GReco,
        MultiKrum,
        ReferenceRows,
        View,
    )

    updates = skewed_updates(N, F, d)
    generator = torch.Generator().manual_seed(1)
    classes = torch.randn(CLASSES, d, generator=generator)
    shares = torch.rand(N, CLASSES, generator=generator).double()
    labels = shares / shares.sum(1, keepdim=True)
    rules = {
        "Multi-Krum": MultiKrum(),
        "CAF": CAF(),
        "RAGE": RAGE(),
        "BOBA": BOBA().at(View(ReferenceRows(classes=classes))),
        "FLTrust": FLTrust().at(View(ReferenceRows(mean=classes[:1]))),
        "FoolsGold": FoolsGold(),
        "GReco": GReco().at(View(labels=labels)),
        "DnC": DnC(),
        "GAS": GAS(),
    }
    made: dict[str, Call] = {
        name: (lambda rule=rule: rule(updates, F, torch.Generator().manual_seed(0)))
        for name, rule in rules.items()
    }
    centred = updates - updates.mean(0)
    made["torch.linalg.svd, (d, n)"] = lambda: torch.linalg.svd(centred.T, full_matrices=False)
    made["torch.linalg.svd, (n, d)"] = lambda: torch.linalg.svd(centred, full_matrices=False)
    return made


def round_calls() -> dict[str, Call]:
    """A round of the paper's Fashion-MNIST setting under each attack, NNM then trimmed mean."""
    from itertools import count

    from wola.training import ATTACKS, Round, Scenario, assemble

    attacks = {
        "round, ALIE": "alie",
        "round, worst-of (9 attacks)": "worst-of",
        "round, span-search (100 evaluations)": "span-search",
    }
    made: dict[str, Call] = {}
    for name, attack in attacks.items():
        if attack not in ATTACKS:
            continue
        scenario = Scenario.paper("fashion-mnist", strategy="NNM", attack=attack)
        taking, steps = Round(scenario, assemble(scenario)), count(1)
        made[name] = lambda taking=taking, steps=steps: taking.take(next(steps))
    return made


def measured(calls: Mapping[str, Call], options: argparse.Namespace) -> dict[str, list[float]]:
    """CPU seconds of all calls, in turns; a first call of each compiles."""
    for call in calls.values():
        call()
    first = {name: timed(call)[0] for name, call in calls.items()}
    return interleaved(calls, first, budget=options.budget, most=options.rounds)


def table(found: Mapping[str, list[float]]) -> list[str]:
    """A row for each work: its median and quartiles, and how many times the first row's."""
    base = spread(next(iter(found.values()))).median
    lines = ["| work | ms | x the first | goal | reached |", "|:---|---:|---:|---:|---:|"]
    for name, seconds in found.items():
        part = spread(seconds)
        goal = GOALS.get(name)
        reached = "" if goal is None else "yes" if part.median <= goal * base else "no"
        lines.append(
            f"| {name} | {1e3 * part.median:.1f} ({1e3 * part.low:.1f} to {1e3 * part.high:.1f}) | "
            f"{part.median / base:.2f} | {'' if goal is None else f'{goal:g}x'} | {reached} |"
        )
    return lines


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    use_one_thread()
    works: list[tuple[str, Callable[[], dict[str, Call]]]] = [
        (f"Rules, n = {N}, f = {F}, d = {options.d:,}", lambda: rule_calls(options.d))
    ]
    if not options.no_rounds:
        works.append(("A round of the paper's Fashion-MNIST setting, d = 176,050", round_calls))
    lines = [
        "# Speed of the other systems",
        "",
        f"- date: {time.strftime('%Y-%m-%d')}",
        f"- command: {options.command}",
        f"- processor: {processor()}; {os.cpu_count()} cores, one used",
        f"- versions: torch {torch.__version__}",
        "",
        "Process CPU time on one thread, float32; medians, in brackets quartiles; all take turns. "
        "BOBA and FLTrust are called with the server's rows ready: what these cost to compute is "
        "the network's affair. The decompositions are what a rule without the Gram matrix needs at "
        "least once, in both orientations.",
    ]
    for title, calls in works:
        lines += ["", f"## {title}", "", *table(measured(calls(), options))]
    lines += ["", f"Load of the machine at the end, over one minute: {os.getloadavg()[0]:.1f}"]
    options.out.mkdir(parents=True, exist_ok=True)
    write(options.out / "systems.md", "\n".join(lines) + "\n")
    print(f"written: {options.out / 'systems.md'}")


if __name__ == "__main__":
    main()
