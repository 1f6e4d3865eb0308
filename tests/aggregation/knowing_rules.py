"""Rules that must know more than the updates, and what the battery shows them of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from tests.aggregation.bowl import Bowl
from wola.aggregation import (
    BOBA,
    ERR,
    LFR,
    ByGARS,
    ByGARSPlusPlus,
    CenteredClipping,
    CoordinateMedian,
    FLTrust,
    FoolsGold,
    GReco,
    HullGuard,
    LFRandERR,
    Mean,
    MoNNA,
    ReferenceRows,
    Rule,
    SoftSetHull,
    View,
    Zeno,
    ZenoPlusPlus,
)
from wola.aggregation.soft_set_hull import pair_name
from wola.mixing import NNM

CLASSES = 3


@dataclass(frozen=True)
class KnowingEntry:
    """A rule, how its view is made, and the options of `check_rule` that it needs."""

    rule: Rule
    view: Callable[[Tensor], View] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.rule)


def own(updates: Tensor) -> View:
    """The server's own update."""
    row = torch.linspace(0.5, 1.5, updates.shape[1], dtype=torch.float64)
    return View(ReferenceRows(mean=row, lr=0.1))


def class_rows(updates: Tensor) -> View:
    """A row of the server's for each class."""
    columns = torch.arange(updates.shape[1], dtype=torch.float64)
    rows = torch.stack([torch.cos((c + 1) * columns + c) for c in range(CLASSES)])
    return View(ReferenceRows(classes=rows))


def bowl(updates: Tensor) -> View:
    """Losses and gradients wherever a step leads."""
    return View(Bowl.of(updates.shape[1]))


def kept_numbers(updates: Tensor) -> View:
    """The server's own update, and a number that is kept of each worker."""
    q = {i: torch.tensor(0.25, dtype=torch.float64) for i in range(len(updates))}
    return View(own(updates).reference, memory=q)


def kept_sums(updates: Tensor) -> View:
    """A row that is kept of each worker, the same of all."""
    row = torch.linspace(-1.0, 2.0, updates.shape[1], dtype=torch.float64)
    return View(memory=dict.fromkeys(range(len(updates)), row))


def kept_cosines(updates: Tensor) -> View:
    """Cosines that are kept of each pair of workers, the same of all."""
    values = torch.tensor([3.0, 0.3, 0.2], dtype=torch.float64)
    names = range(len(updates))
    return View(memory={pair_name(i, j): values for i in names for j in names})


def nothing_kept(updates: Tensor) -> View:
    """The first round."""
    return View()


_OF_SERVER = {"translation": False, "scale": False, "agreement": False}
_NO_AVERAGE = {**_OF_SERVER, "average": False}
_OF_LABELS = {"translation": False, "agreement": False}

KNOWING = [
    KnowingEntry(FLTrust(), own, _NO_AVERAGE),
    KnowingEntry(ZenoPlusPlus(), own, _NO_AVERAGE),
    KnowingEntry(ZenoPlusPlus(rho=0.02, epsilon=0.5), own, _NO_AVERAGE),
    KnowingEntry(MoNNA(own=False), own, _OF_SERVER),
    KnowingEntry(NNM() | FLTrust(), own, _NO_AVERAGE),
    KnowingEntry(BOBA(), class_rows, _OF_SERVER),
    KnowingEntry(BOBA(least=0.0, iterations=3), class_rows, _OF_SERVER),
    KnowingEntry(NNM() | BOBA(), class_rows, _OF_SERVER),
    KnowingEntry(Zeno(), bowl, _OF_SERVER),
    KnowingEntry(Zeno(rho=0.2, samples=1), bowl, _OF_SERVER),
    KnowingEntry(LFR(), bowl, _OF_SERVER),
    KnowingEntry(LFR(Mean()), bowl, _OF_SERVER),
    KnowingEntry(ERR(), bowl, _OF_SERVER),
    KnowingEntry(ERR(CoordinateMedian()), bowl, _OF_SERVER),
    KnowingEntry(LFRandERR(), bowl, _OF_SERVER),
    KnowingEntry(ByGARS(), bowl, _NO_AVERAGE),
    KnowingEntry(ByGARS(steps=1, unit=False, length="server"), bowl, _NO_AVERAGE),
    KnowingEntry(ByGARSPlusPlus(), kept_numbers, _NO_AVERAGE),
    KnowingEntry(ByGARSPlusPlus(unit=True, length="server"), kept_numbers, _NO_AVERAGE),
    KnowingEntry(FoolsGold(), nothing_kept, _NO_AVERAGE),
    KnowingEntry(FoolsGold(), kept_sums, _NO_AVERAGE),
    KnowingEntry(FoolsGold(total=True), kept_sums, _NO_AVERAGE),
    KnowingEntry(SoftSetHull(), nothing_kept, _NO_AVERAGE),
    KnowingEntry(SoftSetHull(), kept_cosines, _NO_AVERAGE),
    KnowingEntry(CenteredClipping(tau=2.0, history=True), nothing_kept, _NO_AVERAGE),
    # Unit vectors know no translation, and a liar far away is a representative.
    KnowingEntry(GReco(), None, {**_OF_LABELS, "labels": 3}),
    KnowingEntry(GReco(2), None, {**_OF_LABELS, "labels": 5}),
    KnowingEntry(NNM() | GReco(), None, {**_OF_LABELS, "labels": 3}),
    KnowingEntry(HullGuard(subsets=60), None, {**_OF_LABELS, "labels": 2}),
    KnowingEntry(HullGuard(subsets=60, bucket=1, rule=Mean()), None, {**_OF_LABELS, "labels": 2}),
    KnowingEntry(NNM() | HullGuard(subsets=60), None, {**_OF_LABELS, "labels": 2}),
]
