"""Generators that draw the same again, and NumPy's from PyTorch's."""

import numpy as np
import torch
from torch import Generator


def copied(generator: Generator | None) -> Generator | None:
    """A generator that will draw what this one would; this one does not move."""
    if generator is None:
        return None
    copy = Generator(device=generator.device)
    copy.set_state(generator.get_state())
    return copy


def given_generator(generator: Generator | None, drawing: str) -> Generator:
    """The generator; without one an error names the `drawing` that needs it."""
    if generator is None:
        raise ValueError(
            f"{drawing} and generator is None; allowed: a torch.Generator that the caller keeps "
            "from round to round"
        )
    return generator


def column_generator(generator: Generator | None, drawing: str) -> np.random.Generator:
    """A NumPy generator for columns, seeded by one draw; without one an error names the `drawing`.

    NumPy draws some of many columns without shuffling all of them.
    """
    source = given_generator(generator, drawing)
    seed = torch.randint(2**63 - 1, (1,), generator=source, device=source.device)
    return np.random.default_rng(int(seed))
