"""A client's model: made once in a process, and loaded anew for every message."""

import copy
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import torch
from flwr.app import Context
from torch import nn

from wola.flower.fingerprint import fingerprint
from wola.models import FlatModel


@dataclass(frozen=True, eq=False)
class ReadyModel:
    """A model to be loaded, and the fingerprint of the module that it was made from."""

    flat: FlatModel
    fingerprint: str


class ClientModels:
    """Copies of a client's model for one message each, used again from message to message.

    `model` is a module, or a function of the context; the function is called again for another
    node, run or configuration. The user's module is never changed. Parameters and floating-point
    buffers are what they were in the message before, and to be loaded; counters are as they were
    at first. Messages that are answered at the same time have copies of their own.
    """

    def __init__(
        self, model: nn.Module | Callable[[Context], nn.Module], device: torch.device
    ) -> None:
        self._model, self._device, self._lock = model, device, Lock()
        self._about: Hashable = None
        self._free: list[ReadyModel] = []

    @contextmanager
    def borrowed(self, context: Context) -> Iterator[ReadyModel]:
        """A model for the time of one message; after an error it is not used again."""
        about = self._key(context)
        with self._lock:
            if about != self._about:
                self._about, self._free = about, []
            ready = self._free.pop() if self._free else None
        if ready is None:
            ready = self._made(context)
        ready.flat.reset_counters()
        yield ready
        with self._lock:
            if about == self._about:
                self._free.append(ready)

    def _key(self, context: Context) -> Hashable:
        if isinstance(self._model, nn.Module):
            return ()
        configurations = (context.node_config, context.run_config)
        return context.run_id, context.node_id, *(repr(sorted(c.items())) for c in configurations)

    def _made(self, context: Context) -> ReadyModel:
        module: object = self._model
        if not isinstance(self._model, nn.Module):
            with torch.random.fork_rng(devices=[]):
                module = self._model(context)
            if not isinstance(module, nn.Module):
                raise TypeError(f"model made a {type(module).__name__}; allowed: a torch.nn.Module")
        assert isinstance(module, nn.Module)
        own = copy.deepcopy(module)
        return ReadyModel(FlatModel(own, self._device), fingerprint(own))
