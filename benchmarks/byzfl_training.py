"""A federation made of ByzFL's own Client, ByzantineClient and Server, on the data that wola has.

One round is: every client's gradient and momentum, the attack, the server's aggregation and step,
the new model to every client.
"""

import math
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn
from torch.utils.data import DataLoader, Subset

from benchmarks.peers import byzfl
from wola.attacks import alie_factor
from wola.data import Dataset
from wola.training import PARTS, Scenario

#: ByzFL looks a network up by name in its module of models; this is the name of wola's there.
MODEL_NAME = "network_of_wola"
ALIE = "ALittleIsEnough"
ATTACKS = {"alie": ALIE, "optimal-alie": "Optimal_ALittleIsEnough"}


class ByzFLFederation:
    """ByzFL's honest clients, attackers and server of one scenario."""

    def __init__(
        self,
        scenario: Scenario,
        dataset: Dataset,
        *,
        shards: list[Tensor],
        test: Tensor,
        network: Callable[[], nn.Module],
    ) -> None:
        library = byzfl()
        setattr(library.fed_framework.models, MODEL_NAME, network)
        train, held_out = image_sets(dataset, scaled_only=scenario.inputs == "scaled")
        self.loaders = [
            # As ByzFL's DataDistributor makes them.
            DataLoader(Subset(train, shard.tolist()), batch_size=scenario.batch, shuffle=True)
            for shard in shards[: scenario.honest]
        ]
        self.clients = [
            library.Client(client_parameters(scenario, loader, len(dataset.classes)))
            for loader in self.loaders
        ]
        self.server = library.Server(
            server_parameters(
                scenario, DataLoader(Subset(held_out, test.tolist()), batch_size=scenario.batch)
            )
        )
        self.attackers = library.ByzantineClient(attack_parameters(scenario))
        self.broadcast()

    def sample(self) -> list[Any]:
        """The next batch of every client, as `Client.compute_gradients` takes it."""
        return [client._sample_train_batch() for client in self.clients]

    def feed(self, inputs: Tensor, labels: Tensor) -> None:
        """Makes the next batches of the clients these: (h, B, ...) and (h, B)."""
        for client, x, y in zip(self.clients, inputs, labels, strict=True):
            client.train_iterator = iter([(x, y)])

    def load(self, state: dict[str, Tensor]) -> None:
        """Gives the server and all clients this model."""
        self.server.set_model_state(state)
        self.broadcast()

    def state(self) -> dict[str, Tensor]:
        """The server's model."""
        return dict(self.server.get_dict_parameters())

    def broadcast(self) -> None:
        """The server's model to every client."""
        state = self.server.get_dict_parameters()
        for client in self.clients:
            client.set_model_state(state)

    def round(self) -> None:
        """One round of distributed training under attack."""
        for client in self.clients:
            client.compute_gradients()
        sent = [client.get_flat_gradients_with_momentum() for client in self.clients]
        self.server.update_model_with_gradients(sent + self.attackers.apply_attack(sent))
        self.broadcast()

    def accuracy(self) -> float:
        """The server's accuracy over the test images, in percent."""
        return 100.0 * float(self.server.compute_test_accuracy())


def image_sets(dataset: Dataset, *, scaled_only: bool) -> tuple[Any, Any]:
    """Training and test images as torchvision's own dataset gives them, from wola's tensors.

    Images come through Pillow one by one, are made tensors and standardised: the inputs that
    wola's models see. `scaled_only` stands for what ByzFL itself does to Fashion-MNIST: a random
    horizontal flip and scaling to [0, 1].
    """
    byzfl()
    from torchvision import transforms
    from torchvision.datasets import FashionMNIST

    class InMemory(FashionMNIST):  # type: ignore[misc]
        def __init__(self, images: Tensor, labels: Tensor, transform: Any) -> None:
            self.data, self.targets = images, labels
            self.transform, self.target_transform = transform, None

    if scaled_only:
        steps = [transforms.RandomHorizontalFlip(), transforms.ToTensor()]
    else:
        moments = [dataset.mean.tolist(), dataset.std.tolist()]
        steps = [transforms.ToTensor(), transforms.Normalize(*moments)]
    seen = transforms.Compose(steps)
    return (
        InMemory(dataset.x_train[:, 0], dataset.y_train, seen),
        InMemory(dataset.x_test[:, 0], dataset.y_test, seen),
    )


def client_parameters(scenario: Scenario, loader: DataLoader[Any], classes: int) -> dict[str, Any]:
    """What ByzFL's Client wants to know."""
    return {
        "model_name": MODEL_NAME,
        "device": "cpu",
        "loss_name": "CrossEntropyLoss",
        "LabelFlipping": False,
        "nb_labels": classes,
        "momentum": scenario.beta,
        "training_dataloader": loader,
        "store_per_client_metrics": False,
        **optimiser_parameters(scenario),
    }


def server_parameters(scenario: Scenario, test: DataLoader[Any]) -> dict[str, Any]:
    """What ByzFL's Server wants to know; the rule is NNM then trimmed mean."""
    return {
        "model_name": MODEL_NAME,
        "device": "cpu",
        "test_loader": test,
        **rule_parameters(scenario),
        **optimiser_parameters(scenario),
    }


def optimiser_parameters(scenario: Scenario) -> dict[str, Any]:
    """SGD; of wola's harmonic schedule ByzFL's single factor can follow the first step down."""
    return {
        "optimizer_name": "SGD",
        "learning_rate": scenario.lr,
        "weight_decay": scenario.l2,
        "milestones": [PARTS.make("schedule", scenario.schedule).period - 1],
        "learning_rate_decay": 0.5,
    }


def rule_parameters(scenario: Scenario) -> dict[str, Any]:
    """NNM then trimmed mean, told f."""
    told = {"parameters": {"f": scenario.byzantine}}
    return {
        "aggregator_info": {"name": "TrMean", **told},
        "pre_agg_list": [{"name": "NNM", **told}],
    }


def attack_parameters(scenario: Scenario) -> dict[str, Any]:
    """ALIE with wola's factor, or the optimised one with 20 evaluations, as ByzFL's defaults are.

    ByzFL multiplies the sample deviation, wola the population's: the factor makes up for it.

    >>> attack_parameters(Scenario(attack="alie"))["name"]
    'ALittleIsEnough'
    """
    n, f, h = scenario.workers, scenario.byzantine, scenario.honest
    factor = alie_factor(n, f) * math.sqrt((h - 1) / h)
    name = ATTACKS[scenario.attack]
    given = {"tau": float(factor)} if name == ALIE else {"f": f, "evals": 20}
    return {"name": name, "f": f, "parameters": {**given, **rule_parameters(scenario)}}


def step_difference(before: Tensor, ours: Tensor, theirs: Tensor) -> float:
    """||(ours - before) - (theirs - before)|| / ||theirs - before||, in float64.

    >>> import torch
    >>> zero, one = torch.zeros(1), torch.ones(1)
    >>> step_difference(zero, 1.5 * one, one)
    0.5
    """
    start = before.double()
    moved = theirs.double() - start
    return float((ours.double() - start - moved).norm() / moved.norm())
