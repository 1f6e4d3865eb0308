"""What a batch of logits and targets must be for the loss to mean what it says."""

import torch
from torch import Tensor

from wola.labels.cross_entropy import class_axis

SHARES_TOLERANCE = 1e-2


def check_batch(logits: Tensor, targets: Tensor, *, classes: int) -> None:
    """Refuse logits without C classes, and targets that fit them neither as classes nor softly.

    Logits are (B, C, d1, ...) or (C,); targets the same without C, or soft labels of one shape.
    """
    for name, value in (("logits", logits), ("targets", targets)):
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(value).__name__}")
    if not logits.is_floating_point():
        raise TypeError(f"logits must be floating-point, got dtype {logits.dtype}")
    axis = class_axis(logits)
    if logits.ndim == 0 or logits.shape[axis] != classes:
        raise ValueError(
            f"logits must have shape (B, {classes}, ...) or ({classes},) for {classes} classes, "
            f"got {tuple(logits.shape)}"
        )
    if targets.dtype == torch.bool or targets.is_complex():
        raise TypeError(
            f"targets must be integer classes or floating-point soft labels, "
            f"got dtype {targets.dtype}"
        )
    single = logits.shape[:axis] + logits.shape[axis + 1 :]
    expected = logits.shape if targets.is_floating_point() else single
    if targets.shape != expected:
        raise ValueError(
            f"targets of dtype {targets.dtype} must have shape {tuple(expected)} for logits of "
            f"shape {tuple(logits.shape)}, got {tuple(targets.shape)}"
        )


def check_classes(targets: Tensor, classes: int, *, ignore_index: int) -> None:
    """Refuse a class outside 0 to C - 1, and a soft label that is not a distribution."""
    if targets.is_floating_point():
        rows = targets.detach().movedim(class_axis(targets), -1)
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
    label = first_outside(targets, counts > 0, ignore_index=ignore_index)
    if label is not None:
        raise ValueError(
            f"targets must be of classes the worker holds, got class {label} with a count of 0 in "
            f"counts = {counts.tolist()}"
        )


def first_outside(targets: Tensor, inside: Tensor, *, ignore_index: int) -> int | None:
    """A class that ``targets`` have and the mask ``inside`` (C,) lacks, None where not seen."""
    if inside.device.type != "cpu" or targets.device.type != "cpu":
        return None
    if targets.is_floating_point():
        rows = targets.detach().movedim(class_axis(targets), -1).reshape(-1, len(inside))
        held = ((rows <= 0) | inside).all(0)
        return int((~held).nonzero()[0]) if refuted(held) else None
    ignored = targets == ignore_index
    held = inside[torch.where(ignored, 0, targets).long()] | ignored
    return int(targets[~held][0]) if refuted(held) else None


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
