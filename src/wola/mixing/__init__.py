"""Mixings: what runs before a rule, each a matrix over the workers."""

from wola.mixing.angle_nnm import AngleNNM
from wola.mixing.arc import ARC
from wola.mixing.bucketing import Bucketing
from wola.mixing.clip_largest import ClipLargest
from wola.mixing.clipping import Clipping
from wola.mixing.finite_only import FiniteOnly
from wola.mixing.foundation_fl import FoundationFL
from wola.mixing.mixing import Chain, Mixing, MixingChain
from wola.mixing.nnm import NNM

__all__ = [
    "ARC",
    "NNM",
    "AngleNNM",
    "Bucketing",
    "Chain",
    "ClipLargest",
    "Clipping",
    "FiniteOnly",
    "FoundationFL",
    "Mixing",
    "MixingChain",
]
