"""A run of wola's into which ByzFL's run of the same scenario is put, turn by turn."""

from time import process_time

from torch import Tensor

from benchmarks.byzfl_training import ByzFLFederation
from benchmarks.step_page import BYZFL
from benchmarks.tables import WOLA
from benchmarks.timing import timed
from benchmarks.training_works import peer_of
from wola.labels import global_distribution
from wola.training import Callback, Evaluation, Federation, Result, Scenario
from wola.training.federation import make_partition
from wola.training.streams import stream


class Turns(Callback):
    """After each evaluation of wola's ByzFL takes as many steps and evaluates too.

    `seconds` holds the CPU time of every turn of both. Preparing the data is no part of it.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = {WOLA: [], BYZFL: []}
        self.accuracy = float("nan")
        self.tested = self.distinct = 0
        self._peer: ByzFLFederation | None = None
        self._done = 0
        self._start = 0.0

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Makes ByzFL's federation on the same shards and test images."""
        test = tested_rows(scenario, federation)
        self.tested, self.distinct = len(test), len(federation.test.labels)
        self._peer = peer_of(scenario, federation, test)
        self._start = process_time()

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Ends wola's turn and takes ByzFL's."""
        self.seconds[WOLA].append(process_time() - self._start)
        peer, steps = self._peer, evaluation.step - self._done
        assert peer is not None

        def turn() -> float:
            for _ in range(steps):
                peer.round()
            return peer.accuracy()

        taken, self.accuracy = timed(turn)
        self.seconds[BYZFL].append(taken)
        self._done = evaluation.step
        self._start = process_time()

    def on_end(self, result: Result) -> None:
        """Counts what wola does after its last evaluation to its last turn."""
        self.seconds[WOLA][-1] += process_time() - self._start


def tested_rows(scenario: Scenario, federation: Federation) -> Tensor:
    """The test images of a scenario, as drawn: some more than once."""
    p = global_distribution(federation.counts[: scenario.honest])
    return make_partition(scenario).test_indices(
        federation.dataset.y_test, p, generator=stream(scenario.seed, "test")
    )
