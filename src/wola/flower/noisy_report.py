"""A client's noisy label report: drawn once, and kept on its disk."""

import logging
from hashlib import sha256
from itertools import count
from pathlib import Path

from torch import Tensor

from wola.flower.canonical_bytes import length_prefixed
from wola.flower.new_file import write_once
from wola.flower.private_folder import make_private
from wola.ground.sealed import sealed, unsealed
from wola.labels import check_distribution, label_distribution
from wola.labels.noise import Mechanism

_LOG = logging.getLogger(__name__)


def noisy_report(folder: Path, worker: int, counts: Tensor, noise: Mechanism) -> Tensor:
    """The noisy label distribution (C,) of `counts` (C,): drawn once, then always the same.

    Each fresh draw would cost its epsilon again, and a server that asked often could average the
    noise away. So the first one is kept on the worker's disk, under a name made from the counts
    and the mechanism, and given to every federation that asks; other data or another mechanism is
    a new draw. Of several processes that draw at once one keeps its report, and the others give
    that one. A damaged report stays where it is, unused, and one under the next name takes its
    place. The noise is seeded by the operating system: a seed the server knows hides nothing.

    >>> import torch
    >>> from tempfile import TemporaryDirectory
    >>> from wola.labels import LaplaceMechanism
    >>> counts = torch.tensor([3, 9])
    >>> with TemporaryDirectory() as at:
    ...     made = [noisy_report(Path(at), 0, counts, LaplaceMechanism(1.0)) for _ in range(2)]
    >>> torch.equal(*made)
    True
    """
    about = length_prefixed(repr(counts.tolist()).encode(), repr(noise).encode())
    name = f"worker-{worker}-{sha256(about).hexdigest()[:32]}"
    make_private(folder)
    make_private(folder / "reports")
    for number in count():
        path = folder / "reports" / f"{name}{f'-{number}' if number else ''}.json"
        if not path.exists():
            drawn = noise(label_distribution(counts), int(counts.sum()))
            write_once(path, sealed({"distribution": drawn.tolist()}))
        try:
            return check_distribution(unsealed(path.read_bytes())["distribution"], len(counts))
        except (KeyError, ValueError, TypeError, RecursionError) as error:
            _LOG.warning("the report in %s is damaged and not used: %s", path, error)
    raise AssertionError("there is always a next number")
