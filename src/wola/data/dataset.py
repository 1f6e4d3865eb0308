"""A dataset: tensors, class names, the mean and standard deviation, an optional augmentation."""

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from wola.data.arrays import Arrays
from wola.data.augmentation import HorizontalFlip

BLOCK_VALUES = 1 << 16


@dataclass(frozen=True, eq=False)
class Dataset:
    r"""Samples and labels for training and test, with what standardises them.

    ``x_train`` (N, ...) and ``x_test`` hold the inputs as stored, uint8 for images, so that a
    dataset is small; ``y_train``, ``y_test`` (N,) int64; ``classes`` the C names. ``mean`` and
    ``std`` (float32, one value per channel: dimension 1) belong to the training inputs divided by
    ``scale``, and a model sees

    .. math:: (x / \mathrm{scale} - \mathrm{mean}) / \mathrm{std}.

    ``train_inputs`` and ``test_inputs`` are those float32 tensors, made once when first asked for
    and then kept (Fashion-MNIST: 188 MB and 31 MB; CIFAR-10: 614 MB and 123 MB); ``standardise``
    does the same for a batch alone. ``augment`` is what training may switch on.

    >>> import numpy as np
    >>> x, y = np.array([[[0, 255]], [[255, 0]]], dtype=np.uint8), np.array([0, 1])
    >>> dataset = make_dataset("two", Arrays(x, y, x, y, ("a", "b")), scale=255)
    >>> dataset.mean, dataset.std
    (tensor([0.5000]), tensor([0.5000]))
    >>> dataset.train_inputs.flatten()
    tensor([-1.,  1.,  1., -1.])
    """

    name: str
    x_train: Tensor
    y_train: Tensor
    x_test: Tensor
    y_test: Tensor
    classes: tuple[str, ...]
    mean: Tensor
    std: Tensor
    scale: float = 1.0
    augment: HorizontalFlip | None = None

    @cached_property
    def train_inputs(self) -> Tensor:
        """The standardised training inputs, float32, shape of ``x_train``."""
        return self.standardise(self.x_train)

    @cached_property
    def test_inputs(self) -> Tensor:
        """The standardised test inputs, float32, shape of ``x_test``."""
        return self.standardise(self.x_test)

    @property
    def sample_shape(self) -> tuple[int, ...]:
        """The shape of one input, such as (1, 28, 28)."""
        return tuple(self.x_train.shape[1:])

    def standardise(self, inputs: Tensor) -> Tensor:
        """Stored inputs (B, ...) as a model sees them: a new float32 tensor."""
        mean, std = (_along_channels(v, inputs.ndim).to(inputs.device) for v in self._moments)
        made = inputs.to(torch.float32, copy=True)
        return made.div_(self.scale).sub_(mean).div_(std)

    @property
    def _moments(self) -> tuple[Tensor, Tensor]:
        return self.mean, self.std


def make_dataset(
    name: str,
    arrays: Arrays,
    *,
    scale: float = 1.0,
    one_channel: bool = False,
    augment: HorizontalFlip | None = None,
) -> Dataset:
    """The dataset of some arrays, with the mean and deviation of its training inputs.

    Channels lie along dimension 1: colours of images, features of vectors. ``one_channel`` gives
    a vector one mean and deviation for all its features. Without class names the classes are
    called "0", "1", ...

    >>> import numpy as np
    >>> x, y = np.array([[1.0, 5.0], [3.0, 5.0]], dtype=np.float32), np.array([0, 1])
    >>> make_dataset("small", Arrays(x, y, x, y)).mean
    tensor([2., 5.])
    """
    x_train = torch.from_numpy(arrays.x_train)
    y_train, y_test = torch.from_numpy(arrays.y_train), torch.from_numpy(arrays.y_test)
    count = 1 + max(int(y_train.max()), int(y_test.max()))
    mean, std = channel_moments(x_train, one_channel=one_channel)
    return Dataset(
        name=name,
        x_train=x_train,
        y_train=y_train,
        x_test=torch.from_numpy(arrays.x_test),
        y_test=y_test,
        classes=arrays.classes or tuple(map(str, range(count))),
        mean=(mean / scale).to(torch.float32),
        std=(std / scale).to(torch.float32),
        scale=scale,
        augment=augment,
    )


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


def _along_channels(values: Tensor, ndim: int) -> Tensor:
    return values.view(1, -1, *[1] * (ndim - 2))
