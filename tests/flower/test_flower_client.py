"""The client, asked directly: its numbers against float64 by hand, its memory, its silence."""

import copy
import logging
import subprocess
import sys

import pytest
import torch
from flwr.app import RecordDict
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from tests.flower.one_client import (
    CLASSES,
    NODE,
    RECIPE,
    RUN,
    Q,
    ask,
    context,
    evaluation,
    header,
    message,
    network,
    query,
    samples,
    train,
    update_in,
)
from tests.flower.own_loss import ConstantWeight
from tests.models.factories import normalised_convnet, tiny_convnet
from tests.training.plain import batch_of, generator, gradient
from wola.flower import wire
from wola.flower.client import wola_client
from wola.flower.error_replies import ClientFailure
from wola.flower.fingerprint import fingerprint
from wola.flower.recipe import Recipe
from wola.flower.signing import generate_keypair, load_public_keys, verify
from wola.labels import LaplaceMechanism
from wola.models import FlatModel
from wola.training import Round, Scenario, assemble

WORKER = 2


def by_hand(module, data, step, momentum, recipe=RECIPE, worker=WORKER):
    """The momentum in float64 after a round with one local step."""
    inputs, labels = data
    counts = torch.tensor([int((labels == c).sum()) for c in range(CLASSES)]).double()
    weights = torch.tensor(Q, dtype=torch.float64) / (counts / counts.sum())
    chosen = batch_of(torch.arange(len(labels)), recipe.batch, recipe.seed, worker, step)
    if recipe.loss == "cross-entropy":
        weights = torch.ones(CLASSES, dtype=torch.float64)
    elif recipe.loss == "wola-batch":
        seen = torch.tensor([int((labels[chosen] == c).sum()) for c in range(CLASSES)]).double()
        # A class that is absent from the batch is infinitely heavy, and never used.
        weights = torch.tensor(Q, dtype=torch.float64) / (seen / seen.sum())
    model = copy.deepcopy(module).double()
    parts = gradient(
        model, inputs[chosen].double(), labels[chosen], weights, l2=recipe.l2, clip=recipe.clip
    )
    g = torch.cat([part.flatten() for part in parts])
    return recipe.beta * momentum + (1 - recipe.beta) * g


@pytest.fixture
def app(tmp_path):
    return wola_client(network(), samples(), classes=CLASSES, state=tmp_path / "state")


@pytest.mark.parametrize("loss", [ConstantWeight(), "tests.flower.own_loss:ConstantWeight"])
@pytest.mark.parametrize("named", ["wola", "nobody.has:This"])
def test_a_clients_own_loss_takes_the_place_of_the_servers(tmp_path, loss, named):
    app = wola_client(network(), samples(), classes=CLASSES, loss=loss, state=tmp_path)
    recipe = Recipe(batch=8, beta=0.0, clip=5.0, l2=0.1, seed=5)
    inputs, labels = samples()
    chosen = batch_of(torch.arange(len(labels)), 8, 5, WORKER, 1)
    model = network().double()
    parts = gradient(
        model,
        inputs[chosen].double(),
        labels[chosen],
        torch.full((CLASSES,), 2.0, dtype=torch.float64),
        l2=0.1,
        clip=5.0,
    )
    expected = torch.cat([part.flatten() for part in parts])
    sent = update_in(ask(app, train(network(), 1, recipe, loss=named)))
    torch.testing.assert_close(sent.double(), expected, rtol=1e-5, atol=1e-7)


def test_a_server_cannot_make_a_client_import_a_module(tmp_path, monkeypatch, caplog):
    mark = tmp_path / "imported"
    code = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
    (tmp_path / "client_trap.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    app = wola_client(network(), samples(), classes=CLASSES, state=tmp_path / "state")
    sent = ask(app, train(network(), 1, loss="client_trap:Loss"))
    refused = wire.config(sent)[wire.REFUSED]
    assert refused.startswith("loss = 'client_trap:Loss'; allowed from a server: cross-entropy")
    assert refused.endswith("yours: wola_client(loss=...)")
    assert refused in caplog.text
    assert wire.UPDATE not in sent
    assert not mark.exists()
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("loss", ["wola", "wola-batch", "cross-entropy"])
def test_the_update_is_the_momentum_by_hand_over_several_rounds(app, loss):
    recipe = Recipe(batch=8, lr=0.5, beta=0.75, clip=0.5, l2=0.1, seed=5, loss=loss)
    expected = torch.zeros(sum(p.numel() for p in network().parameters()), dtype=torch.float64)
    for step in (1, 2, 3):
        module = network(seed=step)
        expected = by_hand(module, samples(), step, expected, recipe)
        sent = ask(app, train(module, step, recipe))
        torch.testing.assert_close(update_in(sent).double(), expected, rtol=1e-5, atol=1e-7)
        assert set(sent) == {wire.RECORD, wire.UPDATE}
        assert wire.Header.of(sent) == wire.Header("lab", RUN, step, "train")
        assert set(sent[wire.UPDATE]) == {wire.UPDATE}


def test_local_steps_send_what_they_moved_by(app):
    recipe = Recipe(batch=8, lr=0.5, schedule="constant", beta=0.0, clip=0.5, local_steps=3)
    inputs, labels = samples()
    counts = torch.bincount(labels, minlength=CLASSES).double()
    weights = torch.tensor(Q, dtype=torch.float64) * counts.sum() / counts
    drawn = generator(recipe.seed, "batch", WORKER, 4)
    model = network().double()
    start = nn.utils.parameters_to_vector(model.parameters()).detach()
    theta = start
    for _ in range(3):
        chosen = torch.randperm(len(labels), generator=drawn)[:8]
        picked = (inputs[chosen].double(), labels[chosen], weights)
        parts = gradient(model, *picked, l2=recipe.l2, clip=recipe.clip)
        theta = theta - recipe.lr * torch.cat([part.flatten() for part in parts])
        nn.utils.vector_to_parameters(theta, model.parameters())
    sent = update_in(ask(app, train(network(), 4, recipe)))
    torch.testing.assert_close(sent.double(), (start - theta) / 0.5, rtol=1e-5, atol=1e-6)


def test_a_convolution_is_trained_as_by_hand(tmp_path):
    data = samples(shape=(1, 5, 5))
    with torch.random.fork_rng():
        torch.manual_seed(1)
        module = tiny_convnet((1, 5, 5), CLASSES)
    app = wola_client(module, data, classes=CLASSES, state=tmp_path)
    expected = by_hand(module, data, 1, 0.0)
    model = FlatModel(copy.deepcopy(module))
    model.load(update_in(ask(app, train(copy.deepcopy(module), 1))))
    made = nn.utils.parameters_to_vector(model.module.parameters()).detach()
    torch.testing.assert_close(made.double(), expected, rtol=1e-5, atol=1e-6)


def test_the_client_computes_what_the_engine_computes(tmp_path):
    scenario = Scenario(
        dataset="iris", workers=4, byzantine=1, attack="none", loss="wola", batch=16, steps=2
    )
    federation = assemble(scenario)
    one = Round(scenario, federation)
    module = copy.deepcopy(one.model.module)
    shard = federation.shards[2]
    data = federation.inputs[shard], federation.labels[0][shard]
    app = wola_client(module, data, classes=3, state=tmp_path)
    for step in (1, 2):
        recipe = Recipe.of(scenario)
        question = train(copy.deepcopy(one.model.module), step, recipe, q=federation.q.tolist())
        one.take(step)
        torch.testing.assert_close(update_in(ask(app, question)), one.momenta[2], atol=1e-6, rtol=0)


def batch_normalised(seed=1):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return normalised_convnet((1, 5, 5), CLASSES)


def test_running_statistics_travel_beside_the_update(tmp_path):
    data = samples(shape=(1, 5, 5))
    module = batch_normalised()
    app = wola_client(module, data, classes=CLASSES, state=tmp_path)
    sent = ask(app, train(batch_normalised(), 1))
    arrays = wire.read_arrays(
        sent, wire.UPDATE, {wire.UPDATE: FlatModel(batch_normalised()).size, wire.STATISTICS: 6}
    )
    chosen = batch_of(torch.arange(30), RECIPE.batch, RECIPE.seed, WORKER, 1)
    seen = module[0](data[0][chosen]).detach().transpose(0, 1).flatten(1)
    expected = torch.cat([0.1 * seen.mean(1), 0.9 + 0.1 * seen.var(1)])
    torch.testing.assert_close(arrays[wire.STATISTICS], expected)


def test_a_round_asked_again_gives_the_same_bits(tmp_path):
    module = batch_normalised()
    app = wola_client(module, samples(shape=(1, 5, 5)), classes=CLASSES, state=tmp_path)
    for step in (1, 2):
        ask(app, train(batch_normalised(), step))
    first = ask(app, train(batch_normalised(), 3))
    again = ask(app, train(batch_normalised(), 3))
    assert wire.digest(first) == wire.digest(again)
    after = ask(app, train(batch_normalised(), 4))
    assert wire.digest(after) == wire.digest(ask(app, train(batch_normalised(), 4)))


def test_momentum_survives_the_process(app, tmp_path):
    ask(app, train(network(), 1))
    arguments = ["-m", "tests.flower.one_client", str(tmp_path / "state"), str(tmp_path / "sent")]
    subprocess.run([sys.executable, *arguments], check=True, timeout=60)
    first = by_hand(network(), samples(), 1, 0.0)
    expected = by_hand(network(), samples(), 2, first)
    sent = torch.load(tmp_path / "sent", weights_only=True)
    torch.testing.assert_close(sent.double(), expected, rtol=1e-5, atol=1e-7)
    assert torch.equal(sent, update_in(ask(app, train(network(), 2))))


def test_without_momentum_nothing_is_written(app, tmp_path):
    ask(app, train(network(), 1, Recipe(beta=0.0, batch=4)))
    assert not (tmp_path / "state").exists()


def test_the_label_distribution_is_reported(app):
    _, labels = samples()
    sent = ask(app, query(network()))
    expected = [labels.tolist().count(c) / len(labels) for c in range(CLASSES)]
    assert sent[wire.LABELS]["distribution"] == pytest.approx(expected)
    assert wire.config(sent)["fingerprint"] == fingerprint(network())
    assert wire.Header.of(sent).kind == "query"


def test_a_noisy_distribution_is_the_same_each_time_it_is_asked_for(tmp_path):
    given = {"classes": CLASSES, "state": tmp_path}
    plain = wola_client(network(), samples(), **given)
    noisy = wola_client(network(), samples(), noise=LaplaceMechanism(1.0), **given)
    true, first, second = (
        ask(each, query(network()))[wire.LABELS]["distribution"] for each in (plain, noisy, noisy)
    )
    assert first == second != true
    assert sum(first) == pytest.approx(1)


def test_another_model_is_refused_in_words_at_both_ends(app, caplog):
    with caplog.at_level(logging.ERROR):
        sent = ask(app, query(nn.Linear(4, CLASSES)))
    assert wire.LABELS not in sent
    refused = wire.config(sent)[wire.REFUSED]
    assert "names, shapes or dtypes" in refused
    assert fingerprint(network())[:16] in refused
    assert refused in caplog.text


def test_another_number_of_classes_is_refused(app):
    sent = ask(app, query(network(), classes=7))
    assert wire.config(sent)[wire.REFUSED] == "the server has 7 classes, this client 3"


def test_another_model_is_not_trained_but_refused(app, caplog):
    sent = ask(app, train(nn.Linear(4, CLASSES), 1))
    assert wire.UPDATE not in sent
    assert "names, shapes or dtypes" in wire.config(sent)[wire.REFUSED]
    assert "names, shapes or dtypes" in caplog.text


def test_evaluation_gives_accuracy_in_percent_and_loss(tmp_path):
    test = samples(count=17)
    app = wola_client(network(), samples(), classes=CLASSES, test=TensorDataset(*test))
    module = network(seed=8)
    sent = ask(app, evaluation(copy.deepcopy(module)))
    logits = module.double()(test[0].double())
    hits = (logits.argmax(1) == test[1]).sum().item()
    loss = nn.functional.cross_entropy(logits, test[1]).item()
    assert sent[wire.EVALUATION]["accuracy"] == pytest.approx(100 * hits / 17)
    assert sent[wire.EVALUATION]["loss"] == pytest.approx(loss, rel=1e-5)


def test_without_test_data_there_is_no_evaluation(app):
    with pytest.raises(ClientFailure, match=r"^evaluation failed \(ValueError\)$"):
        app(evaluation(network()), context())


def secretive(context):
    raise KeyError("patient 4711 in /home/clinic/records.csv")


@pytest.mark.parametrize(
    ("ask_for", "doing"),
    [(lambda: query(network()), "reporting labels"), (lambda: train(network(), 1), "training")],
)
def test_of_an_error_only_its_kind_travels_and_all_of_it_is_logged(ask_for, doing, caplog):
    app = wola_client(network(), secretive, classes=CLASSES)
    with pytest.raises(ClientFailure) as caught:
        app(ask_for(), context())
    assert str(caught.value) == f"{doing} failed (KeyError)"
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert "patient 4711" in caplog.text


def test_an_update_that_is_not_finite_is_neither_sent_nor_remembered(tmp_path):
    inputs, labels = samples()
    given = {"classes": CLASSES, "state": tmp_path}
    app = wola_client(network(), (inputs, labels), **given)
    broken = wola_client(network(), (inputs * float("nan"), labels), **given)
    first = by_hand(network(), samples(), 1, 0.0)
    ask(app, train(network(), 1))
    with pytest.raises(ClientFailure, match="NotFinite"):
        broken(train(network(), 2), context())
    sent = update_in(ask(app, train(network(), 3)))
    expected = by_hand(network(), samples(), 3, first)
    torch.testing.assert_close(sent.double(), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "changes",
    [
        {"round": "1"},
        {"run": "../.."},
        {"protocol": 2},
        {"q": [0.5, 0.5]},
        {"q": [0.9, 0.9, 0.9]},
        {"batch": 0},
        {"loss": 3},
        {"kind": "query"},
    ],
)
def test_a_question_that_is_not_as_agreed_is_not_answered(app, tmp_path, changes):
    question = train(network(), 1)
    wire.config(question.content).update(changes)
    with pytest.raises(ClientFailure):
        app(question, context())
    assert not (tmp_path / "state").exists()


def test_a_model_of_another_size_is_not_loaded(app):
    question = train(network(), 1)
    question.content[wire.MODEL] = wire.model_record(torch.zeros(5), torch.zeros(0))
    with pytest.raises(ClientFailure, match="WireError"):
        app(question, context())


def test_replies_are_signed_for_this_node_and_round(tmp_path):
    private, public = generate_keypair(tmp_path, "one")
    app = wola_client(
        network(), samples(), classes=CLASSES, key=lambda _: private, state=tmp_path / "state"
    )
    (key,) = load_public_keys([public])
    for question, step in ((query(network()), 0), (train(network(), 6), 6)):
        sent = ask(app, question)
        record, kind = wire.config(sent), question.metadata.message_type
        assert record[wire.PUBLIC_KEY] == key
        told = ("lab", RUN, step, kind)
        signature = record[wire.SIGNATURE]
        assert verify(key, signature, *told, NODE, wire.digest(sent))
        assert not verify(key, signature, *told, NODE + 1, wire.digest(sent))


def test_unsigned_replies_carry_no_key(app):
    record = wire.config(ask(app, query(network())))
    assert wire.SIGNATURE not in record
    assert wire.PUBLIC_KEY not in record


class Items(Dataset):
    """Samples one by one, some with noise of their own."""

    def __init__(self, data, noise=0.0, targets=None):
        self.data, self.noise = data, noise
        if targets is not None:
            self.targets = targets

    def __len__(self):
        return len(self.data[1])

    def __getitem__(self, i):
        inputs, labels = self.data
        return inputs[i] + self.noise * torch.randn(4), int(labels[i])


@pytest.mark.parametrize(
    "data",
    [
        TensorDataset(*samples()),
        Items(samples()),
        Items(samples(), targets=samples()[1].tolist()),
        lambda context: samples(),
        (samples()[0].double(), samples()[1].to(torch.int32)),
    ],
)
def test_a_dataset_gives_what_tensors_give(app, tmp_path, data):
    other = wola_client(network(), data, classes=CLASSES, state=tmp_path / "other")
    expected, sent = (ask(each, train(network(), 1)) for each in (app, other))
    assert wire.digest(sent) == wire.digest(expected)
    assert ask(other, query(network())) == ask(app, query(network()))


def test_a_dataset_that_draws_is_read_the_same_way_again(tmp_path):
    app = wola_client(network(), Items(samples(), noise=1.0), classes=CLASSES, state=tmp_path)
    first, again = (update_in(ask(app, train(network(), 1))) for _ in range(2))
    assert torch.equal(first, again)


def test_labels_that_change_after_counting_are_refused(tmp_path, caplog):
    data = Items(samples(), targets=[0] * 30)
    app = wola_client(network(), data, classes=CLASSES, state=tmp_path)
    with pytest.raises(ClientFailure, match="ValueError"):
        app(train(network(), 1), context())
    assert "labels that stay the same" in caplog.text


@pytest.mark.parametrize(
    "data",
    [
        (samples()[0], samples()[1][:-1]),
        (samples()[0][:0], samples()[1][:0]),
        (samples()[0], samples()[1].float()),
        (samples()[0], samples()[1] + 1),
        samples()[0],
        iter([]),
    ],
)
def test_data_that_cannot_be_trained_on_is_an_error(tmp_path, data):
    app = wola_client(network(), lambda context: data, classes=CLASSES, state=tmp_path)
    with pytest.raises(ClientFailure, match=r"\((ValueError|TypeError)\)"):
        app(train(network(), 1), context())


def test_a_dataset_without_a_length_is_an_error(tmp_path, caplog):
    class Endless(Dataset):
        def __getitem__(self, i):
            return torch.zeros(4), 0

    app = wola_client(network(), Endless(), classes=CLASSES, state=tmp_path)
    with pytest.raises(ClientFailure, match="TypeError"):
        app(query(network()), context())
    assert "without a length" in caplog.text


def test_the_users_model_and_the_global_random_state_stay_as_they_were(tmp_path):
    module = batch_normalised()
    before = copy.deepcopy(module.state_dict())
    state = torch.get_rng_state()
    for model in (module, lambda context: batch_normalised()):
        app = wola_client(model, samples(shape=(1, 5, 5)), classes=CLASSES, state=tmp_path)
        ask(app, train(batch_normalised(seed=2), 1))
    assert torch.equal(torch.get_rng_state(), state)
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])


def test_a_function_that_makes_no_model_is_an_error(caplog):
    app = wola_client(lambda context: "model", samples(), classes=CLASSES)
    with pytest.raises(ClientFailure, match="TypeError"):
        app(query(network()), context())
    assert "model made a str" in caplog.text


@pytest.mark.parametrize(
    ("worker", "where", "named"),
    [
        (None, context(partition_id=2), 2),
        (7, context(partition_id=2), 7),
        (None, context(num_partitions=9), NODE),
    ],
)
def test_the_worker_is_the_one_given_or_the_partition_or_the_node(tmp_path, worker, where, named):
    app = wola_client(network(), samples(), classes=CLASSES, worker=worker, state=tmp_path)
    sent = update_in(ask(app, train(network(), 1), where))
    expected = by_hand(network(), samples(), 1, 0.0, worker=named)
    torch.testing.assert_close(sent.double(), expected, rtol=1e-5, atol=1e-7)


def test_a_partition_that_is_no_number_is_an_error(app):
    with pytest.raises(ClientFailure, match="ValueError"):
        app(train(network(), 1), context(partition_id="two"))


def test_a_message_without_a_header_is_not_answered(app):
    with pytest.raises(ClientFailure, match="WireError"):
        app(message(RecordDict({"other": header(wire.QUERY)}), wire.QUERY), context())


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"classes": 0}, ValueError),
        ({"classes": True}, TypeError),
        ({"worker": "one"}, TypeError),
        ({"misbehave": "sign-flop"}, ValueError),
        ({"loss": "hinge"}, ValueError),
        ({"loss": 3}, ValueError),
    ],
)
def test_wrong_arguments_are_named(wrong, error):
    (name,) = wrong
    with pytest.raises(error, match=f"^{name} = .*allowed: "):
        wola_client(network(), samples(), **{"classes": CLASSES, **wrong})
