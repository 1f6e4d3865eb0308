"""The cases of the fuzzer: each takes a seed and a folder, and counts what it has tried."""

import logging
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import sleep, time
from typing import Any

from tests.bench.damage import KINDS, prepared, survived
from tests.bench.small import digests, plain_digests
from tests.bench.writers import FAULTS, WRITERS, can_meet, snapshot
from tests.flower.test_flower_fuzz import LIES, Fuzzing, finite, fuzzed
from wola.bench.claims import Owner, claim
from wola.bench.executors.local import LocalExecutor
from wola.bench.grid import Grid
from wola.bench.run import run_grid
from wola.bench.store import Store
from wola.ground import WriteError
from wola.parts import GrammarError, PartError
from wola.training import PARTS, STRATEGIES, Callback, Checkpoint, Scenario, ScenarioError, simulate

#: What was tried, by name, and how often.
Tries = dict[str, int]

_LETTERS = "abcdefgknmot-_+()=,.0123456789 \"'[]{}\\\n\x00\N{SNOWMAN}"


class BrokenOff(Exception):
    """Ends a run from a callback."""


class _BreaksOff(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step(self, record: Any) -> None:
        if record.step == self.step:
            raise BrokenOff


def random_scenario(rng: random.Random) -> Scenario:
    """A short run of digits or iris with parts that fit each other."""
    while True:
        fields: dict[str, Any] = {
            "strategy": rng.choice(list(STRATEGIES)),
            "aggregator": rng.choice(["median", "trimmed-mean", "geometric-median", "multi-krum"]),
            "attack": rng.choice(["alie", "foe", "lf", "mimic", "sf", "nan"]),
            "byzantine": rng.choice([0, 2, 4, 6]),
            "alpha": rng.choice([0.1, 0.3, 1.0, 3.0]),
            "steps": rng.randrange(3, 9),
            "evaluate_every": rng.randrange(1, 4),
            "batch": rng.choice([4, 8, 32]),
            "seed": rng.randrange(1, 10**6),
        }
        try:
            return Scenario.paper(rng.choice(["iris", "digits"]), **fields)
        except ScenarioError:
            continue


def runs(seed: int, folder: Path) -> Tries:
    """A run gives the same bits twice, broken off and resumed, and now and then in a process."""
    rng = random.Random(seed)
    scenario = random_scenario(rng)
    digest = simulate(scenario).digest()
    assert simulate(scenario).digest() == digest, "the second run has other bits"
    checkpoint = Checkpoint(folder / "checkpoint.pt", every=rng.randrange(1, 3))
    step = rng.randrange(1, scenario.steps)
    with suppress(BrokenOff):
        simulate(scenario, callbacks=[_BreaksOff(step)], checkpoint=checkpoint)
    resumed = simulate(scenario, checkpoint=checkpoint, resume=True)
    assert resumed.digest() == digest, f"broken off at step {step}, it ends in other bits"
    made = {"run twice": 1, "broken off and resumed": 1}
    if rng.random() < 0.1:
        store = Store.open(folder / "store")
        report = run_grid([scenario], store, executor=LocalExecutor(1))
        assert report.whole, report.failed[0].log
        found = store.summary(store.key(scenario))["digest"]
        # One that coincides with another shows the bits of that one's run.
        assert found == digest, "a process of its own gives other bits"
        made["in a process of its own"] = 1
    return made


def damage(seed: int, folder: Path) -> Tries:
    """Damage to a file of every kind is named, or harmless."""
    rng = random.Random(seed)
    prepared(folder)
    made: Tries = {}
    for kind in KINDS:
        for _ in range(DAMAGES):
            reason = survived(folder, kind, rng)
            assert reason is None, reason
        made[kind.name] = DAMAGES
    return made


#: How often a file of each kind is damaged in one case.
DAMAGES = 10


def parts(seed: int, folder: Path) -> Tries:
    """A text of a part is settled, and then for good, or refused with a reason."""
    rng = random.Random(seed)
    known = ["clipping(norm=max(1, 2))+nnm", "multi-krum(power=1)", "foe(epsilon=0.5)", "none"]
    for _ in range(PART_TEXTS):
        kind, text = rng.choice(list(PARTS.kinds)), rng.choice(known)
        for _ in range(rng.randrange(1, 6)):
            place = rng.randrange(len(text) + 1)
            text = text[:place] + rng.choice(["", rng.choice(_LETTERS)]) + text[place + 1 :]
        try:
            settled = PARTS.settle(kind, text)
        except (PartError, GrammarError):
            continue
        assert PARTS.settle(kind, settled) == settled, f"{kind} = {text!r} settles twice"
    return {"texts of parts": PART_TEXTS}


#: How many texts one case tries.
PART_TEXTS = 200


def replies(seed: int, folder: Path) -> Tries:
    """Malformed replies are dropped, and the model stays finite."""
    # One line for each of its rounds would bury what failed.
    logging.getLogger("flwr").setLevel(logging.ERROR)
    strategy = fuzzed()
    grid = Fuzzing(seed, strategy)
    strategy.start(grid, num_rounds=5)
    for record in strategy.records:
        assert set(record.dropped) == LIES, f"round {record.round}: dropped {record.dropped}"
    assert strategy.ending == "finished", strategy.ending
    assert finite(strategy), "the model is not finite"
    return {"malformed replies": grid.sent}


def disks(seed: int, folder: Path) -> Tries:
    """A writer on a failing disk says so and leaves all as it was."""
    rng = random.Random(seed)
    prepared(folder)
    (folder / "checkpoint.pt").write_bytes(b"old")
    made: Tries = {}
    for fault in FAULTS:
        writer = rng.choice([name for name in WRITERS if can_meet(name, fault)])
        if writer == "an import":
            shutil.rmtree(folder / "store" / "runs")
        before = snapshot(folder)
        try:
            with FAULTS[fault]():
                WRITERS[writer](folder)
        except WriteError:
            assert snapshot(folder) == before, f"{writer} left something behind on {fault}"
        else:
            raise AssertionError(f"{writer} said nothing of {fault}")
        made[f"{writer} on {fault}"] = 1
        WRITERS[writer](folder) if writer == "an import" else None
    return made


def claims(seed: int, folder: Path) -> Tries:
    """Of many who want a run at one moment exactly one gets it, be it free or a dead one's."""
    rng = random.Random(seed)
    made: Tries = {}
    for number in range(4):
        key, dead = f"{number:064x}", rng.random() < 0.5
        if dead:
            held = claim(folder, key, Owner("far", "far away", 1, "", "token"))
            assert held is not None
            then = time() - 1000
            os.utime(held.path, (then, then))
        with ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda _, key=key: claim(folder, key, Owner.here()), range(8)))
        winners = [one for one in got if one is not None]
        assert len(winners) == 1, f"{len(winners)} have one run"
        winners[0].release()
        name = "a dead owner's run wanted by eight" if dead else "a free run wanted by eight"
        made[name] = made.get(name, 0) + 1
    return made


GRID = """
[base]
dataset = "iris"
steps = 400
evaluate_every = 50
batch = 16

[axes]
aggregator = ["median", "trimmed-mean"]
seed = [1, 2]
"""


def kills(seed: int, folder: Path) -> Tries:
    """A grid that is killed at a random moment ends, called again, in the bits of a plain loop."""
    rng = random.Random(seed)
    (folder / "grid.toml").write_text(GRID)
    command = [sys.executable, "-c", "from wola.cli import main; main()", "bench", "grid.toml"]
    process = subprocess.Popen(
        [*command, "--processes", "1"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    store, wanted = Store(folder / "store"), rng.randrange(0, 4)
    while process.poll() is None and len(list(store.keys())) < wanted:
        sleep(0.01)
    sleep(rng.random())
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    scenarios = Grid.from_toml(folder / "grid.toml").scenarios()
    report = run_grid(scenarios, Store.open(store.path), executor=LocalExecutor(1))
    assert report.whole, report.failed[0].log
    assert digests(scenarios, store) == plain_digests(scenarios), "a run has other bits"
    return {"a grid killed at a random moment": 1}


CASES: dict[str, Callable[[int, Path], Tries]] = {
    "runs": runs,
    "damage": damage,
    "parts": parts,
    "replies": replies,
    "disks": disks,
    "claims": claims,
    "kills": kills,
}
