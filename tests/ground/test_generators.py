"""Generators that are copied, and NumPy's from PyTorch's."""

import numpy as np
import pytest
import torch

from wola.ground.generators import copied, given_generator, numpy_generator


def test_a_copy_draws_what_the_original_would_and_leaves_it_alone():
    original = torch.Generator().manual_seed(3)
    drawn = torch.rand(4, generator=copied(original))
    assert torch.equal(torch.rand(4, generator=original), drawn)
    assert copied(None) is None


def test_the_same_generator_gives_the_same_numbers_and_moves_on():
    first, second = (torch.Generator().manual_seed(seed) for seed in (3, 3))
    one = numpy_generator(first).random(5)
    np.testing.assert_array_equal(numpy_generator(second).random(5), one)
    assert (numpy_generator(first).random(5) != one).all()


def test_a_numpy_generator_is_seeded_by_one_whole_number():
    generator = torch.Generator().manual_seed(3)
    seed = int(torch.randint(2**63 - 1, (1,), generator=torch.Generator().manual_seed(3)))
    expected = np.random.default_rng(seed).random(5)
    np.testing.assert_array_equal(numpy_generator(generator).random(5), expected)


def test_no_generator_is_an_error_that_says_what_is_drawn():
    with pytest.raises(ValueError, match="it draws and generator is None; allowed: a torch"):
        given_generator(None, "it draws")
    generator = torch.Generator()
    assert given_generator(generator, "it draws") is generator
