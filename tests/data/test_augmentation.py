import pytest
import torch

from wola.data import HorizontalFlip, horizontal_flip

IMAGES = torch.arange(400 * 2 * 2 * 3, dtype=torch.float32).view(400, 2, 2, 3)


def test_each_image_is_whole_or_mirrored_and_the_input_untouched():
    before = IMAGES.clone()
    flipped = horizontal_flip(IMAGES, torch.Generator().manual_seed(1))
    mirrored = [bool((a == b.flip(-1)).all()) for a, b in zip(flipped, IMAGES, strict=True)]
    same = [bool((a == b).all()) for a, b in zip(flipped, IMAGES, strict=True)]
    assert all(m != s for m, s in zip(mirrored, same, strict=True))
    assert 150 < sum(mirrored) < 250
    assert torch.equal(IMAGES, before)


def test_the_generator_decides_which_images_are_mirrored():
    flip = HorizontalFlip()
    first, second = (flip(IMAGES, torch.Generator().manual_seed(3)) for _ in range(2))
    other = flip(IMAGES, torch.Generator().manual_seed(4))
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_bytes_and_memory_format_are_kept():
    images = IMAGES.to(torch.uint8).to(memory_format=torch.channels_last)
    assert HorizontalFlip(1.0)(images, torch.Generator()).dtype == torch.uint8


def test_vectors_and_impossible_probabilities_are_refused():
    with pytest.raises(ValueError, match=r"\(4, 3\); allowed: \(B, C, H, W\)"):
        horizontal_flip(torch.zeros(4, 3), torch.Generator())
    with pytest.raises(ValueError, match=r"probability = 1.5; allowed: 0 to 1"):
        HorizontalFlip(1.5)


def test_the_default_dtype_of_torch_changes_nothing():
    expected = HorizontalFlip(0.3)(IMAGES, torch.Generator().manual_seed(3))
    torch.set_default_dtype(torch.float64)
    try:
        found = HorizontalFlip(0.3)(IMAGES, torch.Generator().manual_seed(3))
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(found, expected)
