"""Faults that were tried, by class, and how many were survived: writes `results/faults.md`.

    python -m checks.faults

Each class is a number of cases of the fuzzer (`checks/fuzz_cases.py`) with fixed seeds. A fault
counts as survived if it was named or harmless: no wrong result, no traceback, nothing left behind.
"""

import argparse
import sys
import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from checks.fuzz_cases import CASES

PAGE = Path(__file__).parent.parent / "results" / "faults.md"

#: The classes, in the order of the page: title, what is promised, and how many cases.
CLASSES = {
    "damage": ("Damage to files", "a flipped bit, a cut or a range of zeros is named", 7),
    "disks": ("Failing disks", "the writer says so, and all files are as they were", 20),
    "kills": ("Kills", "`kill -9` of a grid: the same command ends in the same bits", 2),
    "runs": ("Runs", "the same bits twice, resumed, and in a process of its own", 12),
    "claims": ("Claims", "one run, one owner", 5),
    "replies": ("Hostile replies", "malformed replies are dropped, the model is finite", 20),
    "parts": ("Texts of parts", "read, or refused in words", 10),
}


def tried(kind: str, cases: int) -> tuple[Counter[str], list[int]]:
    """What was tried in the cases of a kind, and the seeds of those that failed."""
    tries: Counter[str] = Counter()
    failed = []
    for seed in range(1, cases + 1):
        with TemporaryDirectory(prefix="wola-faults-") as folder:
            try:
                tries.update(CASES[kind](seed, Path(folder)))
            except Exception:
                traceback.print_exc()
                failed.append(seed)
    return tries, failed


def page(found: dict[str, tuple[Counter[str], list[int]]], seconds: float) -> str:
    """The page: a table of classes, then one for each."""
    lines = [
        "# Faults tried and survived",
        "",
        f"Made by `python -m checks.faults` in {seconds:.0f} s. `make fuzz` tries others.",
        "",
        "| class | what is promised | faults survived | cases | cases failed |",
        "|---|---|---|---|---|",
    ]
    for kind, (tries, failed) in found.items():
        title, promise, cases = CLASSES[kind]
        lines.append(f"| {title} | {promise} | {tries.total():,} | {cases} | {len(failed)} |")
    for kind, (tries, failed) in found.items():
        lines += ["", f"## {CLASSES[kind][0]}", "", "| fault | survived |", "|---|---|"]
        lines += [f"| {name} | {count:,} |" for name, count in sorted(tries.items())]
        for seed in failed:
            lines += ["", f"Failed: `python -m checks.fuzz --case {kind} --seed {seed}`"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Tries all classes and writes the page; the exit code is 1 if a case failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=PAGE)
    out, begun = parser.parse_args().out, monotonic()
    found = {}
    for kind, (title, _, cases) in CLASSES.items():
        found[kind] = tried(kind, cases)
        print(f"{monotonic() - begun:5.0f} s  {title}: {found[kind][0].total()}", flush=True)
    out.write_text(page(found, monotonic() - begun), encoding="utf-8")
    return 1 if any(failed for _, failed in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
