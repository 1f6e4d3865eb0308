"""What is shown of work under way, a grid or one run: live bars in a terminal, lines in a pipe."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import isfinite
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from wola.bench.events import (
    Begun,
    Busy,
    Done,
    Evaluated,
    Event,
    Failed,
    Retried,
    Said,
    Skipped,
    last_line,
    short_name,
)
from wola.bench.notes import Note
from wola.training import Callback, Evaluation, Federation, Scenario, StepRecord

#: Runs under way, and failures, that are shown at once.
SHOWN = 12

#: A time left is trusted after so many units of work, and so many seconds or such a part of it.
TRUSTED_UNITS, TRUSTED_SECONDS, TRUSTED_PART = 2, 10.0, 0.05


def clock_time(seconds: float) -> str:
    """Hours, minutes and seconds; from four days on, days.

    >>> clock_time(3725.0), clock_time(200_000.0), clock_time(600_000.0)
    ('1:02:05', '55:33:20', '7 days')
    """
    whole = round(seconds)
    if whole >= 4 * 86400:
        return f"{round(whole / 86400)} days"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


@dataclass
class Speed:
    """How fast work goes: `done` units of `total`, beside those that were `there` before."""

    total: int
    there: int = 0
    done: int = 0
    clock: Callable[[], float] = monotonic
    start: float = field(init=False)

    def __post_init__(self) -> None:
        self.start = self.clock()

    @property
    def over(self) -> int:
        """The units that need no more work."""
        return self.there + self.done

    @property
    def per_minute(self) -> float:
        """Units done per minute."""
        return 60 * self.done / max(1e-9, self.clock() - self.start)

    def left(self) -> float | None:
        """Seconds that the rest takes at this pace; None until that can be trusted.

        >>> pace = Speed(total=40, clock=iter([0.0, 30.0, 30.0]).__next__)
        >>> pace.left()
        >>> pace.done = 10
        >>> pace.left()
        90.0
        """
        spent = self.clock() - self.start
        early = spent < TRUSTED_SECONDS and self.done < TRUSTED_PART * (self.total - self.there)
        if self.done < TRUSTED_UNITS or early:
            return None
        return (self.total - self.over) * spent / self.done


class Progress:
    """Shows work under way on a console, to be used with `with`.

    A terminal gets a bar that is kept up to date, with what a subclass has to say of the work;
    anything else gets the lines that it says.
    """

    def __init__(self, console: Console, title: str, pace: Speed) -> None:
        self.console, self.title, self.pace = console, title, pace
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live = Live(
                get_renderable=self.picture,
                console=self.console,
                refresh_per_second=4,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def count(self) -> str:
        """How far the work is, such as 3/40."""
        return f"{self.pace.over}/{self.pace.total or '?'}"

    @property
    def time_left(self) -> tuple[str, ...]:
        """The time left in words; none as long as it cannot be trusted."""
        seconds = self.pace.left()
        return () if seconds is None else (f"{clock_time(seconds)} left",)

    def say(self, *parts: str) -> None:
        """Prints a line, above the bar if there is one."""
        wrapped = self.console.is_terminal
        self.console.print("  ".join(parts), markup=False, highlight=False, soft_wrap=not wrapped)

    def details(self) -> Iterable[str]:
        """What stands beside the bar, between the count and the time left."""
        return ()

    def below(self) -> Iterable[RenderableType]:
        """What stands below the bar."""
        return ()

    def picture(self) -> RenderableType:
        """All that a terminal shows."""
        head = Table.grid(padding=(0, 1), expand=True)
        head.add_column(no_wrap=True)
        head.add_column(ratio=1)
        head.add_column(no_wrap=True, justify="right")
        bar = ProgressBar(total=self.pace.total or None, completed=self.pace.over)
        words = "  ".join((self.count, *self.details(), *self.time_left))
        head.add_row(Text(self.title), bar, Text(words))
        return Group(head, *self.below())


class GridProgress(Progress):
    """Shows a grid under way: a listener. A pipe gets a line per finished run."""

    def __init__(
        self,
        console: Console,
        total: int,
        *,
        title: str = "grid",
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__(console, title, Speed(total, clock=clock))
        self.failed: list[str] = []
        self.current: dict[str, Note] = {}

    def __call__(self, event: Event) -> None:
        """Counts an event, and prints what deserves a line."""
        self._count(event)
        self._tell(event)

    def _count(self, event: Event) -> None:
        if isinstance(event, Begun):
            scenario = event.scenario
            self.current[event.key] = Note(event.key, short_name(scenario), 0, scenario.steps, None)
        elif isinstance(event, Evaluated) and event.key in self.current:
            self.current[event.key] = replace(
                self.current[event.key], step=event.step, accuracy=event.accuracy
            )
        elif isinstance(event, Done | Failed | Skipped | Busy | Retried):
            self.current.pop(event.key, None)
        if isinstance(event, Skipped):
            self.pace.there += 1
        elif isinstance(event, Done | Failed):
            self.pace.done += 1

    def _tell(self, event: Event) -> None:
        if isinstance(event, Said):
            self.say(f"note: {event.text}")
        elif isinstance(event, Retried):
            self.say(f"again: {short_name(event.scenario)}: {last_line(event.reason)}")
        elif isinstance(event, Failed):
            self.failed.append(f"{short_name(event.scenario)}: {last_line(event.log)}")
            self.say(self.count, "FAILED", self.failed[-1])
        elif isinstance(event, Done) and not self.console.is_terminal:
            accuracy = f"{event.accuracy:5.1f} %" if isfinite(event.accuracy) else "    -  "
            ending = () if event.ending == "finished" else (event.ending,)
            name, seconds = short_name(event.scenario), f"{event.seconds:.1f} s"
            self.say(self.count, accuracy, seconds, name, *ending, *self.time_left)

    def details(self) -> Iterable[str]:
        """The pace."""
        return (f"{self.pace.per_minute:.1f} a minute",) if self.pace.done else ()

    def below(self) -> Iterable[RenderableType]:
        """The runs under way, and those that failed."""
        runs = Table.grid(padding=(0, 2))
        for note in list(self.current.values())[:SHOWN]:
            accuracy = "-" if note.accuracy is None else f"{note.accuracy:.1f} %"
            runs.add_row(Text(note.name), Text(f"{note.step}/{note.steps}"), Text(accuracy))
        return (runs, *(Text(f"FAILED  {line}", style="red") for line in self.failed[-SHOWN:]))


class RunProgress(Progress, Callback):
    """Shows one run under way, step by step: a callback. A pipe gets a line per test of the model.

    `started` tells whether the data has been loaded and training has begun.
    """

    def __init__(self, console: Console, *, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(console, "steps", Speed(0, clock=clock))
        self.started = False
        self.accuracy, self.dissimilarity = "-", "-"

    @property
    def steps(self) -> int:
        """The steps that are done."""
        return self.pace.over

    def on_start(self, scenario: Scenario, federation: Federation, step: int) -> None:
        """Says what is out of the ordinary, and sets the bar to where the run starts."""
        for note in federation.notes:
            self.say(f"note: {note}")
        if step:
            self.say(f"going on after step {step}")
        self.started = True
        self.pace = Speed(scenario.steps, there=step, clock=self.pace.clock)

    def on_step(self, record: StepRecord) -> None:
        """Moves the bar."""
        self.pace.done = record.step - self.pace.there
        self.dissimilarity = f"{record.dissimilarity_momenta:.3g}"

    def on_evaluation(self, evaluation: Evaluation) -> None:
        """Shows the accuracy; in a pipe, in a line of its own."""
        self.accuracy = f"{evaluation.accuracy:5.1f} %"
        if not self.console.is_terminal:
            self.say(f"step {self.count}", *self.details(), *self.time_left)

    def details(self) -> Iterable[str]:
        """The accuracy at the last test, and the dissimilarity of the momenta."""
        return (f"accuracy {self.accuracy}", f"dissimilarity {self.dissimilarity}")
