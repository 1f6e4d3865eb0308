"""A module of kernels as its Python text: the rules run on it without anything being compiled."""

import importlib.util
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from tests.reference import Array
from tests.rules import updates
from wola.aggregation import columns


def hard_updates() -> list[Array]:
    """Updates (7, 15) with one far away, with four alike, and with one that is not finite."""
    far, twins, broken = updates(7, 15), updates(7, 15), updates(7, 15)
    far[2] *= 1e20
    twins[4:] = twins[0]
    broken[3, 3] = np.nan
    return [far, twins, broken]


def uncompiled(
    monkeypatch: pytest.MonkeyPatch, kernels: ModuleType, *users: ModuleType
) -> dict[str, int]:
    """Let modules that use `kernels` use a plain copy; how often each of its kernels is called."""
    with monkeypatch.context() as patch:
        patch.setattr(numba, "njit", lambda *given, **_: given[0] if given else lambda f: f)
        spec = importlib.util.spec_from_file_location("plain_kernels", kernels.__file__)
        plain = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(plain)
    calls: dict[str, int] = {}

    def counting(name: str, kernel: Any) -> Any:
        def counted(*given: Any) -> Any:
            calls[name] = calls.get(name, 0) + 1
            return kernel(*given)

        return counted

    for name, kernel in vars(kernels).items():
        if isinstance(kernel, numba.core.dispatcher.Dispatcher) and not name.startswith("_"):
            setattr(plain, name, counting(name, getattr(plain, name)))
    name = kernels.__name__.rpartition(".")[2]
    for user in users:
        monkeypatch.setattr(user, name, plain)
    monkeypatch.setattr(columns, "UNROLL_AFTER", 10**12)
    return calls
