"""What a partition and a resampled test set do to the mix of labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from wola.data.dataset import Dataset
from wola.labels import label_counts, label_distribution, total_variation


@dataclass(frozen=True)
class LabelMix:
    """Label distributions (C,) before and after the data were divided.

    ``train`` is that of the training set and ``workers`` that of the honest workers' data together;
    ``test`` that of the test set and ``tested`` that of the samples the model is tested on.

    >>> LabelMix((0.5, 0.5), (0.75, 0.25), (0.5, 0.5), (0.5, 0.5)).train_shift
    0.25
    """

    train: tuple[float, ...]
    workers: tuple[float, ...]
    test: tuple[float, ...]
    tested: tuple[float, ...]

    @property
    def train_shift(self) -> float:
        """Total variation between the training set and the honest workers' data."""
        return total_variation(list(self.train), list(self.workers))

    @property
    def test_shift(self) -> float:
        """Total variation between the test set and what the model is tested on."""
        return total_variation(list(self.test), list(self.tested))

    def describe(self) -> str:
        """One line that says how far the labels have moved."""
        return (
            f"labels: the workers' mix differs from the data's by {self.train_shift:.2f} (total "
            f"variation), the test set's by {self.test_shift:.2f}"
        )


def label_shift(
    dataset: Dataset, shards: Sequence[Tensor], honest: int, test_indices: Tensor
) -> LabelMix:
    """How the label mix of the first ``honest`` ``shards`` and of the tested samples has moved.

    >>> data = Dataset.from_arrays(torch.eye(4), [0, 0, 1, 1], torch.eye(4), [0, 1, 1, 1])
    >>> label_shift(data, [torch.tensor([0, 1, 2])], 1, torch.arange(4)).workers
    (0.6666666666666666, 0.3333333333333333)
    """
    if not 1 <= honest <= len(shards):
        raise ValueError(f"honest = {honest!r}; allowed: 1 to {len(shards)}, the shards")
    held = torch.cat(list(shards[:honest]))
    views = (
        dataset.y_train, dataset.y_train[held], dataset.y_test, dataset.y_test[test_indices]
    )  # fmt: skip
    mixes = [label_distribution(label_counts(view, len(dataset.classes))) for view in views]
    return LabelMix(*(tuple(mix.tolist()) for mix in mixes))
