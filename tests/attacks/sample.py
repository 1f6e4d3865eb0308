"""Honest updates for the tests of the attacks, and every attack on updates that there is."""

from typing import Any

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Generator, Tensor

from wola.aggregation import Rule, TrimmedMean
from wola.attacks import (
    ALIE,
    FOE,
    Attack,
    Beyond,
    FangKrum,
    FangTrim,
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
    Patient,
    PoisonedFL,
    ScaledSignFlip,
    SignFlip,
    SpanSearch,
    Tilt,
    WorstOf,
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
    Tilt(evaluations=6),
    Tilt(angle=50.0),
    SpanSearch(evaluations=10),
    Beyond(),
    Beyond(angle=120.0),
    FangKrum(),
    FangKrum(knowledge="partial"),
    FangTrim(sample=False),
    FangTrim(sample=False, knowledge="partial"),
]
#: Attacks that draw, remember or choose, and see the honest updates for it or not.
OTHERS: list[Attack] = [
    FangTrim(),
    FangTrim(knowledge="partial"),
    PoisonedFL(),
    WorstOf((FOE(), ALIE(), Mimic())),
    Patient(rounds=1),
    Patient(rounds=0, attack=SpanSearch(evaluations=10)),
]
ATTACKS = BLIND + COLLUDING + OTHERS


RULE = TrimmedMean()


def generator(seed: int = 0) -> Generator:
    return Generator().manual_seed(seed)


def honest_updates(h: int, d: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    draw = generator(seed)
    common = torch.randn(d, generator=draw, dtype=torch.float64)
    return (common + torch.randn(h, d, generator=draw, dtype=torch.float64)).to(dtype)


def sent(attack: Attack, honest: Any, f: int, rule: Rule | None = RULE, seed: int = 0) -> Any:
    """What an attack sends; one with partial knowledge knows the smallest honest values."""
    own = None
    if attack.partial_knowledge:
        rows = [torch.as_tensor(row).detach() for row in honest]
        own = torch.stack(rows).sort(dim=0).values[:f]
    return attack(honest, f, rule=rule, generator=generator(seed), own=own)


def as_float64(values: Tensor) -> np.ndarray:
    return values.double().numpy()


#: h, f with f < h, d and a seed: enough to make honest updates from.
settings_drawn = st.tuples(
    st.integers(2, 9), st.integers(1, 8), st.integers(1, 20), st.integers(0, 10_000)
).filter(lambda drawn: drawn[1] < drawn[0])
