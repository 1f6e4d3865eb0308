"""What an attack remembers from round to round, saved and taken up again."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor


def check_keys(state: Mapping[str, Any], keys: Iterable[str]) -> None:
    """Raise a ValueError if a state does not have just these keys.

    >>> check_keys({"round": 1}, ["round", "worker"])
    Traceback (most recent call last):
    ...
    ValueError: state has keys ['round']; allowed: ['round', 'worker']
    """
    if set(state) != set(keys):
        raise ValueError(f"state has keys {sorted(state)}; allowed: {sorted(keys)}")


def saved(memory: object) -> dict[str, Any]:
    """The fields of a memory: tensors as copies, and plain values."""
    return {name: _copy(value) for name, value in vars(memory).items()}


def restore(memory: object, state: Mapping[str, Any]) -> None:
    """Go on from what `saved` gave."""
    check_keys(state, vars(memory))
    for name, value in state.items():
        setattr(memory, name, _copy(value))


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value
