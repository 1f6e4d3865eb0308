"""All workers stacked, worker by worker, and by hand: the same updates."""

import copy
import math

import pytest
import torch
from torch import nn

from tests.models.factories import Wrapped, normalised_convnet, tiny_convnet
from wola.models import FlatModel, convnet_mnist, mlp, mlp_purchase100
from wola.training import Scenario
from wola.training.batches import Batch
from wola.training.dense import DenseGradients
from wola.training.gradients import StackedUpdates, WorkerUpdates, make_gradients, regularise

SHAPE, CLASSES, WORKERS, SIZE = (1, 6, 5), 4, 3, 9


def seeded(factory, seed=1):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return factory(SHAPE, CLASSES)


#: Class 3 is never drawn: a worker may take it out of its softmax.
SHIFTS = torch.tensor([[0.5, -1.0, 2.0, 0.0], [0.0, 0.0, 0.0, -math.inf], [1.0, 0.0, -2.0, 3.0]])


MARGINS = torch.tensor([[1.0, 0.5, -0.5, 9.0], [0.0, 2.0, 0.3, 1.0], [0.2, 0.1, 3.0, 0.0]])
FACTORS = torch.tensor([[1.0, 1.0, 1.0, 0.5], [2.0, 0.3, 1.0, 0.0], [1.0, 0.0, 0.7, 1.5]])
MOVED = {
    "plain": (None, None, None),
    "shifts": (SHIFTS, None, None),
    "margins": (None, MARGINS, None),
    "factors": (None, None, FACTORS),
    "all": (SHIFTS, MARGINS, FACTORS),
}


def batches(count=1, shifts=None, margins=None, factors=None):
    generator = torch.Generator().manual_seed(2)
    return [
        Batch(
            torch.randn(WORKERS, SIZE, *SHAPE, generator=generator),
            torch.randint(CLASSES - 1, (WORKERS, SIZE), generator=generator),
            3 * torch.rand(WORKERS, CLASSES, generator=generator),
            shifts,
            margins,
            factors,
        )
        for _ in range(count)
    ]


def updates(kind, module, given, **fields):
    scenario = Scenario(**{"l2": 0.0, "clip": 0.0, **fields})
    model = FlatModel(copy.deepcopy(module))
    rows = torch.full((WORKERS, model.size), float("nan"))
    workers = list(range(WORKERS))
    statistics = kind(model, scenario).updates(given, workers, 1, 0.5, rows)
    return rows, statistics, model


def by_hand(module, given, *, l2=0.0, clip=math.inf, lr=0.5):
    """Plain local SGD in float64 with autograd, worker by worker."""
    rows = []
    for i in range(WORKERS):
        model = copy.deepcopy(module).double()
        start = nn.utils.parameters_to_vector(model.parameters()).detach()
        theta = start.clone()
        for batch in given:
            nn.utils.vector_to_parameters(theta, model.parameters())
            logits = model(batch.inputs[i].double())
            if batch.factors is not None:
                logits = logits * batch.factors[i].double()
            if batch.shifts is not None:
                logits = logits + batch.shifts[i].double()
            if batch.margins is not None:
                own = batch.margins[i].double()[batch.labels[i]]
                logits = logits - own[:, None] * nn.functional.one_hot(batch.labels[i], CLASSES)
            terms = nn.functional.cross_entropy(logits, batch.labels[i], reduction="none")
            loss = (terms * batch.weights[i].double()[batch.labels[i]]).mean()
            parts = torch.autograd.grad(loss, list(model.parameters()))
            g = torch.cat([part.flatten() for part in parts]) + l2 * theta
            g = g * min(1.0, clip / float(g.norm()))
            theta = theta - lr * g
        rows.append((start - theta) / lr)
    return torch.stack(rows).float()


def three_layers(shape, classes):
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(30, 8),
        nn.Linear(8, 7, bias=False),
        nn.Tanh(),
        nn.Linear(7, 6),
        nn.ReLU(),
        nn.Linear(6, classes),
    )


DENSE = [mlp, mlp_purchase100, three_layers]


@pytest.mark.parametrize("factory", DENSE)
@pytest.mark.parametrize(
    ("count", "fields"),
    [(1, {}), (1, {"l2": 0.1, "clip": 0.3}), (3, {"l2": 0.1, "clip": 0.7})],
)
@pytest.mark.parametrize("kind", [StackedUpdates, WorkerUpdates])
@pytest.mark.parametrize("moved", MOVED.values(), ids=MOVED)
def test_updates_are_those_by_hand(factory, count, fields, kind, moved):
    module, given = seeded(factory), batches(count, *moved)
    rows, _, model = updates(kind, module, given, **fields)
    torch.testing.assert_close(rows, by_hand(module, given, **fields), rtol=1e-4, atol=2e-6)
    torch.testing.assert_close(
        model.parameters, nn.utils.parameters_to_vector(module.parameters()).detach()
    )


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("moved", MOVED.values(), ids=MOVED)
def test_a_convolution_is_trained_as_by_hand(count, moved):
    module, given = seeded(tiny_convnet), batches(count, *moved)
    rows, _, model = updates(WorkerUpdates, module, given, l2=0.1, clip=0.5)
    expected = by_hand(module, given, l2=0.1, clip=0.5)
    for ours, plain in zip(rows, expected, strict=True):
        # Compared through the model, since the flat order of a convolution is channels-last.
        model.load(ours)
        made = nn.utils.parameters_to_vector(model.module.parameters()).detach()
        torch.testing.assert_close(made, plain, rtol=1e-4, atol=2e-6)


def test_only_plain_dense_networks_are_stacked():
    scenario = Scenario()
    assert isinstance(make_gradients(FlatModel(mlp()), scenario), StackedUpdates)
    assert isinstance(make_gradients(FlatModel(convnet_mnist()), scenario), WorkerUpdates)
    assert isinstance(make_gradients(FlatModel(Wrapped((4,), 2)), scenario), WorkerUpdates)


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(),
        nn.Sequential(nn.Flatten(2), nn.Linear(3, 2)),
        nn.Sequential(nn.Linear(3, 2), nn.ReLU()),
        nn.Sequential(nn.Linear(3, 3), nn.Sigmoid(), nn.Linear(3, 2)),
        nn.Sequential(nn.Linear(3, 2).requires_grad_(False)),
        nn.Sequential(*[nn.Linear(3, 3)] * 2),
    ],
)
def test_a_network_with_anything_else_is_not_stacked(module):
    assert not DenseGradients.fits(module)


def test_clipping_keeps_short_rows_and_shortens_long_ones():
    rows = torch.tensor([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    regularise(rows, torch.zeros(2), l2=0.0, clip=1.0)
    torch.testing.assert_close(rows, torch.tensor([[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]]))


def test_a_row_that_is_not_finite_stays_so_and_touches_no_other():
    rows = torch.tensor([[float("inf"), 1.0], [float("nan"), 1.0], [0.3, 0.4]])
    regularise(rows, torch.ones(2), l2=0.5, clip=5.0)
    assert rows.isfinite().all(1).tolist() == [False, False, True]
    assert rows[2].tolist() == pytest.approx([0.8, 0.9])


def test_dropout_draws_from_the_workers_stream_and_leaves_the_global_state():
    before = torch.random.get_rng_state()
    module, given = seeded(normalised_convnet), batches()
    first = updates(WorkerUpdates, module, given)[0]
    assert torch.equal(torch.random.get_rng_state(), before)
    with torch.random.fork_rng():
        torch.rand(5)
        assert torch.equal(updates(WorkerUpdates, module, given)[0], first)
    assert not torch.equal(updates(WorkerUpdates, module, given, seed=2)[0], first)


def test_every_worker_starts_from_the_servers_statistics():
    module, given = seeded(normalised_convnet), batches()
    statistics, model = updates(WorkerUpdates, module, given)[1:]
    assert statistics.shape == (WORKERS, 6)
    for i in range(WORKERS):
        made = module[0](given[0].inputs[i]).transpose(0, 1).flatten(1)
        torch.testing.assert_close(statistics[i, :3], 0.1 * made.mean(1))
        torch.testing.assert_close(statistics[i, 3:], 0.9 + 0.1 * made.var(1))
    assert model.statistics.tolist() == [0.0] * 3 + [1.0] * 3
