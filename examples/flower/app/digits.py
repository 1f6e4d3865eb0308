"""The example's data and model: scikit-learn's digits, divided so that label mixes differ a lot."""

from functools import cache

from flwr.app import Context
from torch import Tensor, nn

from wola.models import FlatModel, build, mlp
from wola.training import Scenario, ServerData, assemble
from wola.training.evaluate import evaluate
from wola.training.federation import Federation
from wola.training.streams import stream

CLASSES = 10


@cache
def federation(clients: int, byzantine: int, seed: int, server_data: str) -> Federation:
    """All shards and the test set; every machine draws the same, and looks at its own part."""
    fields = {"workers": clients, "byzantine": byzantine, "server_data": server_data}
    return assemble(Scenario.paper("digits", **fields, alpha=0.3, attack="none", seed=seed))


def _federation(context: Context) -> Federation:
    config = context.run_config
    counts = (int(config[name]) for name in ("clients", "byzantine", "seed"))
    return federation(*counts, str(config["server-data"]))


def model(seed: int = 1) -> nn.Module:
    """A small network for 8 x 8 pictures, freshly initialised."""
    generator = stream(seed, "initialisation")
    return build(mlp, name="mlp", shape=(1, 8, 8), classes=CLASSES, generator=generator)


def shard(context: Context) -> tuple[Tensor, Tensor]:
    """The inputs and labels of the client that its node configuration says it is."""
    whole = _federation(context)
    rows = whole.shards[int(context.node_config["partition-id"])]
    return whole.inputs[rows], whole.dataset.y_train[rows]


def server_data(context: Context) -> ServerData | None:
    """The samples that the server holds, and no client; None: it holds none."""
    return _federation(context).server


def score(state: dict[str, Tensor], round: int, context: Context) -> tuple[float, float]:
    """Accuracy in percent and loss of a model on the server's test set."""
    module = model()
    module.load_state_dict(state)
    measured = evaluate(FlatModel(module), _federation(context).test, round)
    return measured.accuracy, measured.loss
