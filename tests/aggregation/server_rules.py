"""Updates of workers with different mixes of classes, and a server that knows the classes."""

import torch
from torch import Tensor

from wola.aggregation import BOBA, FLTrust, ReferenceRows, View, ZenoPlusPlus

N, F, CLASSES, D = 11, 3, 4, 40


def generator(seed: int = 5) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def class_rows(seed: int = 5) -> Tensor:
    return torch.randn(CLASSES, D, generator=generator(seed), dtype=torch.float64)


def label_mixes(n: int = N, seed: int = 6) -> Tensor:
    return torch.softmax(
        2 * torch.randn(n, CLASSES, generator=generator(seed), dtype=torch.float64), dim=1
    )


def skewed(n: int = N, noise: float = 0.1, seed: int = 5) -> Tensor:
    """Updates (n, D), the last F of them far off."""
    g = generator(seed + 100)
    x = label_mixes(n) @ class_rows(seed)
    x += noise * torch.randn(n, D, generator=g, dtype=torch.float64)
    x[n - F :] += 3 * torch.randn(D, generator=g, dtype=torch.float64)
    return x


def rows_of(x: Tensor) -> tuple[Tensor, Tensor]:
    """What a server with a little data of every class has: its own update, and one per class."""
    classes = class_rows() + 0.02 * torch.randn(
        CLASSES, D, generator=generator(9), dtype=torch.float64
    )
    return classes.mean(dim=0, keepdim=True), classes


def view(lr: float = 0.1) -> View:
    mean, classes = rows_of(skewed())
    return View(ReferenceRows(mean=mean, classes=classes, lr=lr))


BOUND = [
    FLTrust().at(view()),
    ZenoPlusPlus().at(view()),
    ZenoPlusPlus(rho=0.02, epsilon=0.5).at(view()),
    BOBA().at(view()),
    BOBA(least=0.0, iterations=3).at(view()),
]
