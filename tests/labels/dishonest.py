"""Honest distributions, and how far lies beside them move an estimate."""

import numpy as np
import torch


def distributions(h: int, classes: int, seed: int, alpha: float = 0.3) -> torch.Tensor:
    return torch.tensor(np.random.default_rng(seed).dirichlet(np.full(classes, alpha), size=h))


def shift(honest: torch.Tensor, lies: torch.Tensor, objective) -> float:
    """How far the lies move the estimate from the honest mean, in L1."""
    estimate = objective(torch.cat([honest, lies]), len(lies))
    return float((estimate - honest.mean(0)).abs().sum())
