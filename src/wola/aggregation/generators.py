"""Generators that draw the same again."""

from torch import Generator


def copied(generator: Generator | None) -> Generator | None:
    """A generator that will draw what this one would; this one does not move."""
    if generator is None:
        return None
    copy = Generator(device=generator.device)
    copy.set_state(generator.get_state())
    return copy
