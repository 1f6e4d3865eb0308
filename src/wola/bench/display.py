"""What is seen of a grid under way: a live picture in a terminal, a line per run in a pipe."""

from collections.abc import Callable
from dataclasses import replace
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
    Done,
    Evaluated,
    Event,
    Failed,
    Retried,
    Said,
    Taken,
    last_line,
    short_name,
)
from wola.bench.live import Note

#: Runs under way, and failures, that are shown at once.
SHOWN = 12


class Tally:
    """How far a grid is: counts, pace, and the runs under way."""

    def __init__(
        self, total: int, *, there: int = 0, clock: Callable[[], float] = monotonic
    ) -> None:
        self.total, self.there, self.clock = total, there, clock
        self.start = clock()
        self.done = 0
        self.failed: list[str] = []
        self.current: dict[str, Note] = {}

    @property
    def over(self) -> int:
        """Runs that are in the store or given up."""
        return self.there + self.done + len(self.failed)

    @property
    def per_minute(self) -> float:
        """Runs finished per minute since the start."""
        return 60 * (self.done + len(self.failed)) / max(1e-9, self.clock() - self.start)

    @property
    def left(self) -> str:
        """The time that the rest takes at this pace."""
        finished = self.done + len(self.failed)
        if not finished:
            return "?"
        return clock_time((self.total - self.over) * (self.clock() - self.start) / finished)

    def take(self, event: Event) -> None:
        """Counts an event."""
        if isinstance(event, Begun):
            scenario = event.scenario
            self.current[event.key] = Note(event.key, short_name(scenario), 0, scenario.steps, None)
        elif isinstance(event, Evaluated) and event.key in self.current:
            self.current[event.key] = replace(
                self.current[event.key], step=event.step, accuracy=event.accuracy
            )
        elif isinstance(event, Done | Failed | Taken | Retried):
            self.current.pop(event.key, None)
        if isinstance(event, Done):
            self.done += 1
        elif isinstance(event, Taken):
            self.there += 1
        elif isinstance(event, Failed):
            self.failed.append(f"{short_name(event.scenario)}: {last_line(event.log)}")


def clock_time(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> clock_time(3725.0), clock_time(200_000.0)
    ('1:02:05', '55:33:20')
    """
    whole = round(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


class Display:
    """Shows a grid under way on a console; itself a listener, to be used with `with`.

    A terminal gets one picture that is kept up to date, anything else a line per finished run.
    """

    def __init__(
        self,
        console: Console,
        total: int,
        *,
        title: str = "grid",
        there: int = 0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.console, self.title = console, title
        self.tally = Tally(total, there=there, clock=clock)
        self._live = Live(
            get_renderable=self.picture, console=console, refresh_per_second=4, transient=True
        )

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def __call__(self, event: Event) -> None:
        """Takes an event down, and prints what deserves a line."""
        self.tally.take(event)
        if (line := self._line(event)) is not None:
            self.console.print(
                line, markup=False, highlight=False, soft_wrap=not self.console.is_terminal
            )

    def _line(self, event: Event) -> str | None:
        tally = self.tally
        count = f"{tally.over}/{tally.total}"
        if isinstance(event, Said):
            return f"note: {event.text}"
        if isinstance(event, Retried):
            return f"again: {short_name(event.scenario)}: {last_line(event.reason)}"
        if isinstance(event, Failed):
            return f"{count}  FAILED  {tally.failed[-1]}"
        if isinstance(event, Done) and not self.console.is_terminal:
            accuracy = f"{event.accuracy:5.1f} %" if isfinite(event.accuracy) else "    -  "
            ending = "" if event.ending == "finished" else f"  {event.ending}"
            return (
                f"{count}  {accuracy}  {event.seconds:.1f} s  {short_name(event.scenario)}"
                f"{ending}  {tally.left} left"
            )
        return None

    def picture(self) -> RenderableType:
        """The whole state: the bar, the pace, runs under way, failures."""
        tally = self.tally
        head = Table.grid(padding=(0, 1), expand=True)
        head.add_column(no_wrap=True)
        head.add_column(ratio=1)
        head.add_column(no_wrap=True, justify="right")
        bar = ProgressBar(total=max(1, tally.total), completed=tally.over)
        pace = f"{tally.over}/{tally.total}  {tally.per_minute:.1f} a minute  {tally.left} left"
        head.add_row(Text(self.title), bar, Text(pace))
        runs = Table.grid(padding=(0, 2))
        for note in list(tally.current.values())[:SHOWN]:
            accuracy = "-" if note.accuracy is None else f"{note.accuracy:.1f} %"
            runs.add_row(Text(note.name), Text(f"{note.step}/{note.steps}"), Text(accuracy))
        failures = [Text(f"FAILED  {line}", style="red") for line in tally.failed[-SHOWN:]]
        return Group(head, runs, *failures)
