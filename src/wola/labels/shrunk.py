"""An estimated objective drawn towards the uniform distribution."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from wola.ground.checks import check_number
from wola.labels.objective import Shared
from wola.labels.simplex import Distributions


@dataclass(frozen=True)
class Shrunk(Shared):
    r"""The shared objective, drawn towards the uniform distribution: liars pull on less of it.

    .. math:: q = (1 - a)\, \Pi\big(R(p_1, \dots, p_n)\big) + a\, (1/C, \dots, 1/C), \qquad
              a = \min(1, 2f/n)

    with R, the projection and the treatment of reports of :class:`Shared`. The more attackers there
    may be, the less the reports count: the attackers move q at most (1 - a) times as far, and a
    class that they talk down keeps at least a/C. ``share`` is a where it is given.

    See docs/beyond.md.

    Defaults: `rule`, `noise`: the WoLA paper's, as in `Shared`; `share`: ours, min(1, 2f/n).

    Cost: the rule on n reports of C numbers, once for a run.

    Reference: ours.

    >>> reports = torch.tensor([[1.0, 0.0]] * 4)
    >>> Shrunk()(reports, f=1)
    tensor([0.7500, 0.2500], dtype=torch.float64)
    """

    share: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.share is not None:
            check_number("share", self.share, least=0, most=1)

    def __call__(
        self, distributions: Distributions, f: int, *, generator: Generator | None = None
    ) -> Tensor:
        """The estimate q (C,) float64 from the reports (n, C), ``f`` of them Byzantine."""
        estimate = super().__call__(distributions, f, generator=generator)
        share = min(1.0, 2 * f / len(distributions)) if self.share is None else self.share
        return torch.lerp(estimate, torch.full_like(estimate, 1 / len(estimate)), share)
