"""Calibrated noise on a label distribution: the Laplace and the Gaussian mechanism."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Generator, Tensor

from wola.ground.checks import check_number, check_whole
from wola.labels.simplex import Vector, check_distribution, nearest_distribution


class Mechanism(ABC):
    """What perturbs the label distribution (C,) of N samples before it leaves a worker."""

    @abstractmethod
    def __call__(
        self, distribution: Vector, samples: int, *, generator: Generator | None = None
    ) -> Tensor:
        """A noisy distribution (C,) float64."""


@dataclass(frozen=True)
class LaplaceMechanism(Mechanism):
    r"""The Laplace mechanism on a label distribution: epsilon-differential privacy.

    Two neighbouring data sets have the same public size N and differ in one sample. Replacing a
    sample moves 1/N of mass from one class to another, so the L1 sensitivity of the label
    distribution is exactly :math:`2/N` (the L2 sensitivity is :math:`\sqrt2/N`). Each entry gets
    independent noise of scale

    .. math:: b = \frac{2}{N \varepsilon}, \qquad density(x) = \tfrac{1}{2b} e^{-|x|/b}

    and the result is projected onto the simplex, which costs no privacy and never adds L2 error.
    Several reports by one worker add up their epsilons. Without a generator the noise is seeded
    by the operating system. The guarantee is that of real numbers: it does not cover what
    the low bits of floating-point noise reveal (Mironov, *On Significance of the Least
    Significant Bits for Differential Privacy*, CCS 2012). Reference: Dwork, McSherry, Nissim and
    Smith, *Calibrating Noise to Sensitivity in Private Data Analysis*, TCC 2006.

    >>> LaplaceMechanism(epsilon=0.5).scale(samples=100)
    0.04
    >>> mechanism = LaplaceMechanism(epsilon=0.5)
    >>> mechanism([0.2, 0.8], samples=9, generator=torch.Generator().manual_seed(0)).sum()
    tensor(1., dtype=torch.float64)
    """

    epsilon: float

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, above=0)

    def scale(self, samples: int) -> float:
        """The scale b of the noise for the label distribution of ``samples`` samples."""
        return 2 / (check_whole("samples", samples, least=1) * self.epsilon)

    def noise(self, classes: int, samples: int, *, generator: Generator | None = None) -> Tensor:
        """The noise alone, before any projection: (``classes``,) float64."""
        generator = _seeded(generator)
        draws = torch.empty(2, classes, dtype=torch.float64, device=generator.device)
        draws.exponential_(generator=generator)
        return self.scale(samples) * (draws[0] - draws[1])

    def __call__(
        self, distribution: Vector, samples: int, *, generator: Generator | None = None
    ) -> Tensor:
        """The noisy distribution (C,) of a worker with ``samples`` samples."""
        p = check_distribution(distribution, name="distribution")
        return nearest_distribution(
            p + self.noise(len(p), samples, generator=generator).to(p.device)
        )


@dataclass(frozen=True)
class GaussianMechanism(Mechanism):
    r"""The Gaussian mechanism on a label distribution: (epsilon, delta)-differential privacy.

    Two neighbouring data sets have the same public size N and differ in one sample. Replacing a
    sample changes two entries by 1/N each, so the L2 sensitivity of the label distribution is
    exactly :math:`\Delta = \sqrt2/N` (the L1 sensitivity is :math:`2/N`). Each entry gets
    independent normal noise with the smallest standard deviation :math:`\sigma` for which

    .. math::
       \Phi\Big(\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\Big)
       - e^\varepsilon
       \Phi\Big(-\frac{\Delta}{2\sigma} - \frac{\varepsilon\sigma}{\Delta}\Big) \le \delta

    which is necessary and sufficient at every epsilon, unlike the classic bound, which is only
    valid below 1. The result is projected onto the simplex. Composition, seeding and the limits
    of floating-point noise are as for :class:`LaplaceMechanism`. Reference: Balle and Wang,
    *Improving the Gaussian Mechanism for Differential Privacy*, ICML 2018.

    >>> round(GaussianMechanism(epsilon=1.0, delta=1e-5).scale(samples=100), 5)
    0.05276
    >>> mechanism = GaussianMechanism(epsilon=1.0, delta=1e-5)
    >>> mechanism([0.2, 0.8], samples=9, generator=torch.Generator().manual_seed(0)).sum()
    tensor(1., dtype=torch.float64)
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, above=0)
        check_number("delta", self.delta, above=0, below=1)

    def scale(self, samples: int) -> float:
        """The standard deviation of the noise for the distribution of ``samples`` samples."""
        sensitivity = math.sqrt(2) / check_whole("samples", samples, least=1)
        return sensitivity * unit_gaussian_scale(self.epsilon, self.delta)

    def noise(self, classes: int, samples: int, *, generator: Generator | None = None) -> Tensor:
        """The noise alone, before any projection: (``classes``,) float64."""
        generator = _seeded(generator)
        draws = torch.empty(classes, dtype=torch.float64, device=generator.device)
        return self.scale(samples) * draws.normal_(generator=generator)

    def __call__(
        self, distribution: Vector, samples: int, *, generator: Generator | None = None
    ) -> Tensor:
        """The noisy distribution (C,) of a worker with ``samples`` samples."""
        p = check_distribution(distribution, name="distribution")
        return nearest_distribution(
            p + self.noise(len(p), samples, generator=generator).to(p.device)
        )


@lru_cache(maxsize=64)
def unit_gaussian_scale(epsilon: float, delta: float) -> float:
    """Smallest standard deviation that gives (epsilon, delta) at an L2 sensitivity of 1."""
    low = high = 1.0
    while privacy_loss(high, epsilon) > delta:
        high *= 2
    while privacy_loss(low, epsilon) <= delta:
        low /= 2
    while low < (middle := (low + high) / 2) < high:
        if privacy_loss(middle, epsilon) > delta:
            low = middle
        else:
            high = middle
    return high


def privacy_loss(sigma: float, epsilon: float) -> float:
    """The delta of Gaussian noise at an L2 sensitivity of 1 (Balle and Wang 2018, theorem 8)."""
    a, b = 1 / (2 * sigma), epsilon * sigma
    # As a b = epsilon / 2, the factor e^epsilon meets the tail of the normal law in
    # exp(-(a - b)^2 / 2) erfcx((a + b) / sqrt 2), which neither overflows nor cancels.
    tail = math.exp(-((a - b) ** 2) / 2)
    if b > a:
        return tail * (_erfcx((b - a) / math.sqrt(2)) - _erfcx((a + b) / math.sqrt(2))) / 2
    return (math.erfc((b - a) / math.sqrt(2)) - tail * _erfcx((a + b) / math.sqrt(2))) / 2


def _erfcx(x: float) -> float:
    return float(torch.special.erfcx(torch.tensor(x, dtype=torch.float64)))


def _seeded(generator: Generator | None) -> Generator:
    if generator is None:
        generator = Generator()
        generator.seed()
    return generator
