"""What is shown while a run is under way: a live bar in a terminal, plain lines in a pipe."""

from collections.abc import Callable
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from wola.cli.screen import say
from wola.training import Callback, Evaluation, Federation, Scenario, StepRecord


def progress_bar(console: Console, *columns: ProgressColumn) -> Progress:
    """A bar with a count, some columns of one's own, and the time left; hidden in a pipe.

    >>> from wola.cli.screen import screen
    >>> progress_bar(screen()).disable
    True
    """
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        *columns,
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


def time_left(seconds: float, done: int, total: int) -> str:
    """The time that the rest takes if it goes on at the same pace.

    >>> time_left(30.0, 10, 40)
    '1:30 left'
    """
    left = round(seconds * (total - done) / max(1, done))
    return f"{left // 60}:{left % 60:02d} left"


class Watching(Callback):
    """Shows the steps of a run with accuracy, dissimilarity of the momenta and the time left.

    ``started`` tells whether the data has been loaded and training has begun; ``steps`` how many
    steps are done.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = monotonic) -> None:
        self.console, self.clock = console, clock
        self.started, self.steps, self.total = False, 0, 0
        self.dissimilarity, self.accuracy = "", ""
        self._begun, self._first = 0.0, 0
        self._bar = progress_bar(
            console,
            TextColumn("accuracy {task.fields[accuracy]}"),
            TextColumn("dissimilarity {task.fields[dissimilarity]}"),
        )
        self._task = self._bar.add_task("steps", total=None, accuracy="-", dissimilarity="-")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Says what is out of the ordinary and sets the bar to where the run starts."""
        for note in federation.notes:
            say(self.console, f"note: {note}")
        if step:
            say(self.console, f"going on after step {step}")
        self.started, self.steps, self.total = True, step, scenario.steps
        self._begun, self._first = self.clock(), step
        self._bar.update(self._task, total=scenario.steps, completed=step)

    def on_step(self, record: StepRecord) -> None:
        """Moves the bar."""
        self.steps = record.step
        self.dissimilarity = f"{record.dissimilarity_momenta:.3g}"
        self._bar.update(self._task, completed=record.step, dissimilarity=self.dissimilarity)

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Shows the accuracy; in a pipe, a line of its own."""
        self.accuracy = f"{evaluation.accuracy:5.1f} %"
        self._bar.update(self._task, accuracy=self.accuracy)
        if self.console.is_terminal:
            return
        left = time_left(
            self.clock() - self._begun, self.steps - self._first, self.total - self._first
        )
        say(
            self.console,
            f"step {self.steps}/{self.total}  accuracy {self.accuracy}  "
            f"dissimilarity {self.dissimilarity}  {left}",
        )
