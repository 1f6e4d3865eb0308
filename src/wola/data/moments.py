"""Mean and standard deviation of each channel of a dataset's inputs."""

import torch
from torch import Tensor

BLOCK_VALUES = 1 << 16


def channel_moments(inputs: Tensor, *, one_channel: bool = False) -> tuple[Tensor, Tensor]:
    """Mean and population standard deviation per channel (dimension 1): two (C,) float64 tensors.

    A constant channel gets deviation 1, so that standardising leaves it at 0. The sums run in
    float64 over blocks that fit into a processor's cache.

    >>> channel_moments(torch.tensor([[1, 4], [3, 4]], dtype=torch.uint8))
    (tensor([2., 4.], dtype=torch.float64), tensor([1., 1.], dtype=torch.float64))
    """
    channels = 1 if one_channel else inputs.shape[1]
    count = inputs.numel() // channels
    mean = _sum_over_samples(inputs, channels, torch.zeros(channels), 1) / count
    variance = _sum_over_samples(inputs, channels, mean, 2) / count
    return mean, torch.where(variance > 0, variance.sqrt(), 1.0)


def _sum_over_samples(inputs: Tensor, channels: int, shift: Tensor, power: int) -> Tensor:
    total = torch.zeros(channels, dtype=torch.float64)
    samples = max(1, BLOCK_VALUES // inputs[0].numel())
    for start in range(0, len(inputs), samples):
        block = inputs[start : start + samples]
        values = block.to(torch.float64).reshape(len(block), channels, -1)
        total += (values - shift.view(1, -1, 1)).pow_(power).sum(dim=(0, 2))
    return total
