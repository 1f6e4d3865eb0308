"""The works of training that are timed: the paper's Fashion-MNIST setting in wola and in ByzFL."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from typing import Any

import torch
from torch import Tensor

from benchmarks.byzfl_training import ByzFLFederation, step_difference
from benchmarks.comparison import WARM_COLUMNS
from benchmarks.step_page import BYZFL
from benchmarks.tables import WOLA, Cell
from benchmarks.timing import Call, interleaved, timed
from wola.models import convnet_mnist
from wola.training import Federation, Round, Scenario, assemble
from wola.training.batches import draw_batches
from wola.training.evaluate import evaluate
from wola.training.federation import HeldOut
from wola.training.metrics import Stopwatch

#: At most so many measurements of each work.
MOST = {"data": 21, "evaluation": 9, "round": 21, "optimised": 5}
#: Steps from one model on the same batches may be so far apart: the libraries round differently,
#: and a hidden unit whose input is nearly 0 may be on in one and off in the other.
TOLERANCE = 1e-3
#: Columns of the updates on which wola is asked for its rule until its kernel is compiled.
WARM_WIDTH = 200_000


@dataclass(frozen=True, eq=False)
class Setting:
    """A scenario, wola's federation of it, and the same federation in ByzFL."""

    scenario: Scenario
    federation: Federation
    peer: ByzFLFederation


def prepare(**changes: Any) -> Setting:
    """The paper's Fashion-MNIST setting: n = 17, f = 6, alpha = 0.3, NNM then trimmed mean."""
    scenario = Scenario.paper("fashion-mnist", strategy="NNM", **changes)
    federation = assemble(scenario)
    every_image = torch.arange(len(federation.dataset.y_test))
    return Setting(scenario, federation, peer_of(scenario, federation, every_image))


def peer_of(scenario: Scenario, federation: Federation, test: Tensor) -> ByzFLFederation:
    """ByzFL's federation on the same shards, tested on these images."""
    return ByzFLFederation(
        scenario, federation.dataset, shards=federation.shards, test=test, network=convnet_mnist
    )


def warm_up(scenario: Scenario) -> None:
    """Has wola compile the kernel that it keeps for so many workers."""
    rule = scenario.rule()
    generator = torch.Generator().manual_seed(0)
    updates = torch.randn(scenario.workers, WARM_WIDTH, generator=generator)
    for _ in range(1 + WARM_COLUMNS // WARM_WIDTH):
        rule(updates, f=scenario.byzantine)


def cells(budget: float) -> Iterator[Cell]:
    """All works, one after another, as they are measured."""
    setting = prepare()
    warm_up(setting.scenario)
    yield measure("data for a round", data_calls(setting), budget, MOST["data"])
    flipped = prepare(inputs="scaled", augment=True)
    yield measure("data for a round, flipped", data_calls(flipped), budget, MOST["data"])
    apart = accuracies_apart(setting)
    yield measure("evaluation", evaluation_calls(setting), budget, MOST["evaluation"], apart)
    apart = steps_apart()
    yield measure("round, ALIE", round_calls(setting), budget, MOST["round"], apart)
    optimised = prepare(attack="optimal-alie")
    yield measure("round, optimised ALIE", round_calls(optimised), budget, MOST["optimised"])


def measure(
    work: str, calls: dict[str, Call], budget: float, most: int, apart: float | None = None
) -> Cell:
    """One work in both libraries, interleaved; `apart` is how far their answers are."""
    first = {}
    for name, call in calls.items():
        call()
        first[name] = timed(call)[0]
    seconds = interleaved(calls, first, budget=budget, most=most)
    differences = {} if apart is None else {BYZFL: apart}
    size = sum(p.numel() for p in convnet_mnist().parameters())
    return Cell(work, 17, 6, size, seconds, differences, TOLERANCE, {}, [])


def data_calls(setting: Setting) -> dict[str, Call]:
    """A batch for each of the honest workers."""
    steps, workers = itertools.count(1), range(setting.scenario.honest)
    return {
        WOLA: lambda: draw_batches(setting.federation, setting.scenario, workers, next(steps)),
        BYZFL: setting.peer.sample,
    }


def round_calls(setting: Setting) -> dict[str, Call]:
    """A whole round, from the batches to the new model at every worker."""
    ours, steps = Round(setting.scenario, setting.federation), itertools.count(1)
    return {WOLA: lambda: ours.take(next(steps)), BYZFL: setting.peer.round}


def evaluation_calls(setting: Setting) -> dict[str, Call]:
    """The model on all test images, each once in both libraries."""
    model, test = Round(setting.scenario, setting.federation).model, every_image(setting)
    return {WOLA: lambda: evaluate(model, test, 0), BYZFL: setting.peer.accuracy}


def every_image(setting: Setting) -> HeldOut:
    """All test images once; a scenario's own test set is drawn from them, some more than once."""
    dataset = setting.federation.dataset
    return HeldOut(dataset.test_inputs, dataset.y_test, torch.ones_like(dataset.y_test))


def accuracies_apart(setting: Setting) -> float:
    """The difference of both libraries' accuracies of one model, as a fraction."""
    model = Round(setting.scenario, setting.federation).model
    setting.peer.load(model.state_dict())
    ours = evaluate(model, every_image(setting), 0).accuracy
    return abs(ours - setting.peer.accuracy()) / 100


def steps_apart() -> float:
    """How far both libraries' steps are apart, from one model on the same batches.

    Without clipping, which ByzFL lacks, and without l2, which it adds at the server.
    """
    # A large step, so that the rounding of the model it is added to does not show.
    setting = prepare(clip=0.0, l2=0.0, lr=100.0)
    ours, peer = Round(setting.scenario, setting.federation), setting.peer
    before = ours.model.state_dict()
    peer.load(before)
    workers = range(setting.scenario.honest)
    [batch] = draw_batches(setting.federation, setting.scenario, workers, step=1)
    peer.feed(batch.inputs, batch.labels)
    peer.round()
    ours.take(1)
    return step_difference(flat(before), flat(ours.model.state_dict()), flat(peer.state()))


def flat(state: dict[str, Tensor]) -> Tensor:
    """A model's state as one vector."""
    return torch.cat([value.flatten() for value in state.values()])


class CpuStopwatch(Stopwatch):
    """CPU time by phase, in place of wall time."""

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Adds the time spent inside to the phase."""
        start = process_time()
        try:
            yield
        finally:
            self.seconds[phase] += process_time() - start


def phases(rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each phase of wola's rounds under ALIE, and of an evaluation.

    "other" is what a round takes beside its phases.
    """
    setting = prepare()
    ours = Round(setting.scenario, setting.federation)
    ours.watch = CpuStopwatch()
    test = every_image(setting)
    ours.take(1)
    seconds: dict[str, list[float]] = {}
    for step in range(2, rounds + 2):
        whole, record = timed(lambda step=step: ours.take(step))
        taken = {**record.seconds, "other": whole - sum(record.seconds.values())}
        if step % 4 == 0:
            taken["evaluation"] = timed(lambda: evaluate(ours.model, test, 0))[0]
        for phase, value in taken.items():
            seconds.setdefault(phase, []).append(value)
    return seconds


def layer_times(times: int) -> dict[str, list[float]]:
    """CPU seconds that each layer alone takes for a batch of 128, forward and backward.

    Channels last, its input at hand; the first needs no gradient of its input.
    """
    layers = convnet_mnist().to(memory_format=torch.channels_last)
    generator = torch.Generator().manual_seed(0)
    inputs = torch.randn(128, 1, 28, 28, generator=generator)
    inputs = inputs.to(memory_format=torch.channels_last)
    calls: dict[str, Call] = {}
    for i, layer in enumerate(layers):
        given = inputs.detach().requires_grad_(i > 0)
        inputs = layer(given)
        calls[f"{i} {type(layer).__name__}"] = _there_and_back(
            layer, given, torch.ones_like(inputs)
        )
    first = {name: timed(call)[0] for name, call in calls.items()}
    return interleaved(calls, first, budget=10.0, most=times)


def _there_and_back(layer: torch.nn.Module, given: Tensor, back: Tensor) -> Callable[[], Any]:
    wanted = [*layer.parameters(), *([given] if given.requires_grad else [])]
    return lambda: torch.autograd.grad(layer(given), wanted, back)
