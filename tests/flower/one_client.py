"""One client and what a server would ask of it, without a server."""

import sys
from pathlib import Path

import torch
from flwr.app import Context, Message, Metadata, RecordDict
from torch import nn

from wola.flower import wire
from wola.flower.client import wola_client
from wola.flower.fingerprint import fingerprint
from wola.flower.loopback import transported
from wola.flower.recipe import Recipe
from wola.models import FlatModel

RUN, NODE, CLASSES = "0123456789abcdef" * 2, 2**63 + 11, 3
Q = [0.5, 0.3, 0.2]
RECIPE = Recipe(batch=8, lr=0.5, beta=0.75, clip=0.5, l2=0.1, seed=5)


def network(seed=1):
    """A small dense network, always the same."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, CLASSES))


def samples(count=30, shape=(4,)):
    """Inputs and labels of all classes, not equally many of each."""
    generator = torch.Generator().manual_seed(3)
    labels = torch.randint(CLASSES, (count,), generator=generator).clamp(max=CLASSES - 1)
    labels[: count // 3] = 0
    return torch.randn(count, *shape, generator=generator), labels


def context(node=NODE, **node_config):
    """What a node knows of itself."""
    config = {key.replace("_", "-"): value for key, value in node_config.items()}
    return Context(1, node, config or {"partition-id": 2}, RecordDict(), {})


def message(content, kind, node=NODE):
    """A message from the server as it arrives."""
    metadata = Metadata(1, "", 1, node, "", "", 0.0, 1e12, kind)
    made = Message(content=content, metadata=metadata)
    return transported(made)


def header(kind, step=0, **fields):
    """The header of a message."""
    return wire.header(federation="lab", run=RUN, round=step, kind=kind, **fields)


def query(module, classes=CLASSES):
    """Asks for labels."""
    fields = {"classes": classes, "fingerprint": fingerprint(module)}
    return message(RecordDict({wire.RECORD: header(wire.QUERY, **fields)}), wire.QUERY)


def train(module, step, recipe=RECIPE, **changes):
    """Asks for the update of a round from a module as it is."""
    model = FlatModel(module)
    fields = {"q": Q, "fingerprint": fingerprint(module), **recipe.orders(step).fields()}
    content = RecordDict(
        {
            wire.RECORD: header(wire.TRAIN, step, **{**fields, **changes}),
            wire.MODEL: wire.model_record(model.parameters, model.statistics),
        }
    )
    return message(content, wire.TRAIN)


def evaluation(module):
    """Asks for accuracy and loss."""
    model = FlatModel(module)
    record = wire.model_record(model.parameters, model.statistics)
    content = RecordDict({wire.RECORD: header(wire.EVALUATE, 4), wire.MODEL: record})
    return message(content, wire.EVALUATE)


def ask(app, question, where=None):
    """The content of a client's reply as it arrives."""
    return transported(app(question, where or context())).content


def update_in(content):
    """The vector of a train reply."""
    return torch.from_numpy(content[wire.UPDATE][wire.UPDATE].numpy())


def save_second_update(state, target):
    """Round 2 of the client that keeps its momentum in `state`; the update goes to a file."""
    app = wola_client(network(), samples(), classes=CLASSES, state=state)
    torch.save(update_in(ask(app, train(network(), 2))), Path(target))


if __name__ == "__main__":
    save_second_update(*sys.argv[1:])
