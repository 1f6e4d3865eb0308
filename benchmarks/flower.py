"""Times WoLA on Flower against Flower's own strategies, and tries what clients can do to them.

`python -m benchmarks.flower`, in an environment with `wola[flower]`.
"""

import argparse
import importlib.metadata
import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.kernels import processor, use_one_thread, write
from benchmarks.step import with_command

LIBRARIES = ("flwr", "torch", "numpy", "cryptography", "safetensors")
#: n, and f with it.
COUNTS = ((5, 1), (17, 4))
PARTS = ("rounds", "faults", "deployment")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flower", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder for the report")
    parser.add_argument("--turns", type=int, default=8, help="turns of each contender at most")
    parser.add_argument("--rounds", type=int, default=3, help="rounds timed in a turn")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per setting, roughly")
    parser.add_argument("--local-steps", type=int, nargs="+", default=[1, 10], help="batches")
    parser.add_argument("--calls", type=int, default=100, help="calls of each part of the costs")
    parser.add_argument("--faults", nargs="+", help="only these faults, by their words")
    parser.add_argument("--only", choices=PARTS, help="one part; what was measured before stays")
    parser.add_argument(
        "--deployment", action="store_true", help="also a real deployment on loopback: minutes"
    )
    return with_command(parser, arguments)


def environment(options: argparse.Namespace) -> dict[str, str]:
    """Where and how a part was measured."""
    libraries = ", ".join(f"{x} {importlib.metadata.version(x)}" for x in LIBRARIES)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "command": options.command,
        "processor": f"{processor()}; {os.cpu_count()} cores",
        "versions": f"Python {platform.python_version()}, {libraries}",
        "load of the machine at the end, over one minute": f"{os.getloadavg()[0]:.1f}",
    }


def tell(line: str) -> None:
    """How far it is."""
    print(line, file=sys.stderr, flush=True)


def rounds(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds and bytes of rounds in one process, and what the parts cost."""
    from benchmarks.flower_costs import costs
    from benchmarks.flower_page import title
    from benchmarks.flower_rounds import SIZES, Setting, measure

    measured = []
    for size, (n, f), steps in itertools.product(SIZES, COUNTS, options.local_steps):
        setting = Setting(size, n, f, steps)
        with TemporaryDirectory() as folder:
            found = measure(
                setting,
                Path(folder),
                turns=options.turns,
                rounds=options.rounds,
                budget=options.budget,
            )
        size_of = sum(weight.numel() for weight in setting.module().parameters())
        measured.append({"setting": asdict(setting) | {"parameters": size_of}, "found": found})
        tell(title(measured[-1]["setting"]))
    parts = {size: costs(size, calls=options.calls) for size in SIZES}
    return {"found": measured, "costs": parts}


def faults(options: argparse.Namespace) -> dict[str, Any]:
    """What was seen of every fault under every strategy."""
    from benchmarks.flower_faults import table
    from benchmarks.flower_faulty import FAULTS

    return {"found": table(options.faults or FAULTS, tell)}


def deployment(options: argparse.Namespace) -> dict[str, Any]:
    """Seconds a round in a real deployment on this machine."""
    from benchmarks.flower_deployment import measure

    return {"found": measure(turns=2, rounds=4, tell=tell)}


def chosen(options: argparse.Namespace) -> dict[str, Callable[[argparse.Namespace], Any]]:
    """The parts to be measured.

    >>> list(chosen(parse(["--only", "faults"])))
    ['faults']
    """
    works = dict(zip(PARTS, (rounds, faults, deployment), strict=True))
    if options.only:
        return {options.only: works[options.only]}
    return {
        name: work for name, work in works.items() if name != "deployment" or options.deployment
    }


def save(record: Mapping[str, Any], out: Path) -> None:
    """Writes the measurements and the page made of them."""
    from benchmarks.flower_page import page

    write(out / "flower.json", json.dumps(record, indent=1) + "\n")
    write(out / "flower.md", page(record))


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    use_one_thread()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "flower.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    for name, work in chosen(options).items():
        # NumPy's threads go on spinning after a product, and would count against whoever is next.
        with threadpool_limits(1):
            found = work(options)
        record[name] = {"environment": environment(options), **found}
        save({part: record[part] for part in PARTS if part in record}, options.out)
    print(f"written: {options.out / 'flower.md'}")


if __name__ == "__main__":
    main()
