"""Compares and times one work after another: first whether the answers agree, then how long."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from benchmarks import peers
from benchmarks.tables import PRODUCT, READ, WOLA, Cell
from benchmarks.timing import interleaved, timed
from benchmarks.works import BYZPY, Work, byzantine_count, skewed_updates, works

#: Enough columns asked of a kernel for wola to have compiled the one it keeps.
WARM_COLUMNS = 2_000_000
#: A share of the columns that foretells how long a work would take on all of them.
SAMPLE = 20
#: More than any cache of one core's share holds: reading it leaves nothing of the updates there.
CACHE_BYTES = 96 * 2**20


@dataclass(frozen=True)
class Limits:
    """What a measurement may cost: seconds per library and work, rounds, the longest one call."""

    budget: float
    rounds: int
    longest: float
    memory: int


def available_memory() -> int:
    """Bytes of memory that are free to use now."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return 1024 * int(kilobytes)


def compare(n: int, d: int, limits: Limits, names: list[str] | None = None) -> Iterator[Cell]:
    """The cells of one table, as they are measured."""
    f = byzantine_count(n)
    updates = skewed_updates(n, f, d)
    for work in works(n, f):
        if names is None or work.name in names:
            yield measure(work, updates, f, limits)


def measure(work: Work, updates: Tensor, f: int, limits: Limits) -> Cell:
    """One work on all libraries: agreement first, then interleaved times."""
    n, d = updates.shape
    given = work.input(updates, f)
    skipped, first, differences = {}, {}, {}
    for _ in range(1 + WARM_COLUMNS // d):
        ours = work.ours(given)
    calls = {
        WOLA: on(work.ours, given),
        READ: on(torch.sum, given),
        PRODUCT: on(lambda x: x @ x.T, given),
    }
    for name, call in calls.items():
        call()
        first[name] = timed(call)[0]
    for name, peer in work.peers.items():
        reason = reason_to_skip(work, name, given, n, f, limits)
        if reason:
            skipped[name] = reason
            continue
        first[name], theirs = timed(on(peer, given))
        differences[name] = difference(work, name, given, ours, theirs)
        del theirs
        calls[name] = on(peer, given)
    seconds = interleaved(
        calls, first, budget=limits.budget, most=limits.rounds, before=cache_emptier()
    )
    return Cell(work.name, n, f, d, seconds, differences, work.tolerance, skipped, list(work.notes))


def on(work: Callable[[Tensor], Tensor], updates: Tensor) -> Callable[[], Tensor]:
    """The work bound to its updates."""
    return lambda: work(updates)


def difference(work: Work, library: str, given: Tensor, ours: Tensor, theirs: Tensor) -> float:
    """How far our answer is from a peer's, where their definitions agree."""
    shared = work.common_ground(library, given)
    if shared is given:
        return work.compare(ours, theirs, given)
    return work.compare(work.ours(shared), work.peers[library](shared), shared)


def reason_to_skip(
    work: Work, library: str, given: Tensor, n: int, f: int, limits: Limits
) -> str | None:
    """Why a peer is not run on these updates: too much memory, or too long; None if it is."""
    d = given.shape[1]
    needed = peers.byzfl_nnm_bytes(n, f, d) if work.has_nnm and library != BYZPY else 0
    if needed > limits.memory:
        return (
            f"not run: its NNM holds {needed / 1e9:.0f} GB at once, "
            f"{limits.memory / 1e9:.0f} GB were allowed"
        )
    sample = given[:, : max(1, d // SAMPLE)].clone()
    foretold = SAMPLE * timed(on(work.peers[library], sample))[0]
    if foretold > limits.longest:
        return f"not run: one call would take about {foretold:.0f} s ({SAMPLE} times a sample)"
    return None


def cache_emptier() -> Callable[[], None]:
    """A call after which the updates are in no cache, as when they have just arrived."""
    other = torch.zeros(CACHE_BYTES // 4)

    def read_other() -> None:
        other.add_(1.0)

    return read_other
