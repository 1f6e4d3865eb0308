"""A task: one run to be done, and how a process does it from claim to summary."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from wola.bench.claims import Claim, Owner
from wola.bench.events import Begun, Busy, Done, Evaluated, Event, Failed, Listener, Said, Skipped
from wola.bench.notes import NoteWriter, checkpoint_file
from wola.bench.store import Store
from wola.ground.files import WriteError
from wola.training import (
    Callback,
    Checkpoint,
    CheckpointError,
    Evaluation,
    Result,
    Scenario,
    StepRecord,
    simulate,
)

#: A process that does runs has one thread, whatever its libraries would choose.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)

#: Steps between two checkpoints: short runs are cheaper to repeat than to save.
CHECKPOINT_EVERY = 200


@dataclass(frozen=True)
class Task:
    """A run to be done: the scenario that stands for all that coincide, and its key in the store.

    `failures` is how often it had failed before this attempt at the grid.
    """

    key: str
    scenario: Scenario
    failures: int = 0

    def failed_meanwhile(self, store: Store) -> str | None:
        """The log, if the run has failed since the attempt began."""
        record = store.failure(self.key)
        return str(record["log"]) if record and record["tries"] > self.failures else None


Callbacks = Callable[[Task], Sequence[Callback]]


def no_callbacks(task: Task) -> Sequence[Callback]:
    """No callbacks: nobody else watches the run."""
    return ()


def perform(
    task: Task, store: Store, *, tell: Listener, callbacks: Callbacks = no_callbacks
) -> None:
    """Does a run from claim to summary, and tells of it: Begun, Evaluated, then Done or Failed.

    The last event comes when the claim is released. A run that somebody else has, or has taken
    over while this process was suspended, is told as Busy, one that is in the store as Skipped. An
    error of the run itself is recorded in the store with its traceback; that the store cannot be
    written to, or has vanished, is raised, since no other run would fare better. A run of many
    steps saves a checkpoint now and then, and goes on from there if its process was killed.
    """
    claim = store.claim(task.key, Owner.here())
    if claim is None:
        tell(Skipped(task.key) if store.is_done(task.key) else Busy(task.key))
        return
    with claim, NoteWriter(store.path, task.key, task.scenario) as note:
        tell(Begun(task.key, task.scenario))

        def told(event: Event) -> None:
            note(event)
            tell(event)

        watching = [_StillOurs(claim, store), _Tests(task.key, told), *callbacks(task)]
        end = _carried_out(task, store, claim, told, watching)
    tell(end)


class ClaimLost(Exception):
    """Somebody else has taken the run over: it is theirs to finish."""


def _carried_out(
    task: Task, store: Store, claim: Claim, tell: Listener, callbacks: Sequence[Callback]
) -> Done | Failed | Busy:
    start = monotonic()
    checkpoint = Checkpoint(checkpoint_file(store.path, task.key), CHECKPOINT_EVERY)
    try:
        if task.scenario.key() != task.key:
            raise ValueError(
                "the data or the sources that the run is made of have changed since the grid "
                "began; start it again for runs with what they are now"
            )
        result = _train(task, store, checkpoint, tell, callbacks)
        _check_ours(claim, store)
    except ClaimLost:
        return Busy(task.key)
    except WriteError:
        raise
    except Exception:
        log = traceback.format_exc()
        store.fail(task.key, task.scenario, log)
        return Failed(task.key, task.scenario, log)
    store.write(task.key, result)
    checkpoint.remove()
    seconds = monotonic() - start
    return Done(task.key, task.scenario, result.accuracy, result.ending, seconds)


def _train(
    task: Task,
    store: Store,
    checkpoint: Checkpoint,
    tell: Listener,
    callbacks: Sequence[Callback],
) -> Result:
    try:
        return simulate(task.scenario, callbacks=callbacks, checkpoint=checkpoint, resume=True)
    except CheckpointError as error:
        # Raised before the first step, so the run starts anew.
        where = store.set_aside_file(Path(checkpoint.path))
        tell(Said(f"{error}: set aside in {where}, the run starts anew"))
    return simulate(task.scenario, callbacks=callbacks, checkpoint=checkpoint)


def _check_ours(claim: Claim, store: Store) -> None:
    claim.touch()
    if claim.lost:
        store.check_there()
        raise ClaimLost


class _StillOurs(Callback):
    """Ends a run between two steps once somebody else has its claim, or the store is gone."""

    def __init__(self, claim: Claim, store: Store) -> None:
        self.claim, self.store = claim, store

    def on_step(self, record: StepRecord) -> None:
        if self.claim.lost:
            self.store.check_there()
            raise ClaimLost
        if record.step % CHECKPOINT_EVERY == 0:
            # A checkpoint is due, which must not make the folder of a vanished store anew.
            self.store.check_there()


class _Tests(Callback):
    def __init__(self, key: str, tell: Listener) -> None:
        self.key, self.tell = key, tell

    def on_evaluation(self, evaluation: Evaluation) -> None:
        self.tell(Evaluated(self.key, evaluation.step, evaluation.accuracy))
