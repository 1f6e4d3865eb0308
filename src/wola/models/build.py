"""Models by name, and how one is made with an initialisation of its own."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Generator, nn

from wola.models.networks import Shape, convnet_cifar10, convnet_mnist, mlp, mlp_purchase100
from wola.parts import Prepared

#: What makes a model: called with the shape of an input and the number of classes, or with nothing.
Factory = Callable[..., nn.Module]

#: Every model that a scenario can name.
MODELS: dict[str, Factory] = {
    "convnet-mnist": convnet_mnist,
    "convnet-cifar10": convnet_cifar10,
    "mlp-purchase100": mlp_purchase100,
    "mlp": mlp,
}

_OF_DATASET = {
    "mnist": "convnet-mnist",
    "fashion-mnist": "convnet-mnist",
    "cifar10": "convnet-cifar10",
    "purchase100": "mlp-purchase100",
}


def model_for(dataset: str) -> str:
    """The name that ``auto`` stands for: the paper's network for its datasets, else ``mlp``.

    >>> model_for("fashion-mnist"), model_for("digits")
    ('convnet-mnist', 'mlp')
    """
    return _OF_DATASET.get(dataset, "mlp")


def build(
    factory: Factory, *, name: str, shape: Shape, classes: int, generator: Generator
) -> nn.Module:
    """The model that a factory makes for inputs of ``shape`` and ``classes`` outputs.

    A factory is called as ``factory(shape, classes)``, one that takes neither without arguments,
    as a plain class is. PyTorch's default initialisation is drawn from ``generator``; the global
    random state is left as it was. Whatever PyTorch's default dtype is, a model that names none is
    made in float32. ``name`` is what an error calls the model.

    >>> model = build(mlp, name="mlp", shape=(4,), classes=3, generator=torch.Generator())
    >>> sum(p.numel() for p in model.parameters())
    515
    """
    seed = int(torch.randint(2**63 - 1, (), generator=generator, device=generator.device))
    with torch.random.fork_rng(devices=[]), _float32():
        torch.default_generator.manual_seed(seed)
        try:
            model = factory(tuple(shape), classes) if _takes_shape(factory) else factory()
        except (RuntimeError, ValueError, TypeError) as error:
            raise ValueError(
                f"model = {name!r} cannot be made for inputs of shape {tuple(shape)} and {classes} "
                f"classes: {error}"
            ) from error
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise TypeError(f"model = {name!r} made a {kind}; allowed: a torch.nn.Module")
    if not any(True for _ in model.parameters()):
        raise ValueError(f"model = {name!r} has no parameters; allowed: a model that can learn")
    _check_outputs(model, name, shape, classes)
    return model


@contextmanager
def _float32() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _takes_shape(factory: Factory) -> bool:
    called = factory.factory if isinstance(factory, Prepared) else factory
    parameters = inspect.signature(called).parameters.values()
    named = {p.name for p in parameters}
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    return {"shape", "classes"} <= named or len(required) >= 2


def _check_outputs(model: nn.Module, name: str, shape: Shape, classes: int) -> None:
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode(), torch.random.fork_rng(devices=[]):
            made = model(torch.zeros(2, *shape, dtype=torch.float32))
    except RuntimeError as error:
        raise ValueError(
            f"model = {name!r} does not take inputs of shape {tuple(shape)}: {error}"
        ) from error
    finally:
        model.train(was_training)
    if made.shape != (2, classes):
        raise ValueError(
            f"model = {name!r} gives outputs {tuple(made.shape)} for 2 samples; allowed: "
            f"(2, {classes}), one logit per class"
        )
