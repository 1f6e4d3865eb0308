"""Data of the server's own, for a run and for a loop of one's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.func import functional_call
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import parameters_to_vector

from wola.ground.checks import check_number, check_whole
from wola.labels import label_counts
from wola.models import FlatModel

#: The mean loss of logits (B, C) and labels (B,): a function, or a module such as `WoLALoss`.
LossFunction: TypeAlias = Callable[[Tensor, Tensor], Tensor]

#: Samples that go through the model at once where no gradient is needed.
MEASURED_BATCH = 500


@dataclass(frozen=True, eq=False)
class ServerData:
    """Clean samples that the server holds: `inputs` (S, ...), `labels` (S,) of `classes` C.

    ``data.at(model, lr)`` is what a rule such as `FLTrust`, `BOBA` or `Zeno` needs in a round:

    >>> from wola.aggregation import FLTrust, View
    >>> data = ServerData(torch.eye(2), torch.tensor([0, 1]), classes=2)
    >>> model = nn.Linear(2, 2, bias=False)
    >>> _ = nn.init.zeros_(model.weight)
    >>> updates = torch.tensor([[-0.2, 0.2, 0.2, -0.2], [0.2, 0.0, 0.0, 0.2], [9.0, -9.0, -9.0, 9]])
    >>> FLTrust().at(View(data.at(model, lr=0.1)))(updates, f=1)
    tensor([-0.2500,  0.2500,  0.2500, -0.2500])
    """

    inputs: Tensor
    labels: Tensor
    classes: int

    def __post_init__(self) -> None:
        check_whole("classes", self.classes, least=1)
        for name in ("inputs", "labels"):
            if not isinstance(getattr(self, name), Tensor):
                kind = type(getattr(self, name)).__name__
                raise TypeError(f"{name} is a {kind}; allowed: a torch.Tensor")
        if self.labels.ndim != 1 or self.labels.is_floating_point() or not len(self.labels):
            raise ValueError(
                f"labels have shape {tuple(self.labels.shape)} and dtype {self.labels.dtype}; "
                "allowed: one whole number for each of at least one sample"
            )
        if len(self.inputs) != len(self.labels):
            raise ValueError(
                f"{len(self.inputs)} inputs and {len(self.labels)} labels; allowed: as many of both"
            )
        label_counts(self.labels, self.classes)
        object.__setattr__(self, "labels", self.labels.detach().to(torch.int64))

    @property
    def counts(self) -> Tensor:
        """How many samples of each class there are, (C,) int64, on the CPU."""
        return label_counts(self.labels.cpu(), self.classes)

    def check_every_class(self) -> None:
        """A ValueError that names the classes without a sample, if there are any."""
        missing = [str(c) for c in (self.counts == 0).nonzero()[:, 0].tolist()]
        if missing:
            raise ValueError(
                f"the server holds no sample of class {', '.join(missing)}; allowed: samples of "
                f"all {self.classes} classes"
            )

    def beside(self, parameters: Tensor) -> ServerData:
        """The same where the parameters are, floating-point inputs in their dtype."""
        inputs = self.inputs.to(parameters.device)
        inputs = inputs.to(parameters.dtype) if inputs.is_floating_point() else inputs
        return ServerData(inputs, self.labels.to(parameters.device), self.classes)

    def at(
        self, model: nn.Module | FlatModel, lr: float, loss: LossFunction = F.cross_entropy
    ) -> DataReference:
        """The data seen through a model as it is now: a `Reference` for ``rule.at(View(...))``.

        `lr` is the learning rate with which the aggregate will be applied, `loss` the loss that
        the workers train on: plain cross-entropy, or one of this library, such as
        ``WoLALoss(data.counts, q)``.
        """
        return DataReference(self, model, lr, loss)


class DataReference:
    """A `Reference` of data and a model, as `ServerData.at` gives it.

    Rows are gradients on all samples, in the mode, training or evaluation, that the module is in:
    the one in which your workers train. Dropout then draws from a copy of torch's random state,
    which is left as it is. Momentum, l2 and clipping are not included: if your workers send
    momenta, keep one of :meth:`mean` in the same way and give it as ``ReferenceRows(mean=m)``.
    Losses and gradients at other points are taken in evaluation mode. The model is copied where it
    stands and left as it is, running statistics and counters too. Rows of a module are in the order
    of ``torch.nn.utils.parameters_to_vector``, those of a `FlatModel` in its own.
    """

    def __init__(
        self, data: ServerData, model: nn.Module | FlatModel, lr: float, loss: LossFunction
    ) -> None:
        self.lr = check_number("lr", lr, above=0)
        self.loss = loss
        self._is_flat = isinstance(model, FlatModel)
        self._module = model.module if isinstance(model, FlatModel) else model
        named = dict(self._module.named_parameters())
        if not named:
            raise ValueError("model has no parameters; allowed: a model that can learn")
        if isinstance(model, FlatModel):
            self._start = model.parameters.clone()
            self._views: Callable[[Tensor], dict[str, Tensor]] = model.views
        else:
            self._start = parameters_to_vector(named.values()).detach()
            self._views = _plain_views({name: p.shape for name, p in named.items()})
        self._buffers = {name: each.clone() for name, each in self._module.named_buffers()}
        self.data = data.beside(self._start)
        self._rows: dict[str, Tensor] = {}

    def mean(self) -> Tensor:
        """The gradient of the loss on all samples, (1, d); computed once."""
        if "mean" not in self._rows:
            data = self.data
            row = self._gradient(self._start, data.inputs, data.labels, self.loss)
            self._rows["mean"] = row[None]
        return self._rows["mean"]

    def classes(self) -> Tensor:
        """The gradient of plain cross-entropy on the samples of each class, (C, d)."""
        if "classes" not in self._rows:
            self.data.check_every_class()
            rows = []
            for c in range(self.data.classes):
                chosen = self.data.labels == c
                inputs, labels = self.data.inputs[chosen], self.data.labels[chosen]
                rows.append(self._gradient(self._start, inputs, labels, F.cross_entropy))
            self._rows["classes"] = torch.stack(rows)
        return self._rows["classes"]

    def measure(
        self,
        steps: Iterable[Tensor],
        *,
        samples: int | None = None,
        generator: Generator | None = None,
    ) -> NDArray[np.float64]:
        """Cross-entropy and error rate at theta - lr step for each step (d,): (k, 2).

        With `samples` on so many of the server's, drawn without replacement.
        """
        inputs, labels = self.data.inputs, self.data.labels.cpu()
        if samples is not None and samples < len(labels):
            chosen = torch.randperm(len(labels), generator=generator)[:samples]
            inputs, labels = inputs[chosen.to(inputs.device)], labels[chosen]
        found = []
        for step in steps:
            with _evaluating(self._module), torch.inference_mode():
                there = self._moved(step)
                parts = [self._logits(there, part) for part in torch.split(inputs, MEASURED_BATCH)]
                logits = torch.cat(parts).cpu()
            loss = F.cross_entropy(logits.double(), labels)
            found.append((float(loss), float((logits.argmax(1) != labels).double().mean())))
        return np.array(found).reshape(-1, 2)

    def gradient(self, step: Tensor) -> Tensor:
        """The gradient of the loss on all samples at theta - lr step, (d,)."""
        with _evaluating(self._module):
            there = self._moved(step)
            return self._gradient(there, self.data.inputs, self.data.labels, self.loss)

    def _moved(self, step: Tensor) -> Tensor:
        return self._start - self.lr * step.to(self._start)

    def _gradient(
        self, point: Tensor, inputs: Tensor, labels: Tensor, loss: LossFunction
    ) -> Tensor:
        leaf = point.detach().requires_grad_()
        devices = [leaf.device] if leaf.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            (row,) = torch.autograd.grad(loss(self._logits(leaf, inputs), labels), [leaf])
        return row

    def _logits(self, point: Tensor, inputs: Tensor) -> Tensor:
        # The weights of convolutions lie in channels-last order in a flat model.
        if self._is_flat and inputs.ndim == 4:
            inputs = inputs.to(memory_format=torch.channels_last)
        # Batch normalisation writes to the buffers it is given: to copies.
        buffers = {name: each.clone() for name, each in self._buffers.items()}
        made: Tensor = functional_call(self._module, {**self._views(point), **buffers}, (inputs,))
        return made


def _plain_views(shapes: dict[str, torch.Size]) -> Callable[[Tensor], dict[str, Tensor]]:
    sizes = [shape.numel() for shape in shapes.values()]

    def views(vector: Tensor) -> dict[str, Tensor]:
        parts = zip(shapes.items(), torch.split(vector, sizes), strict=True)
        return {name: part.view(shape) for (name, shape), part in parts}

    return views


@contextmanager
def _evaluating(module: nn.Module) -> Iterator[None]:
    """Evaluation mode for a while; each part of the module is then in the mode it was in."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, training in modes:
            part.training = training
