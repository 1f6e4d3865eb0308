"""The fingerprint of a model: whether two ends mean the same by a flat vector."""

from hashlib import sha256

from torch import nn

from wola.flower.canonical_bytes import length_prefixed

#: Changes whenever `FlatModel` puts the same model into another order.
LAYOUT = 1


def fingerprint(module: nn.Module) -> str:
    """SHA-256, in hex, of names, shapes and dtypes of parameters and buffers, in their order.

    Two modules with the same fingerprint read a flat vector in the same way. What they compute
    from it (a Tanh in place of a ReLU) is not seen.

    >>> fingerprint(nn.Linear(3, 2)) == fingerprint(nn.Linear(3, 2))
    True
    >>> fingerprint(nn.Linear(3, 2)) == fingerprint(nn.Linear(2, 3))
    False
    """
    parts = [f"wola layout {LAYOUT}"]
    for kind, named in (
        ("parameter", module.named_parameters()),
        ("buffer", module.named_buffers()),
    ):
        parts += [f"{kind} {name} {tuple(each.shape)} {each.dtype}" for name, each in named]
    return sha256(length_prefixed(*(part.encode() for part in parts))).hexdigest()
