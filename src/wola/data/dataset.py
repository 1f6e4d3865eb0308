"""A dataset: tensors, class names, the mean and standard deviation, an optional augmentation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import inf
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from wola.data.arrays import Arrays, write_arrays
from wola.data.augmentation import HorizontalFlip
from wola.data.huggingface import huggingface_arrays
from wola.data.moments import channel_moments
from wola.data.own_arrays import own_arrays
from wola.data.torch_samples import torch_arrays


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
    does the same for a batch alone. ``augment`` is what training may switch on. ``clients`` (N,)
    int64 says which of ``client_names`` each training sample belongs to, where the data know.
    ``origin`` is the text that a scenario names the dataset by, where it was loaded by one.
    Make one of your own data with :meth:`from_arrays`, :meth:`from_torch`,
    :meth:`from_huggingface`, or from a file with :class:`~wola.data.own.Npz`,
    :class:`~wola.data.own.ImageFolder`, :class:`~wola.data.tables.Csv` or
    :class:`~wola.data.tables.Parquet`.

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
    clients: Tensor | None = None
    client_names: tuple[str, ...] = ()
    origin: str = ""

    @staticmethod
    def from_arrays(
        x_train: Any,
        y_train: Any,
        x_test: Any = None,
        y_test: Any = None,
        *,
        classes: Sequence[str] | None = None,
        clients: Any = None,
        name: str = "arrays",
        scale: float | None = None,
    ) -> Dataset:
        """A dataset of NumPy arrays, tensors or sequences.

        Inputs are (N, features), (N, H, W) or (N, C, H, W), labels (N,) whole numbers or text, and
        ``clients`` (N,) names or numbers the client each training sample belongs to. Labels other
        than 0 to C - 1 become class names in sorted order. Without a test set one sample in five
        is held out, the same in each class and every time. ``scale`` divides the inputs: by
        default 255 for uint8, else 1.

        >>> made = Dataset.from_arrays([[1.0], [2.0], [3.0], [4.0]], ["no", "yes"] * 2)
        >>> made.classes, len(made.y_train), len(made.y_test)
        (('no', 'yes'), 3, 1)
        """
        arrays = own_arrays(
            x_train, y_train, x_test, y_test, classes=classes, clients=clients, origin=name
        )
        return make_dataset(name, arrays, scale=scale)

    @staticmethod
    def from_torch(
        train: Any,
        test: Any = None,
        *,
        classes: Sequence[str] | None = None,
        clients: Any = None,
        name: str = "torch",
        scale: float | None = None,
    ) -> Dataset:
        """A dataset of map-style torch datasets, torchvision's too: pairs (input, label).

        An input is a tensor, an array or a PIL image. ``classes`` are by default the dataset's own
        ``.classes``, or those of the one it is a subset of. The rest as in :meth:`from_arrays`.

        >>> from torch.utils.data import TensorDataset
        >>> pairs = TensorDataset(torch.arange(10.0).view(5, 2), torch.tensor([0, 1, 0, 1, 1]))
        >>> Dataset.from_torch(pairs).x_train.shape
        torch.Size([4, 2])
        """
        arrays = torch_arrays(train, test, classes=classes, clients=clients, origin=name)
        return make_dataset(name, arrays, scale=scale)

    @staticmethod
    def from_huggingface(
        train: Any,
        test: Any = None,
        *,
        inputs: str | Sequence[str] = "image",
        label: str = "label",
        client: str | None = None,
        name: str = "huggingface",
        scale: float | None = None,
    ) -> Dataset:
        """A dataset of Hugging Face ``datasets.Dataset`` tables, by the names of their columns.

        ``inputs`` is a column of images or arrays, or several columns of numbers; the names of the
        classes are those of the ``label`` feature, if it has any; ``client`` is the column that
        says which client a sample belongs to. The rest as in :meth:`from_arrays`.
        """
        arrays = huggingface_arrays(
            train, test, inputs=inputs, label=label, client=client, origin=name
        )
        return make_dataset(name, arrays, scale=scale)

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

    def digest(self) -> str:
        """SHA-256 of the content: inputs, labels, class names, clients and scale, not the name.

        >>> made = [Dataset.from_arrays([[0.0], [1.0]] * 2, y) for y in ([0, 1] * 2, [1, 0] * 2)]
        >>> made[0].digest() == made[1].digest()
        False
        """
        return self._digest

    @cached_property
    def _digest(self) -> str:
        parts = {
            "x_train": self.x_train, "y_train": self.y_train, "x_test": self.x_test,
            "y_test": self.y_test, "clients": self.clients,
        }  # fmt: skip
        arrays = {
            key: np.ascontiguousarray(part.cpu().numpy())
            for key, part in parts.items()
            if part is not None
        }
        forms = {key: (array.dtype.str, array.shape) for key, array in arrays.items()}
        head = [forms, self.classes, self.client_names, float(self.scale)]
        content = sha256(json.dumps(head, sort_keys=True).encode())
        for key in sorted(arrays):
            content.update(arrays[key].data)
        return content.hexdigest()

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes the dataset as an ``.npz``, which a scenario names as ``npz(PATH)``.

        >>> from tempfile import TemporaryDirectory
        >>> from wola.data.own import Npz
        >>> made = Dataset.from_arrays([[0.0], [1.0]] * 4, ["a", "b"] * 4)
        >>> with TemporaryDirectory() as folder:
        ...     Npz(made.save(Path(folder, "mine.npz"))).load().digest() == made.digest()
        True
        """
        clients = None
        if self.clients is not None:
            clients = np.array(self.client_names)[self.clients.numpy()]
        x_train, y_train, x_test, y_test = (
            part.cpu().numpy() for part in (self.x_train, self.y_train, self.x_test, self.y_test)
        )
        write_arrays(
            Path(path),
            {
                "x_train": x_train,
                "y_train": y_train,
                "x_test": x_test,
                "y_test": y_test,
                "classes": np.array(self.classes, dtype=np.str_),
                "scale": np.array(self.scale),
                **({} if clients is None else {"client": clients}),
            },
        )
        return Path(path)

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
    scale: float | None = None,
    one_channel: bool = False,
    augment: HorizontalFlip | None = None,
) -> Dataset:
    """The dataset of some arrays, with the mean and deviation of its training inputs.

    Channels lie along dimension 1: colours of images, features of vectors. ``scale`` divides the
    inputs, by default 255 for uint8 and 1 for floats. ``one_channel`` gives a vector one mean and
    deviation for all its features. Without class names the classes are called "0", "1", ...

    >>> import numpy as np
    >>> x, y = np.array([[1.0, 5.0], [3.0, 5.0]], dtype=np.float32), np.array([0, 1])
    >>> make_dataset("small", Arrays(x, y, x, y)).mean
    tensor([2., 5.])
    """
    if scale is None:
        scale = 255.0 if arrays.x_train.dtype == np.uint8 else 1.0
    if not 0 < scale < inf:
        raise ValueError(f"scale = {scale!r}; allowed: a finite number > 0")
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
        scale=float(scale),
        augment=augment,
        clients=None if arrays.clients is None else torch.from_numpy(arrays.clients),
        client_names=arrays.client_names,
    )


def _along_channels(values: Tensor, ndim: int) -> Tensor:
    return values.view(1, -1, *[1] * (ndim - 2))
