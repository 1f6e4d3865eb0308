"""The client: a Flower ClientApp around any PyTorch model and data."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike

import torch
from flwr.app import ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from torch import nn
from torch.utils.data import Dataset

from wola.flower import wire
from wola.flower.client_models import ClientModels, ReadyModel
from wola.flower.error_replies import without_error_details
from wola.flower.local_training import local_update, loss_terms, update_momentum
from wola.flower.misbehaviour import MISBEHAVIOURS, Misbehaviour
from wola.flower.momentum_memory import MomentumMemory
from wola.flower.noisy_report import noisy_report
from wola.flower.recipe import Orders, loss_of_server
from wola.flower.samples import Data, as_samples
from wola.flower.signing import load_private_key, sign_content
from wola.ground.checks import check_choice, check_whole
from wola.ground.folders import state_folder
from wola.labels import Loss, check_distribution, label_counts, label_distribution
from wola.labels.noise import Mechanism
from wola.models import FlatModel
from wola.training.evaluate import evaluate
from wola.training.federation import HeldOut
from wola.training.registry import PARTS
from wola.training.streams import stream

StrPath = str | PathLike[str]

_LOG = logging.getLogger(__name__)
_HONEST = Misbehaviour()


def wola_client(
    model: nn.Module | Callable[[Context], nn.Module],
    data: Data | Callable[[Context], Data],
    *,
    classes: int,
    loss: Loss | str | None = None,
    worker: int | None = None,
    test: Data | Callable[[Context], Data] | None = None,
    key: StrPath | Callable[[Context], StrPath] | None = None,
    state: StrPath | None = None,
    noise: Mechanism | None = None,
    misbehave: str | Misbehaviour | Callable[[Context], str | None] | None = None,
    device: torch.device | str = "cpu",
) -> ClientApp:
    """A Flower ClientApp that trains `model` on `data` as the server asks, by default with WoLA.

    `model` is a module, `data` (inputs, labels) in tensors or a Dataset with labels 0 to
    `classes` - 1; either may be a function of Flower's `Context`, which knows the node. `loss` is
    used in place of the one that the server names, and is the only way to a loss of your own, as
    an object or as the text ``pkg.module:Name``: a server may name the library's losses alone.
    `test` is data for evaluation. `worker` is the number by which the client's random draws and
    its momentum on disk are known; by default it is `partition-id` in the node's configuration, or
    else the node's id. `key` is an Ed25519 private key as `generate_keypair` makes it; with it
    every reply is signed. Momenta are kept in the folder `state` (default: `$WOLA_STATE`, or the
    platform's state folder). `noise` is a `LaplaceMechanism` or `GaussianMechanism` on the reported
    label distribution, drawn once. `misbehave` names one of `MISBEHAVIOURS`, for demonstrations
    and tests. Of an error only its kind reaches the server; all of it is logged at the client.

    >>> digits = torch.rand(20, 4), torch.arange(20) % 2
    >>> app = wola_client(nn.Linear(4, 2), digits, classes=2)
    """
    check_whole("classes", classes, least=1)
    if worker is not None:
        check_whole("worker", worker)
    if isinstance(misbehave, str):
        _misbehaviour_named(misbehave)
    client = _Client(
        models=ClientModels(model, torch.device(device)),
        data=data,
        classes=classes,
        loss=None if loss is None else PARTS.make("loss", PARTS.settle("loss", loss)),
        worker=worker,
        test=test,
        key=key,
        state=state,
        noise=noise,
        misbehave=misbehave,
        device=torch.device(device),
    )
    app = ClientApp()
    app.query()(without_error_details("reporting labels", client.query))
    app.train()(without_error_details("training", client.train))
    app.evaluate()(without_error_details("evaluation", client.evaluate))
    return app


def _misbehaviour_named(name: str) -> Misbehaviour:
    return MISBEHAVIOURS[check_choice("misbehave", name, MISBEHAVIOURS)]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Client:
    """What `wola_client` was given, and the answers to the three kinds of message."""

    models: ClientModels
    data: Data | Callable[[Context], Data]
    classes: int
    loss: Loss | None
    worker: int | None
    test: Data | Callable[[Context], Data] | None
    key: StrPath | Callable[[Context], StrPath] | None
    state: StrPath | None
    noise: Mechanism | None
    misbehave: str | Misbehaviour | Callable[[Context], str | None] | None
    device: torch.device

    def query(self, message: Message, context: Context) -> Message:
        """The label distribution, or why this client cannot take part."""
        header, record = _header_of(message, wire.QUERY)
        with self.models.borrowed(context) as model:
            mine = model.fingerprint
        problem = _mismatch(record, mine)
        asked = wire.value(record, wire.CLASSES, int)
        if asked != self.classes:
            problem = f"the server has {asked} classes, this client {self.classes}"
        if problem is not None:
            return self._refuse(message, context, header, mine, problem)
        lie = self._misbehaviour(context)
        labels = lie.labels(as_samples(_resolved(self.data, context)).labels, self.classes)
        counts = label_counts(labels, self.classes)
        distribution = label_distribution(counts)
        if self.noise is not None:
            folder = state_folder(self.state)
            distribution = noisy_report(folder, self._worker(context), counts, self.noise)
        report = MetricRecord({wire.DISTRIBUTION: lie.report(distribution).tolist()})
        head = header.record(**{wire.FINGERPRINT: mine})
        content = RecordDict({wire.RECORD: head, wire.LABELS: report})
        return self._reply(message, context, content)

    def train(self, message: Message, context: Context) -> Message:
        """The momentum after one more round, and the running statistics."""
        with self.models.borrowed(context) as model:
            return self._train(message, context, model)

    def _train(self, message: Message, context: Context, ready: ReadyModel) -> Message:
        header, record = _header_of(message, wire.TRAIN)
        orders, step, worker = Orders.of(record), header.round, self._worker(context)
        mine = ready.fingerprint
        if problem := _mismatch(record, mine):
            return self._refuse(message, context, header, mine, problem)
        try:
            loss = loss_of_server(orders.loss) if self.loss is None else self.loss
        except wire.WireError as error:
            return self._refuse(message, context, header, mine, str(error))
        q = check_distribution(wire.vector(record, wire.OBJECTIVE), self.classes)
        model = _loaded(ready.flat, message)
        samples, lie = as_samples(_resolved(self.data, context)), self._misbehaviour(context)
        labels = lie.labels(samples.labels, self.classes)
        terms = loss_terms(loss, labels, q)
        update, statistics = local_update(
            model, samples, labels, orders, terms=terms, worker=worker, step=step
        )
        memory = MomentumMemory(state_folder(self.state), header.federation, header.run, worker)
        momentum = update_momentum(memory, step, update, orders.beta)
        sent = lie.update(momentum, stream(orders.seed, "misbehaviour", worker, step))
        arrays = wire.update_record(sent, statistics)
        content = RecordDict({wire.RECORD: header.record(), wire.UPDATE: arrays})
        lie.content(content)
        reply = self._reply(message, context, content)
        reply.content = lie.signed(reply.content, context)
        return reply

    def evaluate(self, message: Message, context: Context) -> Message:
        """Accuracy and loss on the client's test data."""
        header, _ = _header_of(message, wire.EVALUATE)
        if self.test is None:
            raise ValueError("test = None; allowed where the server asks for evaluation: data")
        samples = as_samples(_resolved(self.test, context), name="test")
        label_counts(samples.labels, self.classes)
        inputs = samples.take(torch.arange(len(samples.labels))).to(self.device)
        labels, ones = samples.labels.to(self.device), torch.ones_like(samples.labels)
        with self.models.borrowed(context) as ready:
            model = _loaded(ready.flat, message)
            inputs = inputs.to(model.parameters.dtype) if inputs.is_floating_point() else inputs
            found = evaluate(model, HeldOut(inputs, labels, ones), header.round)
        metrics = MetricRecord({wire.ACCURACY: found.accuracy, wire.LOSS: found.loss})
        content = RecordDict({wire.RECORD: header.record(), wire.EVALUATION: metrics})
        return self._reply(message, context, content)

    def _refuse(
        self, message: Message, context: Context, header: wire.Header, mine: str, problem: str
    ) -> Message:
        _LOG.error("this client does not take part: %s", problem)
        fields = {wire.FINGERPRINT: mine, wire.REFUSED: problem}
        return self._reply(message, context, RecordDict({wire.RECORD: header.record(**fields)}))

    def _reply(self, message: Message, context: Context, content: RecordDict) -> Message:
        path = self.key(context) if callable(self.key) else self.key
        if path is not None:
            sign_content(content, load_private_key(path), context.node_id)
        return Message(content, reply_to=message)

    def _worker(self, context: Context) -> int:
        if self.worker is not None:
            return self.worker
        given = context.node_config.get("partition-id", context.node_id)
        if isinstance(given, bool) or not isinstance(given, int):
            raise ValueError(f"partition-id = {given!r}; allowed: an int")
        return given

    def _misbehaviour(self, context: Context) -> Misbehaviour:
        given = self.misbehave
        if given is None or isinstance(given, Misbehaviour):
            return given or _HONEST
        name = given if isinstance(given, str) else given(context)
        return _misbehaviour_named(name) if name else _HONEST


def _resolved(data: Data | Callable[[Context], Data], context: Context) -> Data:
    if isinstance(data, tuple | list | Dataset):
        return data
    return data(context)


def _loaded(model: FlatModel, message: Message) -> FlatModel:
    sizes = {wire.PARAMETERS: model.size, wire.STATISTICS: len(model.statistics)}
    given = wire.read_arrays(message.content, wire.MODEL, sizes)
    model.load(given[wire.PARAMETERS], given[wire.STATISTICS])
    return model


def _header_of(message: Message, kind: str) -> tuple[wire.Header, ConfigRecord]:
    header = wire.Header.of(message.content)
    if header.kind != kind:
        raise wire.WireError(f"kind = {header.kind!r} in a {kind} message; allowed: {kind!r}")
    return header, wire.config(message.content)


def _mismatch(record: ConfigRecord, mine: str) -> str | None:
    theirs = wire.value(record, wire.FINGERPRINT, str)
    if theirs == mine:
        return None
    return (
        f"this client's model has fingerprint {mine[:16]}..., the server's {theirs[:16]!r}...: "
        "names, shapes or dtypes of parameters or buffers differ"
    )
