"""Models: the paper's networks, small ones for small data, and any model as one flat vector."""

from wola.models.build import MODELS, Factory, build, model_for
from wola.models.flat import FlatModel
from wola.models.networks import convnet_cifar10, convnet_mnist, mlp, mlp_purchase100

__all__ = [
    "MODELS",
    "Factory",
    "FlatModel",
    "build",
    "convnet_cifar10",
    "convnet_mnist",
    "mlp",
    "mlp_purchase100",
    "model_for",
]
