"""The public battery catches rules that are broken, each in one way."""

import random
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch

from wola import attacks
from wola.aggregation import (
    ColumnRule,
    CoordinateMedian,
    GramRule,
    HullGuard,
    Krum,
    Mean,
    Outcome,
    ReferenceRows,
    Rule,
    Solution,
    TrimmedMean,
    View,
)
from wola.mixing import NNM
from wola.testing import check_attack, check_mixing, check_rule

GENERATOR = torch.Generator().manual_seed(0)


class Broken(TrimmedMean):
    """A trimmed mean that a subclass spoils `before` it sees the updates or `after`."""

    def aggregate(self, updates, f, generator=None):
        given = updates
        outcome = super().aggregate(self.before(given, f), f, generator)
        return Outcome(self.after(outcome.update, given, f), outcome.weights, outcome.dropped)

    def before(self, updates, f):
        return updates

    def after(self, result, updates, f):
        return result


def matrix_of(updates):
    return updates if isinstance(updates, torch.Tensor) else torch.stack(list(updates))


class ChangesItsInput(Broken):
    def before(self, updates, f):
        if isinstance(updates, torch.Tensor) and not updates.requires_grad and len(updates) > 1:
            updates.mul_(1.0 + 1e-9)
        return updates


class MovesTorchsRandomState(Broken):
    def after(self, result, updates, f):
        torch.rand(1)
        return result


class MovesNumpysRandomState(Broken):
    def after(self, result, updates, f):
        np.random.random()  # noqa: NPY002 that is what is broken
        return result


class MovesPythonsRandomState(Broken):
    def after(self, result, updates, f):
        random.random()
        return result


class Trembles(Broken):
    def after(self, result, updates, f):
        noise = torch.randn(result.shape[0], generator=GENERATOR).double().numpy()
        return result + 1e-12 * (torch.from_numpy(noise) if torch.is_tensor(result) else noise)


class ForgetsNumpy(Broken):
    def after(self, result, updates, f):
        return torch.as_tensor(result)


class ForgetsTheDtype(Broken):
    def after(self, result, updates, f):
        return result.to(torch.float64) if torch.is_tensor(result) else result


class KeepsTheGradient(Broken):
    def after(self, result, updates, f):
        grad = torch.is_tensor(updates) and updates.requires_grad
        return result + 0 * updates[0] if grad else result


class ReturnsTwoDimensions(Broken):
    def after(self, result, updates, f):
        return result[None]


class LooksAtTheFirstWorker(TrimmedMean):
    def ranked(self, block, f):
        result, clean = super().ranked(block, f)
        return result + 1e-3 * (block[0] - result), clean


class IgnoresTheScale(TrimmedMean):
    def ranked(self, block, f):
        result, clean = super().ranked(block, f)
        return result.clamp(-20, 20), clean


class IsNotTranslated(TrimmedMean):
    def ranked(self, block, f):
        result, clean = super().ranked(block, f)
        return result * 0.999, clean


class SharesMemory(Broken):
    def after(self, result, updates, f):
        return updates[0] if f == 0 and torch.is_tensor(updates) else result


class RefusesHalfPrecision(Broken):
    def before(self, updates, f):
        if getattr(updates, "dtype", None) == torch.bfloat16:
            raise TypeError("no bfloat16")
        return updates


class NeedsContiguousInput(Broken):
    def before(self, updates, f):
        return updates.view(-1).view(updates.shape) if torch.is_tensor(updates) else updates


class CrashesOnNoCoordinates(Broken):
    def before(self, updates, f):
        if matrix_shape(updates)[1] == 0:
            raise IndexError("no coordinates")
        return updates


def matrix_shape(updates):
    return np.shape(updates) if not isinstance(updates, list) else (len(updates), 1)


class AcceptsIntegers(Broken):
    def before(self, updates, f):
        is_int = torch.is_tensor(updates) and updates.dtype == torch.int64
        return updates.double() if is_int else updates


class BreaksInBlocks(TrimmedMean):
    def blocks(self, blocks, f, generator=None):
        return super().blocks(blocks, f, generator) * 1.001


class AcceptsTooMany(TrimmedMean):
    def max_byzantine(self, n):
        return max(0, (n - 1) // 2 - 1)

    def check(self, n, f):
        TrimmedMean().check(n, f)


class SaysNothing(TrimmedMean):
    def check(self, n, f):
        try:
            super().check(n, f)
        except ValueError:
            raise ValueError("not possible") from None


class NanSpreads(TrimmedMean):
    def aggregate(self, updates, f, generator=None):
        outcome = super().aggregate(updates, f, generator)
        values = torch.as_tensor(np.asarray([np.asarray(u.detach().double()) for u in updates]))
        if values.isnan().any():
            return Outcome(outcome.update * float("nan"), None, ())
        return outcome


class LowersNothing(CoordinateMedian):
    """Counts dropped workers as if they were still there: trims by the f that was given."""

    def aggregate(self, updates, f, generator=None):
        outcome = super().aggregate(updates, f, generator)
        if outcome.dropped:
            return Outcome(outcome.update + 1e-3, None, outcome.dropped)
        return outcome


@dataclass(frozen=True)
class OverflowsInFloat32(ColumnRule):
    def columns(self, block, f):
        ranked = block.sort(dim=0).values[f : len(block) - f]
        return ranked.sum(dim=0) / len(ranked)


@dataclass(frozen=True)
class FollowsOne(GramRule):
    """All weight on the first worker: the crowd is not heard."""

    def weigh(self, space, f):
        return np.eye(space.n)[0]


@dataclass(frozen=True)
class DividesByZero(GramRule):
    def weigh(self, space, f):
        with np.errstate(all="ignore"):
            weights = 1 / np.where(np.eye(space.n), np.inf, space.squared_distances).min(axis=1)
        return weights / weights.sum()


@dataclass(frozen=True)
class MajorityOrMean(GramRule):
    """Right when n - f updates are equal, and the mean, which a liar moves, when they differ."""

    def weigh(self, space, f):
        equal = (space.squared_distances == 0).sum(axis=1)
        chosen = np.flatnonzero(equal == equal.max()) if equal.max() >= space.n - f else ...
        weights = np.zeros(space.n)
        weights[chosen] = 1.0
        return weights / weights.sum()


@dataclass(frozen=True)
class TiesGoToTheFirst(GramRule):
    """The mean of the n - f updates nearest to the middle one, chosen by their positions."""

    def weigh(self, space, f):
        distances = space.squared_distances
        middle = np.sort(distances, axis=1)[:, space.n - f - 1].argmin()
        weights = np.zeros(space.n)
        weights[np.argsort(distances[middle], kind="stable")[: space.n - f]] = 1
        return weights / weights.sum()


class VanishesInSmallUpdates(TrimmedMean):
    def ranked(self, block, f):
        result, clean = super().ranked(block, f)
        return torch.where(result.abs() < 1e-100, 0.0, result), clean


class TellsOtherWeights(Krum):
    def weights(self, updates, f, generator=None):
        return super().weights(updates, f, generator) * 0.5


class HalvesEverything(GramRule):
    needs_products: ClassVar[bool] = False

    def weigh(self, space, f):
        return np.full(space.n, 0.5 / space.n)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (ChangesItsInput(), "changed in place|second call"),
        (MovesTorchsRandomState(), "global state of torch"),
        (MovesNumpysRandomState(), "global state of numpy"),
        (MovesPythonsRandomState(), "global state of random"),
        (Trembles(), "same bits|second call"),
        (ForgetsNumpy(), "NumPy array in, Tensor out"),
        (ForgetsTheDtype(), "float32 in, torch.float64 out"),
        (KeepsTheGradient(), "requires a gradient"),
        (ReturnsTwoDimensions(), "expected"),
        (LooksAtTheFirstWorker(), "The order of the workers"),
        (IgnoresTheScale(), "translat|updates times 64"),
        (IsNotTranslated(), "A translation of all updates"),
        (SharesMemory(), "fails '"),
        (RefusesHalfPrecision(), "TypeError: no bfloat16"),
        (NeedsContiguousInput(), "every other row|RuntimeError"),
        (CrashesOnNoCoordinates(), "IndexError: no coordinates"),
        (AcceptsIntegers(), "integers: accepted, expected TypeError"),
        (BreaksInBlocks(), "in blocks of"),
        (AcceptsTooMany(), "accepted, expected ValueError"),
        (SaysNothing(), "the message 'not possible' omits"),
        (NanSpreads(), "NaN worker"),
        (LowersNothing(), "a NaN worker"),
        (OverflowsInFloat32(), "1e38"),
        (FollowsOne(), "order"),
        (DividesByZero(), "fails '"),
        (MajorityOrMean(), "leave the result near the honest"),
        (TellsOtherWeights(), "weights @ updates"),
        (TiesGoToTheFirst(), "The order of tied workers makes no difference.*in the order"),
        (VanishesInSmallUpdates(), "updates times 1e-170"),
        (HalvesEverything(), "weights sum to"),
        (Mean(), "n - f equal updates come back"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_broken_rule_is_caught(rule, message):
    with pytest.raises(AssertionError, match=message) as caught:
        check_rule(rule)
    assert "n = " in str(caught.value)


def test_a_rule_that_only_ignores_the_scale_is_caught_by_the_scale():
    with pytest.raises(AssertionError, match="updates times 64"):
        check_rule(IgnoresTheScale(), translation=False)


def test_a_rule_is_not_blamed_for_what_it_does_not_promise():
    check_rule(Mean(), agreement=False)


def test_a_failing_check_names_rule_property_and_input():
    with pytest.raises(AssertionError) as caught:
        check_rule(Mean())
    text = str(caught.value)
    assert text.startswith("Mean() fails 'n - f equal updates come back")
    assert "n = 11, f = 5, d = 7" in text
    assert "5 updates about 100 away" in text


def test_the_battery_itself_leaves_the_global_random_state_alone():
    states = torch.get_rng_state(), random.getstate()
    check_rule(TrimmedMean())
    check_mixing(NNM())
    check_attack(attacks.SignFlip())
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]


def test_nothing_to_check_is_refused():
    with pytest.raises(AssertionError, match="workers is empty"):
        check_rule(Mean(), workers=())
    with pytest.raises(AssertionError, match="workers is empty"):
        check_mixing(NNM(), workers=())
    with pytest.raises(AssertionError, match="honest is empty"):
        check_attack(attacks.SignFlip(), honest=())


@dataclass(frozen=True)
class TrustsFirstReports(Rule):
    """Reads a report for each worker, but by the place of its row."""

    needs: ClassVar = frozenset({"labels"})

    def solve(self, space, f, generator):
        weights = np.asarray(space.view.labels)[:, 0] * (np.arange(space.n) + 1.0)
        return Solution(space, weights=weights / weights.sum())


@dataclass(frozen=True)
class MostConcentrated(TrustsFirstReports):
    """The mean, weighted by the largest part of each report."""

    def solve(self, space, f, generator):
        weights = np.asarray(space.view.labels).max(axis=1)
        return Solution(space, weights=weights / weights.sum())


def test_reports_go_where_their_updates_go():
    check_rule(MostConcentrated(), labels=3, translation=False, agreement=False)
    with pytest.raises(AssertionError, match="order of the workers makes no difference"):
        check_rule(TrustsFirstReports(), labels=3, translation=False, agreement=False)


def own_row(updates):
    return View(ReferenceRows(mean=torch.linspace(0.5, 1.5, updates.shape[1]).double()))


@dataclass(frozen=True)
class FollowsTheServer(GramRule):
    """The mean of the updates on the server's side of the origin."""

    needs: ClassVar = frozenset({"mean"})

    def landmarks(self, view):
        return view.known.mean()

    def weigh(self, space, f):
        products = space.with_marks.gram[-1, :-1]
        return self.weights_of(products >= -1e-12 * np.abs(products).max())

    def weights_of(self, kept):
        return kept / max(1, kept.sum())


class FollowsTheServersFirst(FollowsTheServer):
    def weights_of(self, kept):
        return np.eye(len(kept))[np.argmax(kept)]


OF_SERVER = {"translation": False, "scale": False, "average": False, "agreement": False}


def test_a_rule_with_server_data_is_tried_at_views_made_for_the_updates():
    check_rule(FollowsTheServer(), view=own_row, **OF_SERVER)
    with pytest.raises(AssertionError, match="order of the workers makes no difference"):
        check_rule(FollowsTheServersFirst(), view=own_row, **OF_SERVER)


def test_a_view_that_listens_to_broken_workers_is_caught():
    def of_all(updates):
        known = updates.nan_to_num(0.0, 0.0, 0.0).clamp(-9, 9)
        return View(ReferenceRows(mean=known.mean(dim=0)))

    with pytest.raises(AssertionError, match="counts as absent"):
        check_rule(FollowsTheServer(), view=of_all, **OF_SERVER)


def test_a_rule_without_what_it_needs_is_caught_and_labels_beside_a_view_are_refused():
    with pytest.raises(AssertionError, match="needs a reference of the server's own"):
        check_rule(FollowsTheServer(), **OF_SERVER)
    with pytest.raises(AssertionError, match="labels and view are both given"):
        check_rule(FollowsTheServer(), view=own_row, labels=3)


def test_a_rule_that_refuses_a_single_worker_is_not_asked_about_one():
    rule = HullGuard(subsets=5, bucket=1, rule=Mean())
    check_rule(rule, labels=1, translation=False, agreement=False, workers=(5,))
