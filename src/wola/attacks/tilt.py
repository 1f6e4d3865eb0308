"""Updates turned away from the direction that the server trusts."""

from dataclasses import dataclass
from math import atan, cos, degrees, radians, sin, tan

import numpy as np
import torch
from torch import Generator, Tensor

from wola.aggregation.rule import At, Rule
from wola.attacks._moments import mean_and_std
from wola.attacks._scale import orthogonal, unit
from wola.attacks.attack import Seen
from wola.attacks.optimal import Family, Line, Optimal
from wola.ground.checks import check_number


@dataclass(frozen=True)
class Turn(Line):
    """Angles in degrees by their place u: 2 atan(u), so that a half line is all of 0 to 180."""

    def factor(self, u: float) -> float:
        """The angle at a place."""
        return degrees(2.0 * atan(u))

    def place(self, z: float) -> float:
        """The place of an angle."""
        return tan(radians(z) / 2.0)


@dataclass(frozen=True)
class Tilt(Optimal):
    r"""All attackers send an update at an angle to the direction that the server trusts.

    .. math:: \|m\| (\cos\phi\ \hat g + \sin\phi\ \hat u)

    with :math:`\phi` the angle and m the mean of the honest updates. Against a rule that compares
    workers with the server's own update (`FLTrust`, `ZenoPlusPlus`), :math:`\hat g` is the
    direction of that update, which the attackers know, and :math:`\hat u` that of the part of -m
    orthogonal to it. Against any other rule :math:`\hat g` is the direction of m; -m has no
    part orthogonal to it, and -sign(m) std, the honest deviation of each coordinate against the
    mean's sign, takes its place, as it does where the server's update has the direction of m. Where
    that has no such part either, as with one coordinate, the sine counts for nothing.

    `angle` fixes :math:`\phi` in degrees, between -180 and 180; None searches the one that moves
    the server's aggregate farthest from m, with the search of `OptimalALIE` over :math:`\phi = 2
    \arctan u`, u of either sign, in `evaluations` evaluations of the rule; it begins at `start`
    (None: 50 degrees). A rule that weighs by the cosine, as FLTrust does, listens most to what does
    least: an angle in between does most, and it slows training, since the aggregate never turns
    against the server's own update.

    Defaults: `evaluations`, `start`, `angle`: ours.

    Needs: the server's rule.

    Cost: as `OptimalALIE`; with `angle` one pass over the honest updates.

    Reference: ours. X. Cao, M. Fang, J. Liu and N. Z. Gong, FLTrust: Byzantine-robust federated
    learning via trust bootstrapping, NDSS 2021, attack their rule by a random search over
    directions, which costs more.

    >>> import torch
    >>> Tilt(angle=90)(torch.tensor([[3.0, 1.0], [5.0, 3.0]]), f=1).round(decimals=4)
    tensor([[ 2., -4.]])
    """

    angle: float | None = None

    def __post_init__(self) -> None:
        for name in ("angle", "start"):
            given = getattr(self, name)
            if given is not None:
                check_number(name, given, above=-180, below=180)
        super().__post_init__()

    def plain(self, n: int, f: int) -> float:
        """The angle that the search begins at."""
        return 50.0

    def row(self, seen: Seen, rule: Rule | None, generator: Generator | None) -> Tensor:
        """The update at the angle asked for, or at the best one found."""
        if self.angle is None:
            return super().row(seen, rule, generator)
        return _turned(*_frame(seen, rule), float(self.angle))

    def family(self, seen: Seen, rule: Rule) -> Family:
        """Every angle, over the honest updates and the two directions."""
        along, across = _frame(seen, rule)
        rows = torch.stack([along, across]).to(seen.honest)

        def coefficients(z: float) -> np.ndarray:
            angle = radians(z)
            return np.append(np.zeros(len(seen.honest)), [cos(angle), sin(angle)])

        return Family(
            base=torch.cat([seen.honest, rows]),
            coefficients=coefficients,
            row=lambda z: _turned(along, across, z),
            line=Turn(),
        )


def _turned(along: Tensor, across: Tensor, angle: float) -> Tensor:
    return cos(radians(angle)) * along + sin(radians(angle)) * across


def _frame(seen: Seen, rule: Rule | None) -> tuple[Tensor, Tensor]:
    """g and u at the length of the honest mean, (d,) each, in float64; u is 0 if there is none."""
    mean = mean_and_std(seen.honest, 1.0, 0.0).double()
    length = float(torch.linalg.vector_norm(mean))
    trusted = _trusted(rule, seen)
    along = unit(mean) if trusted is None else trusted
    across = torch.zeros_like(mean) if trusted is None else orthogonal(-mean, along)
    if not across.any():
        std = mean_and_std(seen.honest, 0.0, 1.0).double()
        across = orthogonal(-mean.sign() * std, along)
    return length * along, length * across


def _trusted(rule: Rule | None, seen: Seen) -> Tensor | None:
    """The direction of the server's own update, (d,), if the rule goes by it and it has one."""
    if not isinstance(rule, At) or "mean" not in rule.rule.needs:
        return None
    own = rule.view.known.mean()[0].to(seen.honest.device, torch.float64)
    direction = unit(own) if bool(own.isfinite().all()) else torch.zeros_like(own)
    return direction if direction.any() else None
