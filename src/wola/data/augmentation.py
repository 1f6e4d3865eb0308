"""Train-time augmentation as tensor operations."""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor


def horizontal_flip(images: Tensor, generator: Generator, *, probability: float = 0.5) -> Tensor:
    """Each image mirrored left to right with the given ``probability``: (B, C, H, W), a new tensor.

    >>> images = torch.tensor([[[[1, 2, 3]]]])
    >>> horizontal_flip(images, torch.Generator(), probability=1.0)
    tensor([[[[3, 2, 1]]]])
    """
    if images.ndim != 4:
        raise ValueError(
            f"images has shape {tuple(images.shape)}; allowed: (B, C, H, W), a batch of images"
        )
    draw = torch.rand(
        len(images), generator=generator, dtype=torch.float32, device=generator.device
    )
    flipped = (draw < probability).to(images.device).view(-1, 1, 1, 1)
    return torch.where(flipped, images.flip(-1), images)


@dataclass(frozen=True)
class HorizontalFlip:
    """Mirror each image of a batch with a ``probability``, see :func:`horizontal_flip`.

    >>> HorizontalFlip(0.0)(torch.tensor([[[[1, 2, 3]]]]), torch.Generator())
    tensor([[[[1, 2, 3]]]])
    """

    probability: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.probability <= 1:
            raise ValueError(f"probability = {self.probability!r}; allowed: 0 to 1")

    def __call__(self, images: Tensor, generator: Generator) -> Tensor:
        """The augmented batch (B, C, H, W)."""
        return horizontal_flip(images, generator, probability=self.probability)
