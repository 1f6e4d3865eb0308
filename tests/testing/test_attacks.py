"""The public battery catches attacks that are broken, each in one way; ours pass."""

import pytest
import torch

from wola import attacks
from wola.testing import check_attack
from wola.training import ATTACKS


class BrokenAttack(attacks.SignFlip):
    def __call__(self, honest, f, rule=None, generator=None):
        return self.after(super().__call__(honest, f, rule, generator), honest, f)


class SendsOneTooMany(BrokenAttack):
    def after(self, sent, honest, f):
        return torch.cat([sent, sent[:1]]) if torch.is_tensor(sent) else sent


class AttackForgetsTheDtype(BrokenAttack):
    def after(self, sent, honest, f):
        return sent.to(torch.float64) if torch.is_tensor(sent) else sent


class AttackForgetsNumpy(BrokenAttack):
    def after(self, sent, honest, f):
        return torch.as_tensor(sent)


class AttackChangesItsInput(BrokenAttack):
    def after(self, sent, honest, f):
        if torch.is_tensor(honest) and not honest.requires_grad and honest.numel():
            honest[-1, -1] += 1e-6
        return sent


class DrawsGlobally(BrokenAttack):
    def after(self, sent, honest, f):
        return sent + torch.randn(sent.shape).to(sent.dtype) if torch.is_tensor(sent) else sent


class CopiesTheFirst(BrokenAttack):
    def after(self, sent, honest, f):
        return sent + honest[0] if torch.is_tensor(honest) else sent


class SendsViews(BrokenAttack):
    def after(self, sent, honest, f):
        return honest[:f] if torch.is_tensor(honest) else sent


class ClaimsTooMuch(BrokenAttack):
    """Claims scale-equivariance, and squares what it sees."""

    def after(self, sent, honest, f):
        seen = torch.is_tensor(honest) and honest.dtype == torch.float64 and honest.numel()
        return sent * (honest.square().sum() > 0) if seen else sent


class PrefersTheFirstOfTwins(BrokenAttack):
    """Sends more if its first worker has a twin in the middle."""

    def after(self, sent, honest, f):
        half = len(honest) // 2
        twins = torch.is_tensor(honest) and honest.numel() and torch.equal(honest[0], honest[half])
        return 2 * sent if twins else sent


def attacks_as_a_majority(honest, f, rule=None, generator=None):
    if f >= len(honest):
        f, honest = 0, honest[:0]
        return honest
    return attacks.SignFlip()(honest, f)


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        (SendsOneTooMany(), r"expected \(1, 7\)"),
        (AttackForgetsTheDtype(), "float32 in, torch.float64 out"),
        (AttackForgetsNumpy(), "NumPy array in, Tensor out"),
        (AttackChangesItsInput(), "fails '"),
        (DrawsGlobally(), "another global seed"),
        (CopiesTheFirst(), "Another order of the honest workers"),
        (SendsViews(), "fails '"),
        (ClaimsTooMuch(), r"A positive factor on the honest updates.*times 2\^-997"),
        (PrefersTheFirstOfTwins(), "order .* of duplicated workers"),
        (attacks_as_a_majority, "Half of all workers or more is refused"),
        (attacks.MimicStatic(0), "Another order of the honest workers"),
    ],
    ids=lambda value: (
        getattr(value, "__name__", type(value).__name__) if not isinstance(value, str) else ""
    ),
)
def test_a_broken_attack_is_caught(attack, message):
    with pytest.raises(AssertionError, match=message) as caught:
        check_attack(attack)
    assert "n = " in str(caught.value)


LIBRARY = [
    (attacks.ALIE(), {}),
    (attacks.FOE(), {}),
    (attacks.SignFlip(), {}),
    (attacks.ScaledSignFlip(3.0), {}),
    (attacks.Gaussian(), {}),
    (attacks.Infinite(), {}),
    (attacks.NaN(), {}),
    (attacks.Zero(), {}),
    (attacks.Mimic(), {}),
    (attacks.MimicStatic(2), {"permutation": False}),
    (attacks.MimicVariance().fresh(), {}),
    (attacks.MinMax(), {}),
    (attacks.MinSum(), {}),
    (attacks.OptimalALIE(evaluations=6), {}),
    # A longer search finds lengths that float16 does not hold.
    (attacks.OptimalFOE(evaluations=9), {}),
    (attacks.FangKrum(), {}),
    (attacks.FangKrum(knowledge="partial"), {}),
    (attacks.FangTrim(), {}),
    (attacks.FangTrim(knowledge="partial"), {}),
    (attacks.Tilt(evaluations=6), {}),
    (attacks.Tilt(angle=50.0), {}),
    (attacks.PoisonedFL(), {}),
    (attacks.WorstOf((attacks.FOE(), attacks.ALIE())), {}),
    (attacks.SpanSearch(evaluations=10), {}),
    (attacks.Beyond(), {}),
    (attacks.Patient(rounds=1, attack=attacks.FOE()), {"permutation": False}),
    (attacks.Patient(rounds=0, attack=attacks.FOE()), {}),
]


@pytest.mark.parametrize(
    ("attack", "options"),
    LIBRARY,
    ids=lambda value: "" if isinstance(value, dict) else str(value),
)
def test_every_attack_of_the_library_passes(attack, options):
    check_attack(attack, **options)


def test_no_attack_on_updates_is_left_out_of_the_battery():
    on_updates = {kind for kind in ATTACKS.values() if issubclass(kind, attacks.Attack)}
    assert all(any(isinstance(attack, kind) for attack, _ in LIBRARY) for kind in on_updates)


class SendsOneTooFew(attacks.FangTrim):
    """Has partial knowledge, and forgets one of the attackers."""

    def partial_rows(self, own, n, rule, generator):
        return own[1:].clone()


def test_attacks_with_partial_knowledge_are_held_to_the_same():
    with pytest.raises(AssertionError, match=r"shape \(0, 7\), expected \(1, 7\)"):
        check_attack(SendsOneTooFew(knowledge="partial"))
