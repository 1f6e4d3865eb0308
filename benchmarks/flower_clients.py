"""A ClientApp as Flower's own strategies know it, which trains as `wola_client` does, or lies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import sleep

import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters

from wola.flower import MISBEHAVIOURS, Recipe
from wola.flower.misbehaviour import Misbehaviour
from wola.training.batches import draw_indices
from wola.training.streams import stream

Data = tuple[Tensor, Tensor]

#: Bytes of the needless record in an otherwise honest reply.
BALLAST = 100_000_000


@dataclass(frozen=True)
class Lie:
    """One fault: `ours` is done by `wola_client`, `content` to a reply of the stock client.

    The stock client also lies about labels and updates as `ours` does; its update is the change
    of the model.
    """

    ours: Misbehaviour
    content: Callable[[RecordDict, Context], RecordDict] = lambda content, context: content


def stock_client(
    model: nn.Module, data: Data, *, worker: int, recipe: Recipe, lie: Lie | None = None
) -> ClientApp:
    """Local SGD from the server's state dict on the batches that `wola_client` draws.

    The reply is the state dict after `recipe.local_steps` steps and the number of samples.
    Convolutions are in channels-last order, as they are in `wola_client`.
    """
    inputs, labels = data
    order = torch.channels_last if inputs.ndim == 4 else torch.contiguous_format
    model = model.to(memory_format=order)  # type: ignore[call-overload]
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        number = message.content.config_records["config"]["server-round"]
        assert isinstance(number, int)
        model.load_state_dict(message.content.array_records["arrays"].to_torch_state_dict())
        start = parameters_to_vector(model.parameters()).detach() if lie else None
        trained = lie.ours.labels(labels, int(labels.max()) + 1) if lie else labels
        lr = recipe.learning_rate(number)
        optimiser = torch.optim.SGD(model.parameters(), lr=lr, weight_decay=recipe.l2)
        generator = stream(recipe.seed, "batch", worker, number)
        model.train()
        for _ in range(recipe.local_steps):
            rows = draw_indices(torch.arange(len(labels)), recipe.batch, generator)
            optimiser.zero_grad()
            batch = inputs[rows].to(memory_format=order)
            F.cross_entropy(model(batch), trained[rows]).backward()
            clip_grad_norm_(model.parameters(), recipe.clip)
            optimiser.step()
        if lie is not None and start is not None:
            change = start - parameters_to_vector(model.parameters()).detach()
            vector_to_parameters(start - lie.ours.update(change, generator), model.parameters())
        metrics = MetricRecord({"num-examples": len(labels)})
        content = RecordDict({"arrays": ArrayRecord(model.state_dict()), "metrics": metrics})
        return Message(lie.content(content, context) if lie else content, reply_to=message)

    return app


def _first(make: Callable[[Array], Array]) -> Callable[[RecordDict, Context], RecordDict]:
    def change(content: RecordDict, context: Context) -> RecordDict:
        record = content.array_records["arrays"]
        name = next(iter(record))
        record[name] = make(record[name])
        return content

    return change


def _renamed(content: RecordDict, context: Context) -> RecordDict:
    record = content.array_records["arrays"]
    return RecordDict(
        {
            "arrays": ArrayRecord({f"{name}-": array for name, array in record.items()}),
            "metrics": content["metrics"],
        }
    )


def _claim(content: RecordDict, context: Context) -> RecordDict:
    content["metrics"] = MetricRecord({"num-examples": 10**9})
    return content


def _loaded(content: RecordDict, context: Context | None = None) -> RecordDict:
    content["ballast"] = ConfigRecord({"bytes": bytes(BALLAST)})
    return content


def _load(content: RecordDict) -> None:
    _loaded(content)


def _crash(content: RecordDict, context: Context) -> RecordDict:
    raise RuntimeError("this client was told to crash")


def _replay(content: RecordDict, context: Context) -> RecordDict:
    for name in ("arrays", "metrics"):
        context.state.setdefault(f"first-{name}", content[name])
    return RecordDict({name: context.state[f"first-{name}"] for name in ("arrays", "metrics")})


def _exit(content: RecordDict, context: Context) -> RecordDict:
    raise SystemExit(1)


def _leave(content: RecordDict) -> None:
    raise SystemExit(1)


def slow(seconds: float) -> Lie:
    """Replies after so many seconds."""

    def wait(content: RecordDict, context: Context) -> RecordDict:
        sleep(seconds)
        return content

    return Lie(Misbehaviour(content=lambda content: sleep(seconds)), wait)


def _claiming() -> Lie:
    flip, claim = MISBEHAVIOURS["sign-flip"], MISBEHAVIOURS["lie-sizes"]
    return Lie(Misbehaviour(update=flip.update, content=claim.content), _claim)


#: What one client does, by the words of the table.
LIES: Mapping[str, Lie] = {
    "sends its update with the sign flipped": Lie(MISBEHAVIOURS["sign-flip"]),
    "sends its update times -10": Lie(MISBEHAVIOURS["scaled"]),
    "sends one NaN": Lie(MISBEHAVIOURS["nan"]),
    "sends infinities": Lie(MISBEHAVIOURS["infinite"]),
    "sends an array of another shape": Lie(
        MISBEHAVIOURS["wrong-shape"], _first(lambda array: Array(array.numpy()[:-1]))
    ),
    "sends arrays under other names": Lie(MISBEHAVIOURS["wrong-keys"], _renamed),
    "sends another dtype": Lie(
        MISBEHAVIOURS["wrong-dtype"], _first(lambda array: Array(array.numpy().astype("float64")))
    ),
    "claims 1e9 examples, with the sign flipped": _claiming(),
    "adds 100 MB to its reply": Lie(Misbehaviour(content=_load), _loaded),
    "sends its first reply again in every round": Lie(MISBEHAVIOURS["replay"], _replay),
    "raises an error": Lie(MISBEHAVIOURS["crash"], _crash),
    "exits without a reply": Lie(Misbehaviour(content=_leave), _exit),
}
