"""Honest updates for the tests of the attacks."""

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Generator, Tensor

from wola.attacks import (
    ALIE,
    FOE,
    Attack,
    Gaussian,
    Infinite,
    Mimic,
    MimicStatic,
    MimicVariance,
    MinMax,
    MinSum,
    NaN,
    OptimalALIE,
    OptimalFOE,
    ScaledSignFlip,
    SignFlip,
    Zero,
)

BLIND: list[Attack] = [Gaussian(std=2.0), Infinite(), NaN(), Zero()]
COLLUDING: list[Attack] = [
    ALIE(),
    ALIE(z=1.5),
    FOE(),
    SignFlip(),
    ScaledSignFlip(10.0),
    Mimic(),
    MimicStatic(worker=1),
    MimicVariance(warmup=3),
    MinMax(),
    MinMax(direction="unit"),
    MinSum(),
    MinSum(direction="sign"),
    OptimalALIE(evaluations=6),
    OptimalFOE(evaluations=6),
]
ATTACKS = BLIND + COLLUDING


def generator(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def honest_updates(h: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    draw = generator(seed)
    common = torch.randn(d, generator=draw, dtype=torch.float64)
    return (common + torch.randn(h, d, generator=draw, dtype=torch.float64)).to(dtype)


def as_float64(values: Tensor) -> np.ndarray:
    return values.double().numpy()


#: h, f with f < h, d and a seed: enough to make honest updates from.
settings_drawn = st.tuples(
    st.integers(2, 9), st.integers(1, 8), st.integers(1, 20), st.integers(0, 10_000)
).filter(lambda drawn: drawn[1] < drawn[0])
