"""Gradients of all workers at once, for networks of linear layers: batched products."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from wola.models import FlatModel
from wola.training.batches import Batch

_ACTIVATIONS = (nn.ReLU, nn.Tanh)


@dataclass(frozen=True)
class _Linear:
    """Where a linear layer lies in the flat vector: `start`, its `outputs` and `inputs`."""

    start: int
    outputs: int
    inputs: int
    bias: bool

    @property
    def middle(self) -> int:
        return self.start + self.outputs * self.inputs

    def weight(self, flat: Tensor) -> Tensor:
        """The weight (..., outputs, inputs) in flat vectors (..., d)."""
        return flat[..., self.start : self.middle].view(*flat.shape[:-1], self.outputs, self.inputs)

    def shift(self, flat: Tensor) -> Tensor:
        """The bias (..., outputs) in flat vectors (..., d)."""
        return flat[..., self.middle : self.middle + self.outputs]


class DenseGradients:
    """Gradients for an ``nn.Sequential`` of Flatten, Linear, ReLU and Tanh, all workers stacked.

    The samples of m workers go through the network as one batch, and the chain rule, written out
    layer by layer, ends in one batched product per layer: gradient i is delta_i^T x_i over the
    samples of worker i. The parameters are one vector for all workers, or a row for each.
    """

    def __init__(self, model: FlatModel) -> None:
        assert isinstance(model.module, nn.Sequential)
        self.layers: list[_Linear | nn.Module] = []
        start = 0
        for layer in model.module:
            if isinstance(layer, nn.Linear):
                bias = layer.bias is not None
                self.layers.append(_Linear(start, layer.out_features, layer.in_features, bias))
                start += layer.out_features * (layer.in_features + bias)
            elif isinstance(layer, _ACTIVATIONS):
                self.layers.append(layer)

    @staticmethod
    def fits(module: nn.Module) -> bool:
        """Whether the network is one of these."""
        if not isinstance(module, nn.Sequential) or not len(module):
            return False
        flatten, *others = list(module) if isinstance(module[0], nn.Flatten) else [None, *module]
        starts_flat = not isinstance(flatten, nn.Flatten) or (
            flatten.start_dim == 1 and flatten.end_dim == -1
        )
        plain = all(type(layer) in (nn.Linear, *_ACTIVATIONS) for layer in others)
        tied = len(list(module.parameters())) != sum(
            1 + (layer.bias is not None) for layer in others if isinstance(layer, nn.Linear)
        )
        floats = all(p.requires_grad for p in module.parameters())
        return starts_flat and plain and floats and not tied and isinstance(others[-1], nn.Linear)

    def store(self, parameters: Tensor, batch: Batch, rows: Tensor) -> None:
        """Writes the gradients of the m workers' losses at ``parameters`` (d,) or (m, d) to rows.

        ``rows`` is (m, d).
        """
        values = batch.inputs.flatten(2)
        seen: list[Tensor] = []
        for layer in self.layers:
            seen.append(values)
            if isinstance(layer, _Linear):
                values = values @ layer.weight(parameters).mT
                if layer.bias:
                    values = values + layer.shift(parameters).unsqueeze(-2)
            else:
                values = layer(values)
        delta = _output_delta(values, batch)
        for k in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[k]
            if isinstance(layer, _Linear):
                torch.bmm(delta.mT, seen[k], out=layer.weight(rows))
                if layer.bias:
                    torch.sum(delta, dim=1, out=layer.shift(rows))
                if k > 0:
                    delta = delta @ layer.weight(parameters)
            elif isinstance(layer, nn.ReLU):
                delta = delta * seen[k + 1].sign()
            else:
                delta = delta * (1 - seen[k + 1].square())


def _output_delta(logits: Tensor, batch: Batch) -> Tensor:
    """Derivative of each worker's `weighted_cross_entropy` with respect to its logits (m, B, C)."""
    shares = batch.weights.gather(1, batch.labels) / batch.labels.shape[1]
    if batch.factors is not None:
        logits = logits * batch.factors.unsqueeze(1)
    if batch.shifts is not None:
        logits = logits + batch.shifts.unsqueeze(1)
    if batch.margins is not None:
        own = batch.margins.gather(1, batch.labels).unsqueeze(-1)
        logits = logits.scatter_add(-1, batch.labels.unsqueeze(-1), -own)
    # Along the first dimension softmax runs over whole vectors, not over ten numbers at a time.
    delta = logits.movedim(-1, 0).softmax(0).movedim(0, -1).contiguous()
    ones = torch.ones_like(batch.labels, dtype=delta.dtype).unsqueeze(-1)
    delta.scatter_add_(-1, batch.labels.unsqueeze(-1), -ones).mul_(shares.unsqueeze(-1))
    return delta if batch.factors is None else delta.mul_(batch.factors.unsqueeze(1))
