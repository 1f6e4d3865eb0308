"""What may watch a run, and an interruption that waits for the end of a round."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from wola.training.federation import Federation
from wola.training.metrics import Evaluation, StepRecord
from wola.training.scenario import Scenario

if TYPE_CHECKING:
    from wola.training.result import Result


class Callback:
    """Watches a run; every verb does nothing until a subclass gives it something to do."""

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """The data is there and training starts after `step` (0, or where it was resumed)."""

    def on_step(self, record: StepRecord) -> None:
        """A round has been taken."""

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """The model has been tested."""

    def on_end(self, result: "Result") -> None:
        """The run is over."""


class Interruption:
    """Whether the user has asked to stop."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Takes the first Ctrl-C; a second one strikes at once."""
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Inside, the first Ctrl-C is only taken note of, so that a round is never left half done.

    Signals reach the main thread alone; in another one nothing changes.
    """
    request = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = signal.signal(signal.SIGINT, request)
    try:
        yield request
    finally:
        signal.signal(signal.SIGINT, before)
