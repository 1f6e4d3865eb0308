"""Small federations on the loopback grid: the engine's scenarios, and made-up ones."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from flwr.app import ArrayRecord, Message
from flwr.clientapp import ClientApp
from torch import Tensor, nn

from wola.flower import LoopbackGrid, Recipe, WolaStrategy, wola_client
from wola.labels import Uniform
from wola.models import build
from wola.training import Scenario, assemble
from wola.training.round import model_factory
from wola.training.streams import stream

CLASSES, FEATURES = 3, 4
NODES = [1001, 1002, 1003, 1004, 1005]


def tiny_model() -> nn.Module:
    model = nn.Linear(FEATURES, CLASSES)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    return model


def tiny_data(worker: int, count: int = 60) -> tuple[Tensor, Tensor]:
    """Three classes that a linear model can tell apart, in another mix at each worker."""
    generator = torch.Generator().manual_seed(worker)
    share = torch.ones(CLASSES)
    share[worker % CLASSES] = 3.0
    labels = torch.multinomial(share, count, replacement=True, generator=generator)
    labels[:CLASSES] = torch.arange(CLASSES)
    inputs = 0.3 * torch.randn(count, FEATURES, generator=generator)
    inputs[torch.arange(count), labels] += 1.0
    return inputs, labels


def tiny_clients(
    state: Path, count: int = 5, liars: dict[int, Any] | None = None, **options: Any
) -> list[ClientApp]:
    """Clients of the tiny model; `liars` maps a worker to its misbehaviour."""
    liars = liars or {}
    return [
        wola_client(
            tiny_model(),
            tiny_data(worker),
            classes=CLASSES,
            test=tiny_data(worker),
            state=state,
            misbehave=liars.get(worker),
            **{name: value(worker) for name, value in options.items()},
        )
        for worker in range(count)
    ]


def tiny_strategy(**options: Any) -> WolaStrategy:
    """A strategy for the tiny model; by default q is uniform and nobody is asked for it."""
    given = {
        "classes": CLASSES,
        "n": 5,
        "f": 1,
        "objective": Uniform(),
        "recipe": Recipe(lr=0.5, batch=16),
        "deadline": 5.0,
        "patience": 5.0,
        **options,
    }
    return WolaStrategy(tiny_model(), **given)


def accuracy(arrays: ArrayRecord) -> float:
    """Share of samples of another worker that the tiny model gets right."""
    model = tiny_model()
    model.load_state_dict(arrays.to_torch_state_dict())
    inputs, labels = tiny_data(99, 300)
    with torch.no_grad():
        return float((model(inputs).argmax(1) == labels).float().mean())


def state_of(arrays: ArrayRecord) -> Tensor:
    """All of a state in one vector."""
    return torch.cat([part.double().flatten() for part in arrays.to_torch_state_dict().values()])


def scenario_strategy(scenario: Scenario, **options: Any) -> tuple[WolaStrategy, nn.Module]:
    """The strategy that does what the engine does with a scenario, and the model it starts from."""
    federation = assemble(scenario)
    module = build(
        model_factory(scenario.model, scenario.dataset),
        name=scenario.model,
        shape=federation.dataset.sample_shape,
        classes=federation.classes,
        generator=stream(scenario.seed, "initialisation"),
    )
    strategy = WolaStrategy(
        module,
        classes=federation.classes,
        n=scenario.workers,
        f=scenario.byzantine,
        rule=scenario.rule(),
        objective=scenario.objective,
        recipe=Recipe.of(scenario),
        reference=federation.server,
        **options,
    )
    return strategy, module


def scenario_grid(scenario: Scenario, module: nn.Module, state: Path) -> LoopbackGrid:
    """A client for every worker of the scenario; the Byzantine ones flip labels, if it says so."""
    federation = assemble(scenario)
    lie = "label-flip" if scenario.attack == "lf" else None
    apps = [
        wola_client(
            module,
            (federation.inputs[shard], federation.dataset.y_train[shard]),
            classes=federation.classes,
            loss=scenario.loss if ":" in scenario.loss else None,
            state=state,
            misbehave=lie if worker >= scenario.honest else None,
        )
        for worker, shard in enumerate(federation.shards)
    ]
    return LoopbackGrid(apps)


class JoinedLater(LoopbackGrid):
    """A federation whose last node comes after the query, when round 1 begins."""

    def __init__(self, apps: Sequence[ClientApp]) -> None:
        super().__init__(apps[:-1])
        self.late = apps[-1]

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        number = int(next(iter(messages)).metadata.group_id.split("-")[0])
        if number == 1:
            place = len(NODES) - 1
            self.join(NODES[place], self.late, {"partition-id": place})
        return super().push_messages(messages)
