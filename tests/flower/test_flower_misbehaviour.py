"""Dishonest clients: each departs from honesty in the way its name says, and only there."""

import time

import pytest
import torch

from tests.flower.one_client import (
    CLASSES,
    NODE,
    RUN,
    ask,
    context,
    network,
    query,
    samples,
    train,
    update_in,
)
from wola.flower import wire
from wola.flower.client import wola_client
from wola.flower.error_replies import ClientFailure
from wola.flower.misbehaviour import HUGE, MISBEHAVIOURS, silent
from wola.flower.signing import generate_keypair, verify

SIZE = sum(p.numel() for p in network().parameters())


def client(folder, misbehave=None, data=None, **more):
    return wola_client(
        network(),
        data or samples(),
        classes=CLASSES,
        state=folder / "state",
        misbehave=misbehave,
        **more,
    )


def pair(tmp_path, misbehave):
    """The honest reply to round 1 and the other."""
    sent = [client(tmp_path / str(i), each) for i, each in enumerate((None, misbehave))]
    return [ask(app, train(network(), 1)) for app in sent]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("sign-flip", lambda honest: -honest),
        ("scaled", lambda honest: -10 * honest),
        ("zero", lambda honest: 0 * honest),
        ("infinite", lambda honest: honest.abs() + torch.inf),
        ("nan", lambda honest: torch.cat([honest[:-1], torch.tensor([torch.nan])])),
    ],
)
def test_the_vector_is_bent_as_the_name_says(tmp_path, name, made):
    honest, sent = map(update_in, pair(tmp_path, name))
    torch.testing.assert_close(sent, made(honest), equal_nan=True, rtol=0, atol=0)


def test_noise_is_normal_and_the_same_when_asked_again(tmp_path):
    app = client(tmp_path, "gaussian")
    first, again, later = (update_in(ask(app, train(network(), step))) for step in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, later)
    assert 0.5 < first.std() < 1.5


def test_flipped_labels_are_trained_on_and_counted(tmp_path):
    inputs, labels = samples()
    flipped = client(tmp_path / "a", None, (inputs, CLASSES - 1 - labels))
    liar = client(tmp_path / "b", "label-flip")
    for question in (lambda: train(network(), 1), lambda: query(network())):
        assert wire.digest(ask(liar, question())) == wire.digest(ask(flipped, question()))


def test_all_mass_is_claimed_for_the_rarest_class(tmp_path):
    sent = ask(client(tmp_path, "lie-labels"), query(network()))
    rarest = torch.bincount(samples()[1], minlength=CLASSES).argmin().item()
    expected = [float(c == rarest) for c in range(CLASSES)]
    assert sent[wire.LABELS]["distribution"] == expected


def test_a_huge_number_of_examples_is_claimed_beside_an_honest_update(tmp_path):
    honest, sent = pair(tmp_path, "lie-sizes")
    assert sent["metrics"]["num-examples"] == 1e9
    assert torch.equal(update_in(sent), update_in(honest))


@pytest.mark.parametrize(
    ("name", "dtype", "shape"),
    [
        ("wrong-shape", "float32", (SIZE + 1,)),
        ("wrong-dtype", "float64", (SIZE,)),
        ("huge", "float32", (HUGE,)),
    ],
)
def test_the_array_is_not_what_was_asked_for(tmp_path, name, dtype, shape):
    # Not through Flower's serialisation, which takes its time with 100 MB.
    sent = client(tmp_path, name)(train(network(), 1), context()).content
    array = sent[wire.UPDATE][wire.UPDATE]
    assert (array.dtype, array.shape) == (dtype, shape)
    with pytest.raises(wire.WireError):
        wire.read_arrays(sent, wire.UPDATE, {wire.UPDATE: SIZE})


def test_the_array_has_another_name(tmp_path):
    _, sent = pair(tmp_path, "wrong-keys")
    assert set(sent[wire.UPDATE]) == {"weights"}


def test_of_a_crash_only_its_kind_reaches_the_server(tmp_path):
    with pytest.raises(ClientFailure, match=r"^training failed \(RuntimeError\)$"):
        client(tmp_path, "crash")(train(network(), 1), context())


def test_a_silent_client_answers_late(tmp_path):
    start = time.monotonic()
    ask(client(tmp_path, silent(0.2)), train(network(), 1))
    assert time.monotonic() - start >= 0.2


def test_a_replayed_reply_is_the_first_one_signature_and_all(tmp_path):
    private, _ = generate_keypair(tmp_path, "liar")
    app, where = client(tmp_path, "replay", key=private), context()
    first, second = (ask(app, train(network(), step), where) for step in (1, 2))
    assert second == first
    record = wire.config(second)
    signed = (record[wire.PUBLIC_KEY], record[wire.SIGNATURE], "lab", RUN)
    assert verify(*signed, 1, "train", NODE, wire.digest(second))
    assert not verify(*signed, 2, "train", NODE, wire.digest(second))


@pytest.mark.parametrize("name", sorted(set(MISBEHAVIOURS) - {"replay", "silent", "crash", "huge"}))
def test_a_liar_signs_its_lie(tmp_path, name):
    private, _ = generate_keypair(tmp_path, "liar")
    sent = ask(client(tmp_path, name, key=private), train(network(), 1))
    record = wire.config(sent)
    signed = (record[wire.PUBLIC_KEY], record[wire.SIGNATURE], "lab", RUN, 1, "train", NODE)
    assert verify(*signed, wire.digest(sent))


@pytest.mark.parametrize("name", sorted(set(MISBEHAVIOURS) - {"lie-labels", "label-flip"}))
def test_labels_are_reported_honestly_by_all_who_lie_elsewhere(tmp_path, name):
    honest, sent = (ask(client(tmp_path, each), query(network())) for each in (None, name))
    assert sent == honest


def test_who_misbehaves_may_depend_on_the_node(tmp_path):
    honest = update_in(ask(client(tmp_path / "a"), train(network(), 1)))
    app = client(tmp_path / "b", lambda context: context.node_config.get("misbehave"))
    assert torch.equal(update_in(ask(app, train(network(), 1))), honest)
    bent = ask(app, train(network(), 1), context(partition_id=2, misbehave="sign-flip"))
    assert torch.equal(update_in(bent), -honest)


def test_an_unknown_name_from_the_node_is_an_error(tmp_path, caplog):
    app = client(tmp_path, lambda context: "sign-flop")
    with pytest.raises(ClientFailure, match="ValueError"):
        app(train(network(), 1), context())
    assert "did you mean 'sign-flip'?" in caplog.text
