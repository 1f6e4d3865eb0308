"""The same training as Flower's own FedAvg has it, to see what one Byzantine client does to it."""

import json
from collections.abc import Callable, Iterable

import digits
import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import clip_grad_norm_, parameters_to_vector, vector_to_parameters

from wola.flower.misbehaviour import MISBEHAVIOURS, Misbehaviour
from wola.training.batches import draw_indices
from wola.training.streams import stream

ACTION = "fedavg"
CLIP, L2 = 5.0, 1e-4


class Messages(FedAvg):
    """FedAvg whose messages go to this file's `train`, not to the WoLA client."""

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """FedAvg's messages under another name."""
        messages = list(super().configure_train(server_round, arrays, config, grid))
        for message in messages:
            message.metadata.message_type = f"train.{ACTION}"
        return messages


def serve(
    grid: Grid, context: Context, evaluate: Callable[[int, ArrayRecord], MetricRecord]
) -> None:
    """Runs FedAvg with all clients, and writes a line of JSON per round."""
    config = context.run_config
    clients, records = int(config["clients"]), str(config["records"])

    def measured(round: int, arrays: ArrayRecord) -> MetricRecord:
        result = evaluate(round, arrays)
        if round and records:
            line = json.dumps({"round": round, "kind": "train", "accuracy": result["accuracy"]})
            with open(records, "a", encoding="utf-8") as file:
                file.write(f"{line}\n")
        return result

    strategy = Messages(fraction_evaluate=0.0, min_train_nodes=clients, min_available_nodes=clients)
    strategy.start(
        grid,
        ArrayRecord(digits.model(int(config["seed"])).state_dict()),
        num_rounds=int(config["num-rounds"]),
        evaluate_fn=measured,
    )


def train(message: Message, context: Context) -> Message:
    """Local SGD from the server's model on the client's own samples."""
    config, node = context.run_config, context.node_config
    inputs, labels = digits.shard(context)
    # A client that is Byzantine does to FedAvg what it does to WoLA.
    lie = MISBEHAVIOURS.get(str(node.get("misbehave", "")), Misbehaviour())
    labels = lie.labels(labels, digits.CLASSES)
    module = digits.model()
    module.load_state_dict(message.content["arrays"].to_torch_state_dict())
    start = parameters_to_vector(module.parameters()).detach()
    optimiser = torch.optim.SGD(module.parameters(), lr=float(config["lr"]), weight_decay=L2)
    round = int(message.content["config"]["server-round"])
    generator = stream(int(config["seed"]), "batch", int(node["partition-id"]), round)
    for _ in range(int(config["local-steps"])):
        rows = draw_indices(torch.arange(len(labels)), int(config["batch"]), generator)
        optimiser.zero_grad()
        F.cross_entropy(module(inputs[rows]), labels[rows]).backward()
        clip_grad_norm_(module.parameters(), CLIP)
        optimiser.step()
    change = start - parameters_to_vector(module.parameters()).detach()
    vector_to_parameters(start - lie.update(change, generator), module.parameters())
    metrics = MetricRecord({"num-examples": len(labels)})
    content = RecordDict({"arrays": ArrayRecord(module.state_dict()), "metrics": metrics})
    return Message(content, reply_to=message)
