"""Which models are told apart."""

from hashlib import sha256

import pytest
from torch import nn

from wola.flower.fingerprint import fingerprint
from wola.models import FlatModel, convnet_cifar10


def reference():
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))


def with_another_name():
    named = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    named.add_module("last", nn.Linear(4, 2))
    return named


def without_buffers():
    bare = reference()
    bare[1] = nn.BatchNorm1d(4, track_running_stats=False)
    return bare


@pytest.mark.parametrize(
    "other",
    [
        nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 3)),
        nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2, bias=False)),
        nn.Sequential(
            nn.Linear(3, 4), nn.BatchNorm1d(4, track_running_stats=False), nn.Linear(4, 2)
        ),
        nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.BatchNorm1d(4)),
        with_another_name(),
        reference().double(),
        reference()[:2],
    ],
)
def test_another_layout_has_another_fingerprint(other):
    assert fingerprint(other) != fingerprint(reference())


def test_values_and_flattening_leave_the_fingerprint_alone():
    one, other = convnet_cifar10(), convnet_cifar10()
    before = fingerprint(one)
    FlatModel(one).parameters.fill_(3.0)
    assert fingerprint(one) == fingerprint(other) == before
    assert len(before) == 64
    assert int(before, 16)


def test_the_fingerprint_is_what_its_definition_says():
    parts = (
        "wola layout 1",
        "parameter weight (1, 2) torch.float32",
        "parameter bias (1,) torch.float32",
    )
    data = b"".join(len(part).to_bytes(8, "big") + part.encode() for part in parts)
    assert fingerprint(nn.Linear(2, 1)) == sha256(data).hexdigest()
