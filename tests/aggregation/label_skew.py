"""Updates of workers with different mixes of classes, which they report, and liars among them."""

import numpy as np
import torch

from tests.reference import Array


def skewed_workers(
    n: int, classes: int, *, d: int = 30, liars: int = 0, noise: float = 0.1, seed: int = 0
) -> tuple[Array, Array]:
    """Updates (n, d) and reports (n, C); the first `liars` send minus the mean of the others."""
    rng = np.random.default_rng(seed)
    reports = rng.dirichlet(np.full(classes, 0.7), size=n)
    x = reports @ rng.standard_normal((classes, d)) + noise * rng.standard_normal((n, d))
    x[:liars] = -x[liars:].mean(axis=0)
    return x, reports


def generator(seed: int = 31) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
