"""A client's momenta: on its disk, and in memory as long as its process lives."""

import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from wola.flower.canonical_bytes import length_prefixed
from wola.flower.private_folder import make_private
from wola.flower.recent_tensors import RecentTensors
from wola.ground.files import refused
from wola.ground.sealed import MAGIC, Damaged, sealed_bytes, unsealed_bytes

#: Where the checksum of a file ends.
HEAD = len(MAGIC) + 65

#: How many runs of a federation a worker remembers.
KEPT_RUNS = 3

#: What this process has written or read of late: a process that lives on need not read again.
RECENT = RecentTensors()

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class MomentumMemory:
    """A worker's momenta in one run of a federation: those after the last two rounds it took.

    Two, so that a server that is killed in round t and continues from its checkpoint of round
    t - 1 can ask for round t again and gets the same update. Each is in a file of its own, with a
    checksum, and takes the place of the older one before the reply is sent: a client that is killed
    at any time, even while it writes, goes on from the last round that it replied to. Files are
    not forced to the disk, so a power cut may cost the last rounds. What is damaged counts as
    none: it is logged, set aside and not used. Of each federation the newest `KEPT_RUNS` runs stay.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     memory = MomentumMemory(Path(folder), federation="lab", run="0" * 32, worker=4)
    ...     memory.keep(1, torch.tensor([0.5]))
    ...     memory.keep(2, torch.tensor([0.7]))
    ...     memory.before(2, size=1), memory.before(3, size=1)
    (tensor([0.5000]), tensor([0.7000]))
    """

    folder: Path
    federation: str
    run: str
    worker: int

    @property
    def paths(self) -> tuple[Path, Path]:
        """The two files, under names that no text from the server can lead out of the folder."""
        of = sha256(length_prefixed(self.federation.encode())).hexdigest()[:16]
        name = sha256(length_prefixed(self.run.encode())).hexdigest()[:32]
        place = self.folder / f"worker-{self.worker}-{of}"
        return place / f"{name}-a.momentum", place / f"{name}-b.momentum"

    def before(self, step: int, size: int) -> Tensor:
        """The newest momentum (size,) of a round before `step`, to be read only; else zeros."""
        held = {t: kept for t, kept in self._held().values() if len(kept) == size}
        earlier = [t for t in held if t < step]
        if not earlier:
            if held:
                _LOG.warning(
                    "round %d is asked again, and the momentum before it is no longer kept (the "
                    "oldest is of round %d): it starts from zero",
                    step,
                    min(held),
                )
            return torch.zeros(size, dtype=torch.float32)
        return held[max(earlier)]

    def keep(self, step: int, momentum: Tensor) -> None:
        """Keeps the momentum (d,) of round `step` and of the newest round before it."""
        paths, held = self.paths, self._held()
        make_private(self.folder)
        make_private(paths[0].parent)
        earlier = [(t, path) for path, (t, _) in held.items() if t < step]
        kept = max(earlier)[1] if earlier else None
        target, other = paths if kept != paths[0] else paths[::-1]
        values = momentum.detach().to("cpu", torch.float32, copy=True).contiguous()
        _write(target, step, values)
        if kept is None:
            other.unlink(missing_ok=True)
        if not held:
            _forget_old_runs(paths[0].parent)

    def _held(self) -> dict[Path, tuple[int, Tensor]]:
        return {path: found for path in self.paths if (found := _read(path)) is not None}


def _write(path: Path, step: int, values: Tensor) -> None:
    # In place: half a file has the wrong checksum, and the momentum before it is in the other one.
    content = sealed_bytes(step.to_bytes(8, "big") + values.numpy().tobytes())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.truncate()
    except OSError as error:
        raise refused(error, path) from error
    RECENT.put(path, content[:HEAD], step, values)


def _read(path: Path) -> tuple[int, Tensor] | None:
    """The round and the momentum of a file; None if there is none, or none that can be used."""
    try:
        with open(path, "rb", buffering=0) as stream:
            head = stream.read(HEAD)
            if (recent := RECENT.get(path, head)) is not None:
                return recent
            content = unsealed_bytes(head + stream.readall())
        if len(content) < 8 or len(content) % 4:
            raise Damaged("it holds no momentum")
        step, values = int.from_bytes(content[:8], "big"), np.frombuffer(content[8:], np.float32)
        momentum = torch.from_numpy(values.copy())
        if not bool(momentum.isfinite().all()):
            raise Damaged("its momentum is not finite")
    except FileNotFoundError:
        return None
    except (OSError, Damaged) as error:
        aside = path.with_suffix(".damaged")
        _LOG.warning("the momentum in %s cannot be used (%s); set aside as %s", path, error, aside)
        with suppress(OSError):
            os.replace(path, aside)
        return None
    RECENT.put(path, head, step, momentum)
    return step, momentum


def _forget_old_runs(place: Path) -> None:
    # Another process of the same worker may be doing the same.
    with suppress(OSError):
        ages: dict[str, int] = {}
        for path in place.glob("*-[ab].*"):
            run = path.name[:32]
            ages[run] = max(ages.get(run, 0), path.stat().st_mtime_ns)
        for run in sorted(ages, key=lambda run: ages[run])[:-KEPT_RUNS]:
            for path in place.glob(f"{run}-[ab].*"):
                path.unlink()
