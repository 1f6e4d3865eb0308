"""What a server holds is drawn as it says, and its labels are wrong as often as it says."""

import pytest
import torch

from wola.data import EqualShare, PriorShare, SkewedShare

LABELS = torch.arange(2000) % 10


def drawn(share, labels=LABELS, classes=10, seed=3):
    return share.draw(labels, classes, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("share", "counts"),
    [
        (EqualShare(samples=100), [10] * 10),
        (EqualShare(samples=13), [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]),
        (SkewedShare(samples=100), [50, 6, 6, 6, 6, 6, 5, 5, 5, 5]),
        (SkewedShare(samples=100, bias=1.0), [100] + [0] * 9),
        (SkewedShare(samples=90, bias=0.0), [0] + [10] * 9),
    ],
)
def test_the_classes_are_held_as_asked(share, counts):
    indices = drawn(share)
    assert indices.unique().tolist() == indices.tolist()
    assert torch.bincount(LABELS[indices], minlength=10).tolist() == counts


def test_a_prior_draws_from_all_samples_alike():
    labels = (torch.arange(4000) % 4 == 0).long()
    indices = drawn(PriorShare(samples=1000), labels, 2)
    assert len(indices.unique()) == 1000
    # 250 expected, standard deviation 11.9 without replacement.
    assert abs(int(labels[indices].sum()) - 250) < 60


def test_another_seed_draws_others_and_the_same_seed_the_same():
    assert drawn(EqualShare(), seed=1).tolist() == drawn(EqualShare(), seed=1).tolist()
    assert drawn(EqualShare(), seed=1).tolist() != drawn(EqualShare(), seed=2).tolist()


@pytest.mark.parametrize("noise", [0.0, 0.25, 1.0])
def test_the_share_of_wrong_labels_is_exact(noise):
    labels = LABELS[:200]
    noisy = EqualShare(noise=noise).noisy(labels, 10, torch.Generator().manual_seed(0))
    assert int((noisy != labels).sum()) == int(noise * 200)
    assert int(noisy.min()) >= 0
    assert int(noisy.max()) < 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EqualShare(samples=0), "samples = 0"),
        (lambda: EqualShare(noise=1.5), "noise = 1.5"),
        (lambda: SkewedShare(bias=-0.1), "bias = -0.1"),
        (lambda: drawn(EqualShare(samples=2000)), "samples = 2000; allowed: fewer than the 2000"),
        (lambda: drawn(SkewedShare(samples=900)), "450 samples of class 0; allowed: at most 200"),
    ],
)
def test_what_cannot_be_held_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()
