"""Fang's attack on trimmed mean and median."""

from dataclasses import dataclass
from typing import ClassVar, get_args

import torch
from torch import Generator, Tensor

from wola.aggregation.rule import Rule
from wola.aggregation.source import times_power_of_two
from wola.attacks._moments import mean_and_std
from wola.attacks.attack import Attack, Knowledge, look
from wola.ground.checks import check_choice, check_number


@dataclass(frozen=True)
class FangTrim(Attack):
    """Just beyond the honest values in each coordinate, on the side away from their mean's sign.

    With `knowledge` "full", where mean_j > 0 the attackers draw from [min_j / b, min_j] if
    min_j > 0, else from [b min_j, min_j]; where mean_j < 0 from [max_j, b max_j] if max_j > 0, else
    from [max_j, max_j / b]; where it is 0 they send 0. No f values move the trimmed mean farther in
    that direction. With "partial" the attackers know nothing but `own`, the f updates that they
    would send if they were honest, and draw from mean - 4 std to mean - 3 std, or from mean + 3 std
    to mean + 4 std: mean and population std of these. One attacker alone has a std of 0 and sends
    its own update, which a run notes. With `sample` False nothing is drawn: all send the end
    nearest to the honest values. The signs are for a server that subtracts updates.

    Defaults: `b`, `sample`: its authors; `knowledge`: ours. Its authors have both.

    Cost: one pass over the honest updates.

    Draws: values between two bounds, unless `sample` is false.

    Reference: M. Fang, X. Cao, J. Jia and N. Z. Gong, Local model poisoning attacks to
    Byzantine-robust federated learning, USENIX Security 2020.

    >>> import torch
    >>> FangTrim(sample=False)(torch.tensor([[1.0, -1.0], [3.0, 0.5], [2.0, -4.0]]), f=1)
    tensor([[1.0000, 0.5000]])
    >>> own = torch.tensor([[1.0], [3.0]])
    >>> partial = FangTrim(sample=False, knowledge="partial")
    >>> partial(torch.zeros(3, 1), f=2, own=own)
    tensor([[-1.],
            [-1.]])
    """

    scale_equivariant: ClassVar[bool] = True

    b: float = 2.0
    sample: bool = True
    knowledge: Knowledge = "full"

    def __post_init__(self) -> None:
        check_number("b", self.b, above=1)
        check_choice("knowledge", self.knowledge, get_args(Knowledge))

    @property
    def partial_knowledge(self) -> bool:
        """Whether `knowledge` is "partial"."""
        return self.knowledge == "partial"

    def note(self, n: int, f: int) -> str | None:
        """Says so if there is one attacker with nothing to estimate a deviation from."""
        if not self.partial_knowledge or f > 1:
            return None
        return f"{self}: one attacker alone knows no deviation, so it sends its own honest update"

    def rows(
        self, honest: Tensor, f: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """Draws beyond the honest values in each coordinate, or the nearer end f times."""
        return self._drawn(honest, f, generator)

    def partial_rows(
        self, own: Tensor, n: int, rule: Rule | None, generator: Generator | None
    ) -> Tensor:
        """Draws 3 to 4 deviations from the mean in each coordinate, or the nearer end f times."""
        return self._drawn(own, len(own), generator)

    def _drawn(self, honest: Tensor, f: int, generator: Generator | None) -> Tensor:
        seen = look(honest, f, scaled=True)
        if not len(seen.workers):
            return honest.new_zeros(honest.shape[1]).expand(f, -1)
        near, far = self.ends(seen.honest.double())
        if not self.sample:
            return times_power_of_two(near, seen.exponent).to(honest.dtype).expand(f, -1)
        if generator is None:
            raise ValueError(
                f"{self} draws values and generator is None; allowed: a torch.Generator, or "
                "sample=False"
            )
        shape = (f, honest.shape[1])
        draws = torch.rand(
            shape, dtype=torch.float64, device=generator.device, generator=generator
        ).to(honest.device)
        return times_power_of_two(near + draws * (far - near), seen.exponent).to(honest.dtype)

    def ends(self, honest: Tensor) -> tuple[Tensor, Tensor]:
        """The near and the far end of each coordinate's draws, (d,) each."""
        mean = mean_and_std(honest, 1.0, 0.0)
        side = mean.sign()
        if self.partial_knowledge:
            std = mean_and_std(honest, 0.0, 1.0)
            near, far = mean - 3 * side * std, mean - 4 * side * std
        else:
            near = torch.where(side > 0, honest.amin(dim=0), honest.amax(dim=0))
            # Away from the honest values: towards 0 if 0 is on that side, else away from it.
            far = torch.where(near * side > 0, near / self.b, near * self.b)
        return torch.where(side == 0, mean, near), torch.where(side == 0, mean, far)
