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


def numpy_generator(generator: Generator) -> np.random.Generator:
    """A NumPy generator seeded by one draw from a torch generator.

    NumPy draws some of many numbers without shuffling all of them.

    >>> a, b = (numpy_generator(torch.Generator().manual_seed(1)) for _ in range(2))
    >>> bool(a.random() == b.random())
    True
    """
    seed = torch.randint(2**63 - 1, (), generator=generator, device=generator.device)
    return np.random.default_rng(int(seed))
