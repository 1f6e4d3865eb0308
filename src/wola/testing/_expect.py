"""What the battery is made of: cases, inputs made from a seed, expectations, and their runner."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

#: Of any subject: the result for updates of any accepted form, always with an equal generator.
Call = Callable[[Any, int], Any]

#: Rounding allowed relative to the largest value involved, by dtype.
ROUNDING = {
    torch.float64: 1e-7,
    torch.float32: 1e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
}


@dataclass(frozen=True)
class Case:
    """n workers, f of them Byzantine, d coordinates."""

    n: int
    f: int
    d: int = 7

    def __str__(self) -> str:
        return f"n = {self.n}, f = {self.f}, d = {self.d}"

    def updates(self, seed: int = 1, dtype: torch.dtype = torch.float64) -> Tensor:
        """Updates without ties around a point that is not the origin, (n, d)."""
        return normal(self.n, self.d, seed=seed).add(0.5).to(dtype)

    def tied_updates(self) -> dict[str, Tensor]:
        """Updates in which much is tied, (n, d): duplicates, whole numbers, equal distances."""
        whole = normal(self.n, self.d, seed=5).round().clamp(-1, 1)
        half = torch.arange(self.n) % ((self.n + 1) // 2)
        steps = torch.arange(self.n, dtype=torch.float64)[:, None]
        return {
            "duplicated rows": self.updates(seed=2)[half],
            "small whole numbers": whole,
            "equally spaced rows": 3.0 * steps.expand(-1, self.d),
            "equal distances": torch.eye(self.n, dtype=torch.float64),
        }


@dataclass(frozen=True)
class Property:
    """A named statement that must hold in each of its cases."""

    name: str
    holds: Callable[[Case], None]
    cases: tuple[Case, ...]


def normal(*shape: int, seed: int) -> Tensor:
    """Standard normal numbers in float64 from a generator of their own."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def column_blocks(updates: Tensor, *widths: int) -> list[Tensor]:
    """The columns of the updates in blocks of these widths."""
    ends = np.cumsum(widths).tolist()
    return [updates[:, end - width : end] for width, end in zip(widths, ends, strict=True)]


def fresh_generator(seed: int = 0) -> torch.Generator:
    """A generator in the same state at every call."""
    return torch.Generator().manual_seed(20_240 + seed)


def run(subject: object, properties: Iterable[Property]) -> None:
    """Try every property in each of its cases; AssertionError for the first that fails."""
    for prop in properties:
        for case in prop.cases:
            try:
                prop.holds(case)
            except Exception as error:
                # A crash inside the subject is a failed property too; keep its own story.
                kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
                raise AssertionError(
                    f"{subject} fails '{prop.name}' with {case}: {kind}{error}"
                ) from error


def properties_of(
    cases: Iterable[Case], *functions: Callable[..., None], **given: Any
) -> list[Property]:
    """One property for each function, named by its docstring, with `given` filled in."""
    every = tuple(cases)
    return [
        Property(_first_line(function), partial(function, **given), every) for function in functions
    ]


def _first_line(function: Callable[..., None]) -> str:
    return (function.__doc__ or function.__name__).partition("\n")[0].rstrip(".")


def expect(condition: bool, message: str) -> None:
    """Raise an AssertionError with the message unless the condition holds (also under -O)."""
    if not condition:
        raise AssertionError(message)


def as_double(values: Any) -> Tensor:
    """Any result as a float64 tensor on the CPU."""
    return torch.as_tensor(values).detach().cpu().double()


def expect_close(
    actual: Any, expected: Any, *, size: Any = None, tolerance: float, what: str
) -> None:
    """Same shape, and equal up to `tolerance` times the largest value of `expected` or `size`."""
    a, e = as_double(actual), as_double(expected)
    expect(a.shape == e.shape, f"{what}: shape {tuple(a.shape)}, expected {tuple(e.shape)}")
    if not e.numel():
        return
    reference = e if size is None else torch.cat([e.flatten(), as_double(size).flatten()])
    largest = float(reference.nan_to_num(0.0, 0.0, 0.0).abs().max())
    same = torch.isclose(a, e, rtol=0.0, atol=tolerance * largest, equal_nan=True)
    if not bool(same.all()):
        at = tuple(int(i) for i in (~same).nonzero()[0])
        raise AssertionError(f"{what}: {float(a[at])!r} at {at}, expected {float(e[at])!r}")


def expect_same_rows(actual: Any, expected: Any, *, tolerance: float, what: str) -> None:
    """The rows are the same up to rounding and their order, each as often."""
    a, e = as_double(actual), as_double(expected)
    expect(a.shape == e.shape, f"{what}: shape {tuple(a.shape)}, expected {tuple(e.shape)}")
    largest = float(e.nan_to_num(0.0, 0.0, 0.0).abs().max()) if e.numel() else 0.0
    left = list(range(len(e)))
    for i, row in enumerate(a):
        match = [
            k
            for k in left
            if torch.allclose(row, e[k], rtol=0.0, atol=tolerance * largest, equal_nan=True)
        ]
        expect(bool(match), f"{what}: row {i} is {row.tolist()}, which is not among the expected")
        left.remove(match[0])


def expect_same_bits(actual: Any, expected: Any, what: str) -> None:
    """Equal to the last bit, NaN equal to NaN."""
    expect_close(actual, expected, tolerance=0.0, what=what)


def expect_error(
    kind: type[Exception] | tuple[type[Exception], ...],
    action: Callable[[], Any],
    what: str,
    *mentions: str,
) -> None:
    """`action` raises `kind`, and the message contains every one of `mentions`."""
    allowed = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
    try:
        action()
    except kind as error:
        for mention in mentions:
            expect(mention in str(error), f"{what}: the message {str(error)!r} omits {mention!r}")
    except Exception as error:
        raise AssertionError(
            f"{what}: raised {type(error).__name__} ({error}), expected {allowed}"
        ) from error
    else:
        raise AssertionError(f"{what}: accepted, expected {allowed}")


def random_state() -> list[Any]:
    """The state of every global random number generator."""
    legacy: Any = np.random.get_state()  # noqa: NPY002 the global state is what must not move
    name, keys, *rest = legacy
    return [torch.get_rng_state().tolist(), (name, keys.tolist(), *rest), random.getstate()]
