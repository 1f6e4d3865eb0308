"""What holds for anything that takes updates: forms, dtypes, purity, determinism, bad input."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import torch

from wola.testing._expect import (
    ROUNDING,
    Call,
    Case,
    Property,
    as_double,
    expect,
    expect_close,
    expect_error,
    expect_same_bits,
    normal,
    properties_of,
    random_state,
)

_EXACT = ROUNDING[torch.float64]


def call_properties(call: Call, cases: Iterable[Case]) -> list[Property]:
    """The properties of any call on updates."""
    return properties_of(
        cases,
        same_call_same_bits,
        input_untouched,
        global_random_state_untouched,
        forms_agree,
        layouts_agree,
        dtype_and_device_are_kept,
        gradients_left_behind,
        one_coordinate_or_none,
        bad_input_refused,
        call=call,
    )


def same_call_same_bits(case: Case, *, call: Call) -> None:
    """The same call twice gives the same bits."""
    updates = case.updates()
    expect_same_bits(call(updates, case.f), call(updates, case.f), "second call")


def input_untouched(case: Case, *, call: Call) -> None:
    """The input is never changed."""
    for dtype in ROUNDING:
        updates = case.updates(dtype=dtype)
        before = updates.clone()
        result = call(updates, case.f)
        expect(torch.equal(updates, before), f"{dtype} updates were changed in place")
        own = result.untyped_storage().data_ptr() != updates.untyped_storage().data_ptr()
        expect(own or not result.numel(), f"the result shares the memory of {dtype} updates")
    array = case.updates().numpy()
    kept = array.copy()
    call(array, case.f)
    expect(np.array_equal(array, kept), "the NumPy updates were changed in place")


def global_random_state_untouched(case: Case, *, call: Call) -> None:
    """The global random state is never touched."""
    updates, before = case.updates(), random_state()
    call(updates, case.f)
    for name, old, new in zip(("torch", "numpy", "random"), before, random_state(), strict=True):
        expect(old == new, f"the global state of {name} moved")


def forms_agree(case: Case, *, call: Call) -> None:
    """A matrix or a sequence, of torch or NumPy, gives one answer of the kind that came in."""
    updates = case.updates()
    array = updates.numpy()
    expected = call(updates, case.f)
    expect(isinstance(expected, torch.Tensor), f"tensor in, {type(expected).__name__} out")
    forms: dict[str, tuple[Any, type]] = {
        "list of tensors": (list(updates), torch.Tensor),
        "tuple of tensors": (tuple(updates), torch.Tensor),
        "NumPy array": (array, np.ndarray),
        "list of NumPy arrays": (list(array), np.ndarray),
    }
    for name, (form, kind) in forms.items():
        result = call(form, case.f)
        expect(isinstance(result, kind), f"{name} in, {type(result).__name__} out")
        expect_same_bits(result, expected, name)
    half = call(array.astype(np.float16), case.f)
    expect(
        isinstance(half, np.ndarray) and half.dtype == np.float16,
        f"NumPy float16 in, {getattr(half, 'dtype', type(half).__name__)} out",
    )


def layouts_agree(case: Case, *, call: Call) -> None:
    """Strided, transposed, reversed and read-only inputs give the same answer."""
    updates = case.updates()
    expected = call(updates, case.f)
    every_other = torch.zeros(2 * case.n, 2 * case.d, dtype=updates.dtype)[::2, ::2]
    every_other.copy_(updates)
    read_only = updates.numpy().copy()
    read_only.flags.writeable = False
    layouts: dict[str, Any] = {
        "every other row and column": every_other,
        "a transposed matrix": updates.T.contiguous().T,
        "rows of an expanded tensor": [row[None].expand(2, -1)[1] for row in updates],
        "a NumPy array in Fortran order": np.asfortranarray(updates.numpy()),
        "a NumPy view with negative strides": updates.numpy()[::-1].copy()[::-1],
        "a read-only NumPy array": read_only,
    }
    for name, layout in layouts.items():
        expect_same_bits(call(layout, case.f), expected, name)


def dtype_and_device_are_kept(case: Case, *, call: Call) -> None:
    """float64, float32, float16 and bfloat16 are accepted and kept, and so is the device."""
    for dtype in ROUNDING:
        updates = case.updates(dtype=dtype)
        result = call(updates, case.f)
        expect(result.dtype == dtype, f"{dtype} in, {result.dtype} out")
        expect(result.device == updates.device, f"{updates.device} in, {result.device} out")


def equivariances(
    call: Call, cases: Iterable[Case], *, translation: bool, scale: bool
) -> list[Property]:
    """What a call promises of updates that are all moved, or all stretched."""
    claimed = [(translation, translations_pass_through), (scale, positive_factors_pass_through)]
    return properties_of(cases, *(f for given, f in claimed if given), call=call)


def translations_pass_through(case: Case, *, call: Call) -> None:
    """A translation of all updates translates the result."""
    for length in (1.0, 1e3):
        updates, shift = case.updates(), length * normal(case.d, seed=7)
        expected = as_double(call(updates, case.f)) + shift
        result = call(updates + shift, case.f)
        what = f"updates plus a vector of length about {length:g}"
        expect_close(result, expected, size=updates, tolerance=_EXACT, what=what)


def positive_factors_pass_through(case: Case, *, call: Call) -> None:
    """A positive factor on all updates is a factor on the result."""
    for factor in (0.37, 64.0, 1e-12, 1e12, 1e-170, 1e160, 1e-300, 1e300):
        updates = case.updates()
        expected = factor * as_double(call(updates, case.f))
        result = call(factor * updates, case.f)
        what = f"updates times {factor:g}"
        expect_close(result, expected, size=factor * updates, tolerance=_EXACT, what=what)


def dtypes_agree(case: Case, *, call: Call) -> None:
    """Every dtype gives what float64 gives, up to its own rounding."""
    for dtype, tolerance in ROUNDING.items():
        updates = case.updates(dtype=dtype)
        result, exact = call(updates, case.f), call(updates.double(), case.f)
        expect_close(result, exact, size=updates, tolerance=tolerance, what=f"{dtype}")


def gradients_left_behind(case: Case, *, call: Call) -> None:
    """Updates that require a gradient are accepted, and the result is detached."""
    updates = case.updates()
    expected = call(updates, case.f)
    for form in (
        updates.clone().requires_grad_(),
        [row.requires_grad_() for row in case.updates()],
    ):
        result = call(form, case.f)
        expect(not result.requires_grad, "the result requires a gradient")
        expect_same_bits(result, expected, "updates that require a gradient")


def one_coordinate_or_none(case: Case, *, call: Call) -> None:
    """d = 1 and d = 0 are ordinary."""
    for d in (1, 0):
        small = Case(case.n, case.f, d)
        result = call(small.updates(), case.f)
        expect(result.shape[-1] == d, f"d = {d} in, shape {tuple(result.shape)} out")


def bad_input_refused(case: Case, *, call: Call) -> None:
    """Wrong shapes, dtypes, forms and f are refused with the right error."""
    x, f = case.updates(), case.f
    ragged = [*x[:-1], x[-1, :-1]]
    wrong: list[tuple[str, type[Exception], Any, Any]] = [
        ("an empty sequence", ValueError, [], 0),
        ("a matrix without rows", ValueError, x[:0], 0),
        ("one dimension", ValueError, x[0], f),
        ("three dimensions", ValueError, x[None], f),
        ("rows of different lengths", ValueError, ragged, f),
        ("rows that are matrices", ValueError, [x, x, x], 1),
        ("integers", TypeError, x.long(), f),
        ("NumPy integers", TypeError, x.long().numpy(), f),
        ("booleans", TypeError, x > 0, f),
        ("complex numbers", TypeError, x.to(torch.complex64), f),
        ("rows of different dtypes", TypeError, [*x[:-1], x[-1].float()], f),
        ("lists of floats", TypeError, x.tolist(), f),
        ("None", TypeError, None, f),
        ("f = -1", ValueError, x, -1),
        ("f = 1.0", TypeError, x, 1.0),
        ("f = n", ValueError, x, case.n),
    ]
    for what, kind, updates, count in wrong:
        expect_error(kind, partial(call, updates, count), what)
    for flag in (True, False):
        expect_error((TypeError, ValueError), partial(call, x, flag), f"f = {flag}")
