"""What happens while a grid runs, event by event, and how it went in the end."""

from collections.abc import Callable
from dataclasses import dataclass

from wola.training import Scenario


@dataclass(frozen=True)
class Begun:
    """A process has claimed a run and started it."""

    key: str
    scenario: Scenario


@dataclass(frozen=True)
class Evaluated:
    """The model of a run was tested after a step: `accuracy` in percent."""

    key: str
    step: int
    accuracy: float


@dataclass(frozen=True)
class Done:
    """A run is in the store: its mean `accuracy` over training, how it ended, how long it took."""

    key: str
    scenario: Scenario
    accuracy: float
    ending: str
    seconds: float


@dataclass(frozen=True)
class Retried:
    """The process of a run died, and the run is started again."""

    key: str
    scenario: Scenario
    reason: str


@dataclass(frozen=True)
class Failed:
    """A run is given up; `log` ends with the reason."""

    key: str
    scenario: Scenario
    log: str


@dataclass(frozen=True)
class Busy:
    """Somebody else is at work on the run: an executor tries it again later."""

    key: str


@dataclass(frozen=True)
class Skipped:
    """The run is in the store already: there before, or just finished by somebody else."""

    key: str


@dataclass(frozen=True)
class Said:
    """Something out of the ordinary, in words."""

    text: str


Event = Begun | Evaluated | Done | Retried | Failed | Busy | Skipped | Said
Listener = Callable[[Event], None]


def ignore(event: Event) -> None:
    """A listener that does nothing."""


@dataclass(frozen=True)
class GridReport:
    """How a grid went, by key: runs `done` now, `skipped` because they were there, and `failed`.

    `shared` counts the scenarios that needed no run of their own because they coincide with
    another one of the grid.
    """

    done: tuple[str, ...]
    skipped: tuple[str, ...]
    failed: tuple[Failed, ...]
    shared: int

    @property
    def whole(self) -> bool:
        """Whether every run of the grid is in the store.

        >>> GridReport(done=("a",), skipped=(), failed=(), shared=0).whole
        True
        """
        return not self.failed


def short_name(scenario: Scenario) -> str:
    """A run in a few words.

    >>> short_name(Scenario.paper("digits", strategy="WoLA", attack="foe"))
    'digits alpha 0.3 f 6 WoLA trimmed-mean foe seed 1'
    """
    strategy = scenario.strategy or f"{scenario.loss}/{scenario.objective}/{scenario.mixing}"
    return (
        f"{scenario.dataset} alpha {scenario.alpha:g} f {scenario.byzantine} {strategy} "
        f"{scenario.aggregator} {scenario.attack} seed {scenario.seed}"
    )


def last_line(log: str) -> str:
    r"""The last line of a log that says something.

    >>> last_line("Traceback\nValueError: no\n\n")
    'ValueError: no'
    """
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    return lines[-1] if lines else "no log"
