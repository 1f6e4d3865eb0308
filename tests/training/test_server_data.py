"""The server's data in a loop of one's own, against autograd on the module itself in float64."""

import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F  # noqa: N812
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from tests.models.factories import normalised_convnet, tiny_convnet
from wola.aggregation import BOBA, FLTrust, View, Zeno
from wola.labels import WoLALoss
from wola.models import FlatModel, mlp
from wola.training import ServerData

SHAPE, CLASSES = (2, 6, 5), 4
FACTORIES = [mlp, tiny_convnet, normalised_convnet]


def module_of(factory):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return factory(SHAPE, CLASSES).double().eval()


def data_of(count=23):
    generator = torch.Generator().manual_seed(5)
    labels = torch.randint(CLASSES, (count,), generator=generator)
    labels[:CLASSES] = torch.arange(CLASSES)
    inputs = torch.randn(count, *SHAPE, generator=generator, dtype=torch.float64)
    return ServerData(inputs, labels, CLASSES)


def by_backward(module, inputs, labels, weights=None):
    """The gradient that `backward` leaves, flattened parameter by parameter."""
    module = copy.deepcopy(module)
    with torch.random.fork_rng():
        logits = module(inputs)
    terms = F.cross_entropy(logits, labels, reduction="none")
    (terms if weights is None else weights[labels] * terms).mean().backward()
    return torch.cat([p.grad.flatten() for p in module.parameters()])


def moved(module, step, lr):
    """The module after theta <- theta - lr step."""
    module = copy.deepcopy(module)
    start = parameters_to_vector(module.parameters()).detach()
    vector_to_parameters(start - lr * step, module.parameters())
    return module


def steps_of(module, count=3):
    size = sum(p.numel() for p in module.parameters())
    generator = torch.Generator().manual_seed(8)
    return list(torch.randn(count, size, generator=generator, dtype=torch.float64))


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("training", [False, True])
def test_the_rows_are_gradients_in_the_mode_that_the_module_is_in(factory, training):
    data, module = data_of(), module_of(factory).train(training)
    reference = data.at(module, lr=0.1)
    mean = by_backward(module, data.inputs, data.labels)
    torch.testing.assert_close(reference.mean(), mean[None], rtol=1e-12, atol=1e-14)
    for c, row in enumerate(reference.classes()):
        chosen = data.labels == c
        expected = by_backward(module, data.inputs[chosen], data.labels[chosen])
        torch.testing.assert_close(row, expected, rtol=1e-12, atol=1e-14)


def test_the_gradient_of_all_is_the_mix_of_those_of_the_classes():
    data, module = data_of(), module_of(tiny_convnet)
    reference = data.at(module, lr=0.1)
    shares = data.counts.double() / len(data.labels)
    torch.testing.assert_close(reference.mean()[0], shares @ reference.classes())


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(23)), st.sampled_from([1, 2]))
def test_neither_the_order_of_the_samples_nor_how_often_all_of_them_are_there_matters(order, times):
    data, module = data_of(), module_of(mlp)
    again = torch.tensor(list(order) * times)
    other = ServerData(data.inputs[again], data.labels[again], CLASSES).at(module, 0.1)
    reference, steps = data.at(module, 0.1), steps_of(module, 1)
    torch.testing.assert_close(other.mean(), reference.mean())
    torch.testing.assert_close(other.classes(), reference.classes())
    np.testing.assert_allclose(other.measure(steps), reference.measure(steps), rtol=1e-12)


def test_a_loss_of_the_library_weighs_the_samples_in_the_mean_and_not_in_the_classes():
    data, module = data_of(), module_of(mlp)
    q = torch.tensor([0.7, 0.1, 0.1, 0.1], dtype=torch.float64)
    weights = q / (data.counts / len(data.labels))
    reference = data.at(module, 0.1, WoLALoss(data.counts, q).double())
    expected = by_backward(module, data.inputs, data.labels, weights)
    torch.testing.assert_close(reference.mean()[0], expected)
    step = steps_of(module, 1)[0]
    there = by_backward(moved(module, step, 0.1), data.inputs, data.labels, weights)
    torch.testing.assert_close(reference.gradient(step), there)
    assert torch.equal(reference.classes(), data.at(module, 0.1).classes())


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("training", [False, True])
def test_losses_errors_and_gradients_elsewhere_are_those_of_a_module_that_is_there(
    factory, training
):
    data, module = data_of(), module_of(factory)
    steps, lr = steps_of(module), 0.01
    reference = data.at(module.train(training), lr)
    found = reference.measure(iter(steps))
    assert found.shape == (3, 2)
    for (loss, error), step in zip(found, steps, strict=True):
        there = moved(module, step, lr).eval()
        logits = there(data.inputs).detach()
        assert loss == pytest.approx(float(F.cross_entropy(logits, data.labels)), rel=1e-12)
        assert error == float((logits.argmax(1) != data.labels).double().mean())
        expected = by_backward(there, data.inputs, data.labels)
        torch.testing.assert_close(reference.gradient(step), expected, rtol=1e-10, atol=1e-12)


def test_some_samples_are_drawn_from_the_generator_and_are_the_same_for_all_steps():
    data, module = data_of(), module_of(mlp)
    reference, still = data.at(module, 0.1), torch.zeros(1, dtype=torch.float64)
    found = reference.measure([still, still], samples=5, generator=torch.Generator().manual_seed(2))
    chosen = torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(2))[:5]
    expected = F.cross_entropy(module(data.inputs[chosen]).detach(), data.labels[chosen])
    assert found[0, 0] == pytest.approx(float(expected), rel=1e-12)
    assert np.array_equal(found[0], found[1])
    everything = reference.measure([still], samples=1000)
    assert np.array_equal(everything, reference.measure([still]))


@pytest.mark.parametrize("factory", FACTORIES)
def test_the_module_is_left_as_it_is(factory):
    data, module = data_of(), module_of(factory).train()
    first = next(module.children())
    first.eval()
    before, drawn = copy.deepcopy(module.state_dict()), torch.get_rng_state()
    reference = data.at(module, 0.1)
    reference.mean(), reference.classes(), reference.measure(steps_of(module))
    reference.gradient(steps_of(module)[0])
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert all(p.grad is None for p in module.parameters())
    assert torch.equal(torch.get_rng_state(), drawn)
    assert module.training
    assert not first.training


def test_a_reference_stays_where_the_model_was():
    data, module = data_of(), module_of(mlp)
    expected, reference = data.at(module, 0.1).mean(), data.at(module, 0.1)
    with torch.no_grad():
        for p in module.parameters():
            p.zero_()
    assert torch.equal(reference.mean(), expected)


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_flat_model_has_the_same_rows_in_its_own_order(factory):
    data, module = data_of(), module_of(factory)
    plain = data.at(module, 0.1)
    flat = FlatModel(copy.deepcopy(module))
    reference = data.at(flat, 0.1)
    for row, expected in [
        (reference.mean()[0], plain.mean()[0]),
        *zip(reference.classes(), plain.classes(), strict=True),
    ]:
        ordered = torch.cat([part.flatten() for part in flat.views(row).values()])
        torch.testing.assert_close(ordered, expected)


def test_inputs_follow_the_parameters_in_their_dtype():
    data, module = data_of(), module_of(mlp).float()
    row = data.at(module, 0.1).mean()
    assert row.dtype == torch.float32
    expected = by_backward(module, data.inputs.float(), data.labels)
    torch.testing.assert_close(row[0], expected)


def test_rules_of_every_kind_work_in_a_loop_of_ones_own():
    data, module = data_of(), module_of(mlp)
    reference = data.at(module, lr=0.05)
    generator = torch.Generator().manual_seed(0)
    mixes = torch.distributions.Dirichlet(torch.ones(CLASSES).double())
    with torch.random.fork_rng():
        torch.manual_seed(1)
        honest = mixes.sample((8,)) @ reference.classes()
    liars = -10 * honest[:3].mean(0).expand(3, -1)
    updates, server = torch.cat([honest, liars]), reference.mean()[0]
    for rule in (FLTrust(), BOBA(), Zeno(samples=20)):
        made = rule.at(View(reference))(updates, f=3, generator=generator)
        assert float(F.cosine_similarity(made, server, 0)) > 0.5


@pytest.mark.parametrize(
    ("inputs", "labels", "classes", "message"),
    [
        (torch.zeros(2, 3), torch.tensor([0]), 2, "2 inputs and 1 labels; allowed: as many"),
        (torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64), 2, "at least one sample"),
        (torch.zeros(1, 3), torch.tensor([0.0]), 2, "dtype torch.float32; allowed: one whole"),
        (torch.zeros(1, 3), torch.tensor([[0]]), 2, r"shape \(1, 1\)"),
        (torch.zeros(1, 3), torch.tensor([2]), 2, "between 0 and 1, got 2"),
        (torch.zeros(1, 3), torch.tensor([0]), 0, "classes = 0"),
    ],
)
def test_data_that_cannot_be_are_named(inputs, labels, classes, message):
    with pytest.raises(ValueError, match=message):
        ServerData(inputs, labels, classes)


def test_what_is_no_tensor_is_named():
    with pytest.raises(TypeError, match=r"inputs is a list; allowed: a torch\.Tensor"):
        ServerData([[0.0]], torch.tensor([0]), 1)


def test_classes_without_a_sample_and_models_that_cannot_learn_are_refused():
    data = ServerData(torch.zeros(2, 3), torch.tensor([1, 3]), 4)
    with pytest.raises(ValueError, match="no sample of class 0, 2; allowed: samples of all 4"):
        data.at(nn.Linear(3, 4), 0.1).classes()
    with pytest.raises(ValueError, match="model has no parameters"):
        data.at(nn.Flatten(), 0.1)
    with pytest.raises(ValueError, match="lr = 0"):
        data.at(nn.Linear(3, 4), 0)
