"""Seconds a round of FedAvg and of wola in Flower's deployment, on loopback with TLS."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from wola.flower.deployment.credentials import make_credentials
from wola.flower.deployment.demo import STRATEGIES, FederationPlan, join, watch_run
from wola.flower.deployment.local_federation import LocalFederation


class HonestPlan(FederationPlan):
    """The demonstration's plan without a Byzantine client."""

    @property
    def liar(self) -> int:
        """No client at all."""
        return -1


def between_rounds(times: list[float], rounds: int) -> list[float]:
    """Seconds from each round's end to the next one's; what comes before the first is left out.

    >>> between_rounds([0.0, 9.0, 12.0, 14.0], rounds=3)
    [3.0, 2.0]
    """
    return [b - a for a, b in pairwise(times[-rounds:])]


def measure(*, turns: int, rounds: int, tell: Callable[[str], None] = print) -> dict[str, object]:
    """Median seconds of a round by strategy, which take turns on the same nodes."""
    plan = HonestPlan(rounds=rounds)
    found: dict[str, list[float]] = {strategy: [] for strategy in STRATEGIES}
    with TemporaryDirectory() as name:
        folder = Path(name)
        credentials = make_credentials(folder / "keys", clients=plan.clients)
        with LocalFederation(folder, credentials) as federation:
            join(federation, plan)
            for _ in range(turns):
                for strategy in STRATEGIES:
                    (folder / f"{strategy}.jsonl").unlink(missing_ok=True)
                    times: list[float] = []

                    def note(line: str, times: list[float] = times) -> None:
                        times.append(monotonic())
                        tell(line)

                    watch_run(federation, plan, strategy, note)
                    found[strategy] += between_rounds(times, rounds)
    return {
        "clients": plan.clients,
        "median": {strategy: median(seconds) for strategy, seconds in found.items()},
        "seconds": found,
    }
