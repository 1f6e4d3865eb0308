"""The paper's figure on iris: how far the gradients of the three classes point apart."""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from wola.bench.store import Store
from wola.ground.files import write_whole
from wola.ground.tables import sealed_table
from wola.models import build, mlp
from wola.training.metrics import cosine
from wola.training.streams import stream

#: The learning rate and the number of steps; the paper gives neither.
LR, STEPS = 0.1, 200

#: The share of each class that trains the network; the rest tests it.
TRAIN_SHARE = 0.7

_Samples = tuple[Tensor, Tensor]


def class_gradient_cosines(*, steps: int = STEPS, lr: float = LR, seed: int = 1) -> pl.DataFrame:
    """Trains a network with one hidden layer on iris by gradient descent on the whole batch.

    A row for the model after each step t = 0, ..., `steps`: the training `loss`, the test
    `accuracy` in percent, and for every two classes a, b the cosine of g_a and g_b, the gradients
    of the mean loss over the training samples of one class each. 70 percent of every class train
    and 30 test. Reference: the section on class-wise gradients of the WoLA paper; R. A. Fisher,
    The use of multiple measurements in taxonomic problems, Annals of Eugenics, 1936.

    >>> class_gradient_cosines(steps=2).columns[:3]
    ['step', 'loss', 'accuracy']
    """
    if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
        raise ValueError(f"steps = {steps!r}; allowed: an int >= 0")
    if not 0 < lr < float("inf"):
        raise ValueError(f"lr = {lr!r}; allowed: a finite number > 0")
    (x, y), (x_test, y_test), names = _split(seed)
    model = build(
        mlp,
        name="mlp",
        shape=(x.shape[1],),
        classes=len(names),
        generator=stream(seed, "initialisation"),
    )
    rows = []
    for step in range(steps + 1):
        gradients = [_gradient(model, x[y == c], y[y == c]) for c in range(len(names))]
        with torch.no_grad():
            loss = float(cross_entropy(model(x), y))
            accuracy = 100.0 * float((model(x_test).argmax(1) == y_test).double().mean())
        row: dict[str, float | None] = {"step": step, "loss": loss, "accuracy": accuracy}
        for a, b in combinations(range(len(names)), 2):
            row[f"cosine_{names[a]}_{names[b]}"] = cosine(gradients[a], gradients[b])
        rows.append(row)
        _descend(model, x, y, lr)
    return pl.DataFrame(rows)


def keep_iris(store: Store) -> Path:
    """Writes the numbers of the figure to ``figures/iris.parquet`` of a store."""
    path = store.path / "figures" / "iris.parquet"
    write_whole(path, sealed_table(class_gradient_cosines()))
    return path


def _split(seed: int) -> tuple[_Samples, _Samples, list[str]]:
    from sklearn.datasets import load_iris

    bunch = load_iris()
    inputs, labels = torch.from_numpy(bunch.data).float(), torch.from_numpy(bunch.target).long()
    names = [str(name) for name in bunch.target_names]
    chosen = np.zeros(len(labels), dtype=bool)
    for c in range(len(names)):
        rows = torch.nonzero(labels == c).flatten()
        order = torch.randperm(len(rows), generator=stream(seed, "split", c))
        chosen[rows[order[: round(TRAIN_SHARE * len(rows))]]] = True
    train = torch.from_numpy(chosen)
    mean, deviation = inputs[train].mean(0), inputs[train].std(0)
    scaled = (inputs - mean) / deviation
    return (scaled[train], labels[train]), (scaled[~train], labels[~train]), names


def _gradient(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    grads = torch.autograd.grad(cross_entropy(model(x), y), list(model.parameters()))
    return torch.cat([grad.flatten() for grad in grads])


def _descend(model: nn.Module, x: Tensor, y: Tensor, lr: float) -> None:
    parameters = list(model.parameters())
    grads = torch.autograd.grad(cross_entropy(model(x), y), parameters)
    with torch.no_grad():
        for parameter, grad in zip(parameters, grads, strict=True):
            parameter.sub_(grad, alpha=lr)
