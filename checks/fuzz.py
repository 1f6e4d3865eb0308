"""Random scenarios, damage, texts, replies, disks and kills against what is promised: `make fuzz`.

Each case is made from a kind and a seed alone; one that fails prints the command that repeats it.
"""

import argparse
import random
import sys
import traceback
from collections import Counter
from itertools import chain, cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from checks.fuzz_cases import CASES

#: How often a kind has its turn, for one turn of those that take longest; the quickest come first.
TURNS = {"parts": 4, "disks": 4, "claims": 2, "replies": 4, "runs": 6, "damage": 1, "kills": 1}


def tried(kind: str, seed: int, tries: Counter[str]) -> bool:
    """Carries out one case; a failure is printed with the command that repeats it."""
    with TemporaryDirectory(prefix="wola-fuzz-") as folder:
        try:
            tries.update(CASES[kind](seed, Path(folder)))
            return True
        except KeyboardInterrupt:
            raise
        except BaseException:  # A panic of polars is no Exception.
            traceback.print_exc()
            print(f"FAILED; repeat it with: python -m checks.fuzz --case {kind} --seed {seed}")
            return False


def main() -> int:
    """Tries cases until the time is over; the exit code is 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=None, help="default: a new one each time")
    parser.add_argument("--case", choices=CASES, help="one case of this kind, of this seed")
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(2**31) if asked.seed is None else asked.seed
    tries: Counter[str] = Counter()
    if asked.case:
        return 0 if tried(asked.case, seed, tries) else 1
    order = [kind for kind, turns in TURNS.items() for _ in range(turns)]
    rng, end, failed, done = random.Random(seed), monotonic() + 60 * asked.minutes, 0, 0
    rng.shuffle(order)
    # Each kind once, so that a short time tries as many as it can.
    for kind in chain(TURNS, cycle(order)):
        if monotonic() >= end:
            break
        failed += not tried(kind, rng.randrange(2**31), tries)
        done += 1
    for name, count in sorted(tries.items()):
        print(f"{count:6d}  {name}")
    print(f"seed {seed}: {done} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
