"""Tables and pictures of partitions and samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from rich.table import Table
from torch import Tensor

from wola.data.dataset import Dataset
from wola.ground.names import worker_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Blue to yellow in steady lightness: the same order for every kind of colour vision.
COLOURS = "cividis"
MANY_CLASSES = 20


def partition_table(
    counts: Tensor,
    *,
    honest: int | None = None,
    classes: Sequence[str] | None = None,
    title: str | None = None,
) -> Table:
    """Samples per worker (rows) and class (columns), with totals, from ``counts`` (n, C).

    Beyond 20 classes a row names the number of classes held and the largest instead.

    >>> partition_table(torch.tensor([[3, 1], [0, 2]]), honest=1).row_count
    3
    """
    rows = _checked(counts, honest)
    names = list(classes) if classes is not None else [str(c) for c in range(rows.shape[1])]
    total = rows[: honest if honest is not None else len(rows)].sum(dim=0)
    labelled = [*zip(worker_names(len(rows), honest), rows, strict=True), ("honest", total)]
    table = Table(title=title)
    table.add_column("worker", justify="right")
    few = len(names) <= MANY_CLASSES
    for column in names if few else ("classes", "largest", "of it"):
        table.add_column(column, justify="right")
    table.add_column("samples", justify="right")
    for name, row in labelled:
        if name == "honest":
            table.add_section()
        largest = int(row.argmax())
        cells = (
            [str(int(value)) if value else "·" for value in row]
            if few
            else [str(int((row > 0).sum())), names[largest], str(int(row[largest]))]
        )
        table.add_row(name, *cells, f"{int(row.sum()):,}")
    return table


def partition_figure(
    counts: Tensor,
    *,
    honest: int | None = None,
    classes: Sequence[str] | None = None,
    title: str | None = None,
) -> Figure:
    """A map of ``counts`` (n, C): workers across, classes down, brighter for more samples.

    >>> len(partition_figure(torch.tensor([[3, 1], [0, 2]])).axes)
    2
    """
    rows = _checked(counts, honest)
    n, c = rows.shape
    figure = _figure(width=min(3 + 0.38 * n, 16), height=min(1.8 + 0.3 * c, 10))
    axes = figure.add_subplot()
    image = axes.imshow(rows.T.numpy(), cmap=COLOURS, aspect="auto", interpolation="nearest")
    names = worker_names(n, honest)
    step = 1 + n // 40
    axes.set_xticks(range(0, n, step), names[::step])
    step = 1 + c // 40
    labels = list(classes) if classes is not None else [str(label) for label in range(c)]
    axes.set_yticks(range(0, c, step), labels[::step])
    axes.set_xlabel("worker" if honest in (None, n) else "worker (B: Byzantine)")
    axes.set_ylabel("class")
    if honest is not None and honest < n:
        axes.axvline(honest - 0.5, color="white", linewidth=2)
    if title:
        axes.set_title(title)
    figure.colorbar(image, label="samples")
    return figure


def sample_figure(dataset: Dataset, *, per_class: int = 8) -> Figure:
    """The first training samples of each class (up to 20 of them): images, or rows of features.

    >>> from wola.data.load import load
    >>> len(sample_figure(load("digits"), per_class=2).axes)
    20
    """
    if per_class < 1:
        raise ValueError(f"per_class = {per_class!r}; allowed: an int >= 1")
    shown = dataset.classes[:MANY_CLASSES]
    chosen = [torch.nonzero(dataset.y_train == c).flatten()[:per_class] for c in range(len(shown))]
    if dataset.x_train.ndim == 4:
        return _image_grid(dataset, shown, chosen, per_class)
    figure = _figure(width=8, height=1.5 + 0.25 * len(shown))
    axes = figure.add_subplot()
    rows = dataset.standardise(dataset.x_train[torch.cat(chosen)])
    image = axes.imshow(rows.numpy(), cmap=COLOURS, aspect="auto", interpolation="nearest")
    ends = np.cumsum([len(part) for part in chosen])
    axes.set_yticks(ends - [(len(part) + 1) / 2 for part in chosen], shown)
    for end in ends[:-1]:
        axes.axhline(end - 0.5, color="white", linewidth=1)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("feature")
    axes.set_title(dataset.name)
    figure.colorbar(image, label="standardised value")
    return figure


def _image_grid(
    dataset: Dataset, shown: Sequence[str], chosen: Sequence[Tensor], per_class: int
) -> Figure:
    figure = _figure(width=1.6 + 0.7 * per_class, height=0.6 + 0.7 * len(shown))
    grid = figure.subplots(len(shown), per_class, squeeze=False)
    for name, line, indices in zip(shown, grid, chosen, strict=True):
        for axes in line:
            axes.axis("off")
        for axes, index in zip(line, indices.tolist(), strict=False):
            _draw_image(axes, dataset.x_train[index], dataset.scale)
        line[0].text(-0.15, 0.5, name, transform=line[0].transAxes, ha="right", va="center")
    figure.suptitle(dataset.name)
    return figure


def _draw_image(axes: Axes, image: Tensor, scale: float) -> None:
    pixels = image.movedim(0, -1).to(torch.float32).div(scale)
    if pixels.shape[-1] == 3:
        axes.imshow(pixels.clamp(0, 1).numpy(), interpolation="nearest")
    else:
        axes.imshow(pixels[..., 0].numpy(), cmap="gray", interpolation="nearest")


def _figure(*, width: float, height: float) -> Figure:
    # Imported where it is used, since most who import wola draw nothing.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _checked(counts: Tensor, honest: int | None) -> Tensor:
    if counts.ndim != 2 or counts.numel() == 0:
        raise ValueError(f"counts has shape {tuple(counts.shape)}; allowed: (n, C), not empty")
    if honest is not None and not 1 <= honest <= len(counts):
        raise ValueError(f"honest = {honest!r}; allowed: 1 to {len(counts)}")
    return counts.detach().cpu()
