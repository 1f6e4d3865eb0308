"""What a client keeps on its own disk: its momenta, and the noisy report that it sent."""

from __future__ import annotations

import json
import logging
import re
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from wola.flower.canonical_bytes import length_prefixed
from wola.ground.files import write_whole
from wola.labels import check_distribution, label_distribution
from wola.labels.noise import Mechanism

#: How many runs of a federation a worker remembers.
KEPT_RUNS = 3

_LOG = logging.getLogger(__name__)
_ROUND = re.compile(r"[1-9][0-9]{0,17}")


@dataclass(frozen=True)
class MomentumMemory:
    """A worker's momenta in one run of a federation: those after the last two rounds it took.

    Two, so that a server that is killed in round t and continues from its checkpoint of round
    t - 1 can ask for round t again and gets the same update. A file is replaced as a whole; a
    damaged one is logged and counts as none. Of each federation the newest `KEPT_RUNS` runs stay.

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
    def path(self) -> Path:
        """The file, under a name that no text from the server can lead out of the folder."""
        of = sha256(length_prefixed(self.federation.encode())).hexdigest()[:16]
        name = sha256(length_prefixed(self.run.encode())).hexdigest()[:32]
        return self.folder / f"worker-{self.worker}-{of}" / f"{name}.safetensors"

    def before(self, step: int, size: int) -> Tensor:
        """The newest momentum (size,) of a round before `step`; zeros if there is none."""
        held = {t: momentum for t, momentum in self._held().items() if len(momentum) == size}
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
        held = {t: kept for t, kept in self._held().items() if t < step}
        kept = {str(t): held[t] for t in sorted(held)[-1:]}
        kept[str(step)] = momentum.detach().to("cpu", torch.float32).contiguous()
        _make_private(self.folder)
        write_whole(self.path, save(kept))
        self._forget_old_runs()

    def _held(self) -> dict[int, Tensor]:
        try:
            held = load(self.path.read_bytes())
            if not all(_ROUND.fullmatch(t) and m.ndim == 1 for t, m in held.items()):
                raise ValueError("its entries are not momenta by round")
        except FileNotFoundError:
            return {}
        except (OSError, SafetensorError, ValueError) as error:
            _LOG.warning("the momentum in %s cannot be used: %s", self.path, error)
            return {}
        return {int(t): momentum.float() for t, momentum in held.items()}

    def _forget_old_runs(self) -> None:
        # Another process of the same worker may be doing the same.
        with suppress(OSError):
            files = self.path.parent.glob("*.safetensors")
            by_age = sorted(files, key=lambda path: path.stat().st_mtime_ns)
            for path in by_age[:-KEPT_RUNS]:
                path.unlink()


def noisy_report(folder: Path, worker: int, counts: Tensor, noise: Mechanism) -> Tensor:
    """The noisy label distribution (C,) of `counts` (C,): drawn once, then always the same.

    Each fresh draw would cost its epsilon again, and a server that asked often could average the
    noise away. So the first one is kept on the worker's disk, under a name made from the counts
    and the mechanism, and given to every federation that asks; other data or another mechanism is
    a new draw. The noise is seeded by the operating system: a seed the server knows hides nothing.

    >>> from tempfile import TemporaryDirectory
    >>> from wola.labels import LaplaceMechanism
    >>> counts = torch.tensor([3, 9])
    >>> with TemporaryDirectory() as at:
    ...     made = [noisy_report(Path(at), 0, counts, LaplaceMechanism(1.0)) for _ in range(2)]
    >>> torch.equal(*made)
    True
    """
    about = length_prefixed(repr(counts.tolist()).encode(), repr(noise).encode())
    path = folder / "reports" / f"worker-{worker}-{sha256(about).hexdigest()[:32]}.json"
    try:
        return check_distribution(json.loads(path.read_bytes()), len(counts))
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError) as error:
        _LOG.warning("the report in %s cannot be used, a new one is drawn: %s", path, error)
    report = noise(label_distribution(counts), int(counts.sum()))
    _make_private(folder)
    write_whole(path, json.dumps(report.tolist()).encode())
    return report


def _make_private(folder: Path) -> None:
    # Momenta and the true counts behind a report are as private as the data.
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
