"""Models by name: the registry, factories by import path, and an initialisation of their own."""

from collections.abc import Callable
from importlib import import_module

import torch
from torch import Generator, nn

from wola.ground.checks import check_choice
from wola.models.networks import Shape, convnet_cifar10, convnet_mnist, mlp, mlp_purchase100

Factory = Callable[[Shape, int], nn.Module]

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
    name: str, *, dataset: str, shape: Shape, classes: int, generator: Generator
) -> nn.Module:
    """The model ``name`` for inputs of ``shape`` and ``classes`` outputs, freshly initialised.

    ``name`` is one of ``MODELS``, ``auto`` (see :func:`model_for`), or the import path
    ``pkg.module:factory`` of a function ``factory(shape, classes)`` that returns an
    ``nn.Module``. PyTorch's default initialisation is drawn from ``generator``; the global random
    state is left as it was.

    >>> model = build("auto", dataset="iris", shape=(4,), classes=3, generator=torch.Generator())
    >>> sum(p.numel() for p in model.parameters())
    515
    """
    factory = find_factory(model_for(dataset) if name == "auto" else name)
    seed = int(torch.randint(2**63 - 1, (), generator=generator, device=generator.device))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = factory(tuple(shape), classes)
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise TypeError(f"model = {name!r} made a {kind}; allowed: a torch.nn.Module")
    if not any(True for _ in model.parameters()):
        raise ValueError(f"model = {name!r} has no parameters; allowed: a model that can learn")
    _check_outputs(model, name, shape, classes)
    return model


def find_factory(name: str) -> Factory:
    """The factory behind a name of ``MODELS`` or behind an import path ``pkg.module:factory``.

    >>> find_factory("mpl")
    Traceback (most recent call last):
    ...
    ValueError: model = 'mpl'; did you mean 'mlp'? allowed: auto, convnet-mnist, \
convnet-cifar10, mlp-purchase100, mlp, or pkg.module:factory
    """
    if name in MODELS:
        return MODELS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        try:
            check_choice("model", name, ["auto", *MODELS])
        except ValueError as error:
            raise ValueError(f"{error}, or pkg.module:factory") from None
    try:
        factory = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"model = {name!r} cannot be imported: {error}") from error
    if not callable(factory):
        raise TypeError(f"model = {name!r} is a {type(factory).__name__}; allowed: a function")
    found: Factory = factory
    return found


def _check_outputs(model: nn.Module, name: str, shape: Shape, classes: int) -> None:
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode(), torch.random.fork_rng(devices=[]):
            made = model(torch.zeros(2, *shape))
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
