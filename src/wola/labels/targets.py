"""What a batch of logits and targets must be for the loss to mean what it says."""

import torch
from torch import Tensor

SHARES_TOLERANCE = 1e-2


def check_batch(logits: Tensor, targets: Tensor, *, classes: int) -> None:
    """Refuse logits that are not (B, C) and targets that are neither (B,) nor (B, C)."""
    for name, value in (("logits", logits), ("targets", targets)):
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")
    if not logits.is_floating_point():
        raise TypeError(f"logits must be floating-point, got dtype {logits.dtype}")
    if logits.ndim != 2 or logits.shape[1] != classes:
        raise ValueError(
            f"logits must have shape (B, {classes}) for {classes} classes, "
            f"got {tuple(logits.shape)}"
        )
    if targets.dtype == torch.bool or targets.is_complex():
        raise TypeError(
            f"targets must be integer classes or floating-point soft labels, "
            f"got dtype {targets.dtype}"
        )
    expected = logits.shape if targets.is_floating_point() else logits.shape[:1]
    if targets.shape != expected:
        raise ValueError(
            f"targets of dtype {targets.dtype} must have shape {tuple(expected)} for logits of "
            f"shape {tuple(logits.shape)}, got {tuple(targets.shape)}"
        )


def check_classes(targets: Tensor, classes: int, *, ignore_index: int) -> None:
    """Refuse a class outside 0 to C - 1, and a soft label that is not a distribution."""
    if targets.is_floating_point():
        rows = targets.detach()
        fair = (rows >= 0).all(-1) & ((rows.double().sum(-1) - 1).abs() <= SHARES_TOLERANCE)
        if refuted(fair):
            bad = rows[~fair][0].tolist()
            raise ValueError(
                f"targets as soft labels must be finite, non-negative and sum to 1 within "
                f"{SHARES_TOLERANCE}, got {bad}"
            )
        return
    inside = ((targets >= 0) & (targets < classes)) | (targets == ignore_index)
    if refuted(inside):
        raise ValueError(
            f"targets must lie between 0 and {classes - 1} or be ignore_index {ignore_index}, "
            f"got {int(targets[~inside][0])}"
        )


def check_held(targets: Tensor, counts: Tensor, *, ignore_index: int) -> None:
    """Refuse a target of a class that the worker's ``counts`` (C,) do not hold."""
    if counts.device.type != "cpu" or targets.device.type != "cpu":
        return
    if targets.is_floating_point():
        held = ((targets.detach() <= 0) | (counts > 0)).all(0)
        if refuted(held):
            raise _absent(int((~held).nonzero()[0]), counts)
        return
    ignored = targets == ignore_index
    held = (counts[torch.where(ignored, 0, targets).long()] > 0) | ignored
    if refuted(held):
        raise _absent(int(targets[~held][0]), counts)


def refuted(condition: Tensor) -> bool:
    """Whether a condition is seen to fail, where seeing is free; False where it is not.

    Reading a value makes the host wait for an accelerator, breaks a compiled graph, and is
    refused by ``vmap`` with a RuntimeError.
    """
    if condition.device.type != "cpu" or torch.compiler.is_compiling():
        return False
    try:
        return not bool(condition.all())
    except RuntimeError:
        return False


def _absent(label: int, counts: Tensor) -> ValueError:
    return ValueError(
        f"targets must be of classes the worker holds, got class {label} with a count of 0 in "
        f"counts = {counts.tolist()}"
    )
