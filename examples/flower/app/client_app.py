"""The client: its part of the digits, its keys, and what it does if it is Byzantine."""

import digits
import fedavg
from flwr.app import Context

from wola.flower import wola_client


def signing_key(context: Context) -> str:
    """The client's private key: a path in the node's own configuration, which nobody else sees."""
    return str(context.node_config["signing-key"])


def misbehaviour(context: Context) -> str | None:
    """What the client does wrong, for the sake of the example; None: it is honest."""
    return str(context.node_config.get("misbehave", "")) or None


app = wola_client(
    lambda context: digits.model(),
    digits.shard,
    classes=digits.CLASSES,
    key=signing_key,
    misbehave=misbehaviour,
)
# Only for the comparison: the same client under Flower's FedAvg.
app.train(fedavg.ACTION)(fedavg.train)
