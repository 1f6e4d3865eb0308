"""Generators that are copied, and NumPy's from PyTorch's."""

import numpy as np
import pytest
import torch

from wola.aggregation.generators import column_generator, copied


def test_a_copy_draws_what_the_original_would_and_leaves_it_alone():
    original = torch.Generator().manual_seed(3)
    drawn = torch.rand(4, generator=copied(original))
    assert torch.equal(torch.rand(4, generator=original), drawn)
    assert copied(None) is None


def test_the_same_generator_gives_the_same_numbers_and_moves_on():
    first, second = (torch.Generator().manual_seed(seed) for seed in (3, 3))
    one = column_generator(first, "it draws").random(5)
    np.testing.assert_array_equal(column_generator(second, "it draws").random(5), one)
    assert (column_generator(first, "it draws").random(5) != one).all()


def test_no_generator_is_an_error_that_says_what_is_drawn():
    with pytest.raises(ValueError, match="it draws and generator is None; allowed: a torch"):
        column_generator(None, "it draws")
