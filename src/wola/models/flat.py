"""A model whose parameters, and whose running statistics, lie in one flat vector each."""

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class FlatModel:
    """A model over two flat vectors: ``parameters`` (d,) and ``statistics`` (s,).

    The module's own parameters become views into ``parameters``, so that a model is read and
    written as one vector without copies. Weights of convolutions lie there in channels-last
    order, the one in which they are used. ``statistics`` holds the floating-point buffers (the
    running means and variances of batch normalisation); whole-number buffers, such as the count
    of batches, are no part of it and are put back by :meth:`reset_counters`. The module is
    changed, on ``device``, and must not be moved afterwards.

    >>> model = FlatModel(nn.Linear(2, 1))
    >>> model.load(torch.tensor([1.0, 2.0, 3.0]))
    >>> model.module(torch.tensor([[1.0, 1.0]])).item()
    6.0
    """

    def __init__(self, module: nn.Module, device: torch.device | str = "cpu") -> None:
        self.module = module.to(device)
        weights = list(module.parameters())
        self.parameters = _moved_to_one(weights)
        named = list(module.buffers())
        self.statistics = _moved_to_one([b for b in named if b.is_floating_point()])
        self._counters = [(b, b.clone()) for b in named if not b.is_floating_point()]
        self._shapes = [_Piece(weight) for weight in weights]
        self._names = [name for name, _ in module.named_parameters()]

    @property
    def size(self) -> int:
        """How many parameters there are, d."""
        return len(self.parameters)

    def load(self, parameters: Tensor, statistics: Tensor | None = None) -> None:
        """Writes the parameters (d,), and the statistics (s,) if given, in place."""
        self.parameters.copy_(parameters)
        if statistics is not None:
            self.statistics.copy_(statistics)

    def reset_counters(self) -> None:
        """Puts whole-number buffers back to what they were when the model was made."""
        for buffer, initial in self._counters:
            buffer.copy_(initial)

    def store_gradients(self, loss: Tensor, row: Tensor) -> None:
        """Writes the gradient of ``loss`` with respect to the parameters into ``row`` (d,)."""
        weights = list(self.module.parameters())
        gradients = torch.autograd.grad(loss, weights, allow_unused=True)
        start = 0
        for piece, gradient in zip(self._shapes, gradients, strict=True):
            target = piece.view(row[start : start + piece.count])
            if gradient is None:
                target.zero_()
            else:
                target.copy_(gradient)
            start += piece.count

    def views(self, vector: Tensor) -> dict[str, Tensor]:
        """A vector (d,) as parameters, by name and in their shapes: views into it.

        >>> sorted(FlatModel(nn.Linear(2, 1)).views(torch.tensor([1.0, 2.0, 3.0])))
        ['bias', 'weight']
        """
        parts = torch.split(vector, [piece.count for piece in self._shapes])
        named = zip(self._names, self._shapes, parts, strict=True)
        return {name: piece.view(part) for name, piece, part in named}

    def state_dict(self) -> dict[str, Tensor]:
        """The module's state by name: contiguous copies on the CPU."""
        state = self.module.state_dict()
        return {
            key: value.detach().cpu().clone(memory_format=torch.contiguous_format)
            for key, value in state.items()
        }


class _Piece:
    """How one tensor lies in the flat vector: as it is, or channels-last."""

    def __init__(self, tensor: Tensor) -> None:
        self.count = tensor.numel()
        self.shape = tuple(tensor.shape)

    def view(self, values: Tensor) -> Tensor:
        """The ``count`` values in the tensor's shape."""
        if len(self.shape) != 4:
            return values.view(self.shape)
        outputs, inputs, height, width = self.shape
        return values.view(outputs, height, width, inputs).permute(0, 3, 1, 2)


def _moved_to_one(tensors: Iterable[Tensor]) -> Tensor:
    held = list(tensors)
    if not held:
        return torch.empty(0, dtype=torch.float32)
    pieces = [_Piece(tensor) for tensor in held]
    flat = held[0].detach().new_empty(sum(piece.count for piece in pieces))
    start = 0
    for tensor, piece in zip(held, pieces, strict=True):
        view = piece.view(flat[start : start + piece.count])
        view.copy_(tensor.detach())
        tensor.data = view
        start += piece.count
    return flat
